"""The context block: what an agent is told of a person before it answers, as XML within a budget of tokens.

Nothing is written to memory and no model is asked. What was retracted, or is about to be erased, is not in it.
"""

from dataclasses import dataclass, replace
from datetime import date

from em_pipelines.context.markup import opening, plain
from em_pipelines.context.quotes import quotes
from em_pipelines.context.reading import is_id, known
from em_pipelines.context.relevance import relevance, topics
from em_pipelines.context.scope import MENTIONED, ONE_HOP, TWO_HOPS, mentioned, nearness
from em_pipelines.context.sections import Filling, Section
from em_pipelines.context.telling import Scene, ids, lines, reminders
from em_pipelines.context.tokens import count_tokens
from em_pipelines.home import Home
from em_pipelines.retrieval.asking import ask
from em_pipelines.retrieval.documents import MESSAGE
from em_pipelines.retrieval.hits import Hit
from em_pipelines.retrieval.search import Search

ROOT = "experience_context"
LONGEST_TEXT = 4_000
LONGEST_THREAD = 20
"""Turns of a thread that count: the last ones."""


@dataclass(frozen=True)
class ContextQuery:
    """What an agent is about to answer, and to whom.

    `thread` are the turns before it, oldest first; `as_of` asks for what was known at the end of that day; a budget
    above that of the settings is cut to it.
    """

    user_id: str
    text: str
    today: date
    is_group: bool = False
    thread: tuple[str, ...] = ()
    as_of: date | None = None
    budget_tokens: int | None = None


@dataclass(frozen=True)
class Block:
    """The block as XML, what it costs by `count_tokens`, and the facts and messages that are in it, in its order."""

    text: str
    n_tokens: int
    edge_ids: tuple[str, ...]
    turns: tuple[tuple[str, int], ...]


def context_block(home: Home, query: ContextQuery) -> Block:
    """What is known and was said that bears on a question; of a person who is not known an empty block."""
    chosen = home.settings.context
    query = _readable(query)
    attributes = {"as_of": (query.as_of or query.today).isoformat(), "audience": "group" if query.is_group else None}
    begin, end = f"{opening(ROOT, attributes)}\n", f"</{ROOT}>\n"
    budget = min(chosen.budget_tokens, query.budget_tokens or chosen.budget_tokens)
    filling = Filling(budget - count_tokens(begin) - count_tokens(end))
    if is_id(query.user_id):
        _fill(filling, home, query, budget)
    text = f"{begin}{filling.render()}{end}"
    told = list(filling.chosen())
    return Block(text, count_tokens(text), ids(told), tuple(turn for line in told for turn in line.turns))


def _readable(query: ContextQuery) -> ContextQuery:
    """The query in characters that anything can be done with, and of a length that anybody reads."""
    thread = tuple(plain(turn[-LONGEST_TEXT:]) for turn in query.thread[-LONGEST_THREAD:])
    return replace(query, text=plain(query.text[:LONGEST_TEXT]), thread=thread)


def _fill(filling: Filling, home: Home, query: ContextQuery, budget: int) -> None:
    chosen = home.settings.context
    today = query.as_of or query.today
    facts = known(home, query.user_id, today)
    named = mentioned(facts, query.text, query.thread)
    hits = _found(home, query, today)
    best = max((hit.score for hit in hits), default=0.0)
    said = {(hit.session_id or "", hit.turn_number or 0): hit.score / best for hit in hits} if best > 0 else {}
    near = nearness(facts, named)
    scene = Scene(
        facts,
        near,
        relevance(facts, near, topics(facts, query.text, said), today, chosen.weights),
        today,
        query.is_group,
        chosen.min_confidence,
        chosen.n_facts_an_entity,
    )
    told: set[int] = set()
    due = Section("reminders", reminders(scene, chosen.reminder_days, told))
    direct = Section("facts", lines(scene, MENTIONED, told))
    related = Section("related", lines(scene, ONE_HOP, told))
    distant = Section("distant", lines(scene, TWO_HOPS, told))
    # Nobody has said who may hear a message, so it stays among the two whose memory this is.
    spoken = () if query.is_group else quotes(hits, query.text, query.thread, chosen.quote_tokens)
    room = int(budget * chosen.facts_share)
    for section in (direct, due, related, distant):
        room -= filling.add(section, room)
    filling.add(Section("said", spoken))
    for section in (direct, due, related, distant):
        filling.add(section)


def _found(home: Home, query: ContextQuery, today: date) -> list[Hit]:
    n_messages = home.settings.context.n_messages
    if not n_messages:
        return []
    wanted = Search(query.text, n_messages, today, frozenset({MESSAGE}), query.as_of, thread=query.thread)
    return ask(home, query.user_id, wanted)
