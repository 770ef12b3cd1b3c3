"""A question, and all that memory makes of it: what is found, by which scores, and the block that an agent gets."""

from em_pipelines.interfaces.ui.asked import Asked, Page
from em_pipelines.interfaces.ui.pages.facts import check_known
from em_pipelines.retrieval.context.block import ContextQuery, context_block

MOST_HITS = 20


def show_playground(asked: Asked) -> Page:
    """Hits with the shares of their scores, and the context block with its length."""
    check_known(asked)
    question = asked.text("q")
    hits, block = [], None
    is_group = asked.text("group") == "1"
    if question:
        hits = asked.memory.retrieve_memories(question, k=MOST_HITS, as_of=asked.day("as_of"))
        query = ContextQuery(asked.user, question, asked.today, is_group=is_group, as_of=asked.day("as_of"))
        block = context_block(asked.home, query)
    budget = asked.home.settings.context.budget_tokens
    return Page(
        "playground.html",
        {
            "user": asked.user,
            "q": question,
            "as_of": asked.text("as_of"),
            "is_group": is_group,
            "hits": hits,
            "block": block,
            "budget": budget,
        },
    )
