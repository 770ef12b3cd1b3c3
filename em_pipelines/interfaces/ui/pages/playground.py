"""A question, and all that memory makes of it: what is found, by which scores, and the block that an agent gets."""

from em_pipelines.interfaces.ui.asked import Asked, Page
from em_pipelines.interfaces.ui.pages.facts import check_known
from em_pipelines.retrieval.context.block import ContextQuery
from em_pipelines.retrieval.context.candidates import Candidate, candidates

MOST_HITS = 20


def show_playground(asked: Asked) -> Page:
    """What search finds, with the shares of the scores and what became of it, and the context block with its length."""
    check_known(asked)
    question = asked.text("q")
    found: list[Candidate] = []
    block = None
    is_group = asked.text("group") == "1"
    if question:
        query = ContextQuery(asked.user, question, asked.today, is_group=is_group, as_of=asked.day("as_of"))
        found, block = candidates(asked.home, query, MOST_HITS)
    budget = asked.home.settings.context.budget_tokens
    return Page(
        "playground.html",
        {
            "user": asked.user,
            "q": question,
            "as_of": asked.text("as_of"),
            "is_group": is_group,
            "found": found,
            "block": block,
            "budget": budget,
        },
    )
