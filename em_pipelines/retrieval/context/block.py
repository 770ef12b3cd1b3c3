"""The context block: what an agent is told of a person before it answers, as XML within a budget of tokens.

Which entities a question is about, and how much each fact matters to it, is weighed by nearness, topic, confidence and
recency. Beside the facts stands what recurs. Nothing is written to memory and no model is asked. What was retracted, or
is about to be erased, is not in it.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from itertools import islice

import numpy as np

from em_pipelines.errors import NotMadeError
from em_pipelines.retrieval.context.asked import question
from em_pipelines.retrieval.context.known_facts import Flags, Floats, Integers, Known, Turn, folded_words, is_id, known
from em_pipelines.retrieval.context.lessons import lessons
from em_pipelines.retrieval.context.passages import Asked, quotes
from em_pipelines.retrieval.context.sections import Filling, Line, Section, count_tokens, opening, plain
from em_pipelines.retrieval.context.settings import RelevanceWeights
from em_pipelines.retrieval.context.telling import Scene, ids, lines, reminders, wishes
from em_pipelines.retrieval.documents import MESSAGE, Hit
from em_pipelines.retrieval.search import Search
from em_pipelines.retrieval.searchable_home import SearchableHome
from em_pipelines.retrieval.terms import (
    answering_relations,
    asks_for_several,
    asks_over_time,
    parts_of,
    question_stems,
    stems,
)
from em_pipelines.retrieval.user_search import ask, tellable_in
from em_pipelines.schema.tables.derived import EXPERIENCES
from em_pipelines.schema.tables.outgoing import PROBES
from em_pipelines.schema.vocabulary import RELATIONS

_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours|user)\b", re.IGNORECASE)
MENTIONED, ONE_HOP, TWO_HOPS = 1.0, 0.5, 0.2
ANSWER_TOPIC = 0.5
"""Of a fact of a relation that answers the question: at least so much is it about it, and any other so much less."""
LISTED = 3
"""So many times as many facts of an entity are told where several answer; they may take half of the budget."""
OVER_TIME = 5
"""So many times as many messages are looked at for a question about a stretch of time."""
TOKENS_A_FACT = 40
"""About what one costs, with its attributes."""


def mentioned(known: Known, text: str, thread: tuple[str, ...] = ()) -> frozenset[int]:
    """The numbers of the entities that a question or the turns before it name, by any of their names, longest first.

    The person themselves are meant where they speak of themselves, and where nothing else is named.
    """
    found = set().union(*(_named(known, part) for part in (text, *thread)))
    if known.person is not None and (not found or _FIRST_PERSON.search(text)):
        found.add(known.person)
    return frozenset(found)


def nearness(known: Known, named: frozenset[int]) -> Floats:
    """Of each entity by number: 1.0 mentioned, 0.5 one fact away from those, 0.2 two, else 0."""
    near = np.zeros(len(known.entities))
    near[list(named)] = MENTIONED
    for hop in (ONE_HOP, TWO_HOPS):
        reached = known.ends[(near[known.ends] > 0).any(axis=1)].ravel()
        near[reached] = np.maximum(near[reached], hop)
    return near


def _named(known: Known, text: str) -> set[int]:
    words = folded_words(text)
    longest = max(map(len, known.by_name), default=0)
    found: set[int] = set()
    at = 0
    while at < len(words):
        for length in range(min(longest, len(words) - at), 0, -1):
            entities = known.by_name.get(words[at : at + length])
            if entities:
                found |= entities
                at += length
                break
        else:
            at += 1
    return found


FRESH_DAYS, OLD_DAYS, OLD = 7, 90, 0.3


def relevance(known: Known, near: Floats, topic: Floats, today: date, weights: RelevanceWeights) -> Floats:
    """Of each fact, 0 to 1 with the default weights; `near` is of entities, `topic` of facts."""
    found: Floats = (
        weights.entity * near[known.ends].max(axis=1)
        + weights.topic * topic
        + weights.confidence * known.confidence
        + weights.recency * recency(known.last_said, today)
    )
    return found


def recency(last_said: Integers, today: date) -> Floats:
    """By the ordinal of the day: 1.0 for what was said within 7 days, falling evenly to 0.3 at 90, and no further."""
    days = today.toordinal() - last_said
    return np.interp(days, [FRESH_DAYS, OLD_DAYS], [1.0, OLD])


BEARS = 1 / 3
"""Share of what the words of a question are worth that a fact has to have, if its relation answers no such question."""


def topics(known: Known, text: str, said: Mapping[Turn, float]) -> Floats:
    """Of each fact, 0 to 1: the share of the question's words that it holds, rare ones counting more; or, where that is
    greater, how well search found a turn in which it was said (`said`, 0 to 1). Facts of a relation that answers such a
    question come before what else was said in the same breath."""
    found = _worded(known, question_stems(text, frozenset()))
    for turn, score in said.items():
        for n in known.said_in.get(turn, ()):
            found[n] = max(found[n], score)
    relations = answering_relations(text)
    if relations:
        is_answer = known.holds("relation", relations)
        found = np.where(is_answer, np.maximum(found, ANSWER_TOPIC), found * ANSWER_TOPIC)
    return found


def bearing(known: Known, text: str, named: Collection[int]) -> Flags:
    """Of each fact, whether it bears on a question: it is about somebody else whom the question names, its relation
    answers such a question, or it has a third of what the question's words are worth. Names that are meant and the
    words of relations (uses, works) are none of these; where there are no others all facts of what is named do."""
    names = {one for entity in named for name in known.names.get(entity, ()) for one in stems(name)}
    words = [one for one in question_stems(text, frozenset()) if one not in names | _relation_words()]
    others = [entity for entity in named if entity in known.others or (not words and entity != known.person)]
    bears = known.holds("relation", answering_relations(text)) | np.isin(known.ends, others).any(axis=1)
    found: Flags = bears | (_worded(known, words) >= BEARS)
    return found


@cache
def _relation_words() -> frozenset[str]:
    return frozenset(one for relation in RELATIONS for one in stems(relation.replace("_", " ")))


def _worded(known: Known, words: Sequence[str]) -> Floats:
    """Of each fact, 0 to 1: the share of these stems that it holds, rare ones counting more."""
    found = np.zeros(len(known))
    rarity = {stem: float(np.log1p(len(known) / (1 + len(known.words.get(stem, ()))))) for stem in words}
    for stem in words:
        if stem in known.words:
            found[known.words[stem]] += rarity[stem]
    return found / (sum(rarity.values()) or 1.0)


ROOT = "experience_context"
LONGEST_TEXT = 4_000
LONGEST_THREAD = 20
"""Turns of a thread that count: the last ones."""


@dataclass(frozen=True)
class ContextQuery:
    """What an agent is about to answer, and to whom.

    `thread` are the turns before it, oldest first; `as_of` asks for what was known at the end of that day; a budget
    above that of the settings is cut to it; of another `domain` nothing is told. With a `session_id` a question that is
    in the block counts as asked; `turn_number` is that of `text`, the length of the `thread` where nobody says.
    """

    user_id: str
    text: str
    today: date
    is_group: bool = False
    thread: tuple[str, ...] = ()
    as_of: date | None = None
    budget_tokens: int | None = None
    domain: str | None = None
    session_id: str | None = None
    turn_number: int | None = None


@dataclass(frozen=True)
class Block:
    """The block as XML, what it costs by `count_tokens`, and the facts, messages, experiences and probes that are in
    it, in its order."""

    text: str
    n_tokens: int
    edge_ids: tuple[str, ...]
    turns: tuple[tuple[str, int], ...]
    experience_ids: tuple[str, ...] = ()
    probe_ids: tuple[str, ...] = ()


def context_block(home: SearchableHome, query: ContextQuery) -> Block:
    """What is known and was said that bears on a question; of a person who is not known an empty block. Raises
    NotMadeError of one who has said something that no run has read yet."""
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
    turns = tuple(turn for line in told for turn in line.turns)
    recurring = tuple(experience for line in told for experience in line.experience_ids)
    asked = tuple(probe for line in told for probe in line.probe_ids)
    return Block(text, count_tokens(text), ids(told), turns, recurring, asked)


def _readable(query: ContextQuery) -> ContextQuery:
    """The query in characters that anything can be done with, and of a length that anybody reads."""
    thread = tuple(plain(turn[-LONGEST_TEXT:]) for turn in query.thread[-LONGEST_THREAD:])
    return replace(query, text=plain(query.text[:LONGEST_TEXT]), thread=thread)


def _fill(filling: Filling, home: SearchableHome, query: ContextQuery, budget: int) -> None:
    chosen = home.settings.context
    today = query.as_of or query.today
    facts = known(home, query.user_id, today, query.domain)
    named = mentioned(facts, query.text, query.thread)
    found = _found(home, query, today, is_known=facts.rows.num_rows > 0)
    said = {(hit.session_id or "", hit.turn_number or 0): share for hit, share in found}
    near = nearness(facts, named)
    n_times = LISTED if asks_for_several(query.text) else 1
    scene = Scene(
        facts,
        near,
        relevance(facts, near, topics(facts, query.text, said), today, chosen.weights),
        bearing(facts, query.text, named),
        today,
        query.is_group,
        chosen.min_confidence,
        chosen.n_facts_an_entity * n_times,
    )
    told: set[int] = set()
    due = Section("reminders", reminders(scene, chosen.reminder_days, told))
    direct = Section("facts", lines(scene, MENTIONED, told))
    related = Section("related", lines(scene, ONE_HOP, told))
    distant = Section("distant", lines(scene, TWO_HOPS, told))
    recurring = Section("experiences", _recurring(home, query, {facts.fact(n).edge_id for n in told}))
    _ask(filling, home, query, int(budget * chosen.probes_share))
    filling.add(Section("instructions", wishes(scene, query.text)), int(budget * chosen.instructions_share))
    room = max(int(budget * chosen.facts_share), _room_of_answers(scene, query.text, budget))
    for section in (direct, due, related, distant):
        room -= filling.add(section, room)
    filling.add(recurring, int(budget * chosen.experiences_share))
    if not query.is_group:  # nobody has said who may hear a message: it stays among the two whose memory this is
        asked = Asked(query.text, query.thread, chosen.quote_tokens)
        filling.add(Section("said", quotes(found, asked, filling.room("said"))))
    for section in (direct, recurring, due, related, distant):
        filling.add(section)


def _ask(filling: Filling, home: SearchableHome, query: ContextQuery, n_tokens: int) -> None:
    """Adds the question that may be asked now, if there is one: never among others, and never about a day that is past.
    Its room is kept, so it comes in before anything else; what has no room is not noted as asked."""
    if query.is_group or query.as_of is not None or not home.store.lake.days(PROBES):
        return
    turn = query.turn_number if query.turn_number is not None else (len(query.thread) or None)
    context = "\n".join((*query.thread, query.text))
    of = (home, query.user_id, context, query.domain, query.session_id, turn)
    line = question(*of)
    if line is not None and filling.add(Section("probes", [line]), n_tokens) and query.session_id is not None:
        question(*of, is_noted=True)


def _recurring(home: SearchableHome, query: ContextQuery, told: Collection[str]) -> list[Line]:
    """What has recurred of what the question is about, without what is `told` as a fact."""
    if not home.store.lake.days(EXPERIENCES):
        return []
    known = tellable_in(home, query.user_id, query.as_of, query.domain)
    found = lessons(known, query.text, query.thread, told, is_group=query.is_group)
    return list(islice(found, home.settings.context.n_experiences))


def _room_of_answers(scene: Scene, text: str, budget: int) -> int:
    """Tokens for the facts that answer a question which several answer, half of the budget at most."""
    if not asks_for_several(text):
        return 0
    is_answer = scene.known.holds("relation", answering_relations(text)) & scene.may_tell
    n_answers = int(np.sum(scene.near[scene.known.ends[is_answer, 0]] == MENTIONED))
    return min(budget // 2, n_answers * TOKENS_A_FACT)


def _found(home: SearchableHome, query: ContextQuery, today: date, *, is_known: bool) -> list[tuple[Hit, float]]:
    """Messages that bear on the question, each with its share of the best score: in turns on each part of the question.
    Of somebody whose facts are known the block does without those that are not indexed yet; an empty one would say that
    nothing is known."""
    chosen = home.settings.context
    if not chosen.n_messages:
        return []
    n_messages = chosen.n_messages * (OVER_TIME if asks_over_time(query.text) else 1)
    wanted = Search(
        query.text, n_messages, today, frozenset({MESSAGE}), query.as_of, domain=query.domain, thread=query.thread
    )
    try:
        found = [ask(home, query.user_id, replace(wanted, text=part)) for part in parts_of(query.text)]
    except NotMadeError:
        if not is_known:
            raise
        return []
    shares: dict[Turn, tuple[Hit, float]] = {}
    for hits in found:
        for hit in hits:
            place, share = (hit.session_id or "", hit.turn_number or 0), hit.score / hits[0].score
            if place not in shares or share > shares[place][1]:
                shares[place] = hit, share
    return sorted(shares.values(), key=lambda one: -one[1])
