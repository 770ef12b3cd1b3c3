"""Which known facts a retraction means that names no fact but a thing: `forget what I said about the oak stools`.

An extractor sees one conversation, the fold all of them: so a message's retraction holds the words of the thing alone,
and is decided here against the facts that are active. Whoever is the subject of a fact, it is about the thing where one
of its endpoints, its attribute or its relation goes by those words, and where all the words are in what the fact says.
The closest words go first, then what was said in the same conversation, the latest statement of it. Facts that several
conversations gave, and of which one alone may be meant, are not retracted: they are in doubt until somebody decides. So
are those of the last message, where a conversation begins with `forget that` and the message gave several.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import reduce
from typing import Any, NamedTuple

from em_pipelines.extraction.feedback_statements import Targeted
from em_pipelines.extraction.support import content_stems
from em_pipelines.graph.relations import taken_back_with
from em_pipelines.language.values import attribute_key
from em_pipelines.schema.vocabulary import LAST_TOLD, RELATIONS_BY_GROUP, USER, Act, Mechanism

ACTIVE = ("active", "contradicted")
_TOLD = frozenset({Mechanism.EXPLICIT, Mechanism.OBSERVATIONAL, Mechanism.USER_CORRECTION})
_PEOPLE = frozenset(RELATIONS_BY_GROUP["people"])
NameKey = Callable[[str], str]
Fact = Mapping[str, Any]
"""A row of `known.sql`."""
Words = frozenset[str]
_EXACT, _WITHIN, _PART, _OF_SUBJECT, _FAR = range(5)
"""How close a topic is to a fact, the closest first: it is what the endpoint is called, it says more, it says less, it
names the subject alone, or it is another."""


class Meant(NamedTuple):
    """The facts that a retraction means: those to retract, or those of which one may be meant, the newest first."""

    facts: list[Fact]
    is_doubtful: bool = False


def facts_about(act: Targeted, facts: Iterable[Fact]) -> Meant:
    """The active facts of a user that an act means whose `object` is the words of a topic.

    Its subject is the remembered person where the message names none: then it is any.
    """
    if act.object == LAST_TOLD:
        return _told_last(act, facts)
    near = list(_near(act, facts))
    if act.act is Act.RETRACT_ALL:
        return Meant([fact for closeness, fact in near if closeness != _PART])
    wanted = [(closeness, fact) for closeness, fact in near if fact["relation"] not in _PEOPLE]
    closest = min((closeness for closeness, _ in wanted), default=None)
    return _latest(act, [fact for closeness, fact in wanted if closeness == closest])


def _told_last(act: Targeted, facts: Iterable[Fact]) -> Meant:
    """The fact that was told last before the act; several where a message gave them, or where another one was surfaced
    since, which counts as mentioned."""
    told = [
        fact for fact in facts
        if fact["status"] in ACTIVE and fact["source_mechanism"] in _TOLD and fact["relation"] not in _PEOPLE
        and _is_before(fact, act)
    ]  # fmt: skip
    times = [max((fact[at] for fact in told), default=None) for at in ("learned_at", "last_reinforced")]
    last = [fact for fact in told if fact["learned_at"] == times[0] or fact["last_reinforced"] == times[1]]
    ranked = sorted(last, key=lambda fact: (fact["last_reinforced"], fact["edge_id"]), reverse=True)
    return Meant(ranked, is_doubtful=len({_said(fact) for fact in last}) > 1)


def _near(act: Targeted, facts: Iterable[Fact]) -> Iterator[tuple[int, Fact]]:
    """The active facts about a topic that were known before the act, with how close they are."""
    topic = content_stems(act.object or "")
    for fact in facts:
        if topic and fact["status"] in ACTIVE and _is_before(fact, act):
            closeness = _closeness(act, topic, fact)
            if closeness is not None:
                yield closeness, fact


def _is_before(fact: Fact, act: Targeted) -> bool:
    return min(_order(fact["learned_at"], place) for place in fact["provenance"]) < _order(
        act.origin["timestamp"], act.origin
    )


def _order(at: datetime, place: Mapping[str, Any]) -> tuple[Any, ...]:
    return at, place["session_id"], place["turn_number"], place.get("span_start", 0)


def _closeness(act: Targeted, topic: Words, fact: Fact) -> int | None:
    """How close the words of a topic are to a fact; None where it is about something else."""
    subjects, objects = _called(fact["subject_names"]), _called(_object_names(fact))
    if act.subject != USER and content_stems(act.subject) not in (*subjects, *objects):
        return None
    called = (*objects, *_kinds(fact))
    closest = min((_named(topic, one, subjects) for one in called), default=_FAR)
    if closest == _FAR:
        return _OF_SUBJECT if topic in subjects else None
    said = reduce(frozenset.union, (*subjects, *called), content_stems(fact["statement"] or ""))
    return closest if topic <= said else None


def _named(topic: Words, called: Words, subjects: Sequence[Words]) -> int:
    """How close a topic is to what something of a fact is called, alone or beside the name of the subject."""
    if topic == called or any(topic == called | subject for subject in subjects):
        return _EXACT
    return _WITHIN if called < topic else _PART if topic < called else _FAR


def _called(names: Iterable[str]) -> list[Words]:
    """The words of every name of an endpoint; of the remembered person there are none."""
    return [stems for name in names if name != USER and (stems := content_stems(name))]


def _object_names(fact: Fact) -> list[str]:
    return [fact["value"]] if fact["value"] is not None else fact["object_names"]


def _kinds(fact: Fact) -> list[Words]:
    """What a fact is called by its kind: a birthday, a badge number."""
    return [
        stems
        for text in (fact["attribute"], fact["relation"].replace("_", " "))
        if (stems := content_stems(text or ""))
    ]


def _latest(act: Targeted, facts: list[Fact]) -> Meant:
    """Of facts that are equally close those of one statement: the latest of the conversation, else the only one."""
    here = [place for fact in facts for place in _places(fact) if place[0] == act.origin["session_id"]]
    if here:
        return Meant([fact for fact in facts if max(here) in _places(fact)])
    is_one = len({_said(fact) for fact in facts}) < 2 or bool(frozenset.intersection(*map(_places, facts)))
    ranked = sorted(facts, key=lambda fact: (fact["last_reinforced"], fact["edge_id"]), reverse=True)
    return Meant(ranked, is_doubtful=not is_one)


def _places(fact: Fact) -> frozenset[tuple[str, int]]:
    """The messages that say a fact: conversation and turn."""
    return frozenset((place["session_id"], place["turn_number"]) for place in fact["provenance"])


def _said(fact: Fact) -> tuple[Any, ...]:
    """What tells facts apart; those that one sentence may give are one."""
    return fact["subject_id"], fact["object_key"], fact["polarity"], taken_back_with(fact["relation"])


def is_of_favourite(act: Targeted) -> bool:
    """Whether an act ends the likings that a new favourite ends (`graph.endings`)."""
    return act.act is Act.END and act.relation == "likes" and act.attribute is not None


def former_favourites(act: Targeted, facts: Sequence[Fact], name_key: NameKey) -> list[Fact]:
    """The active likings that a favourite ends: of what was the favourite of its kind before, where nothing else said
    that it is liked. `act` has the kind as attribute and the new favourite as object."""
    own = [fact for fact in facts if _is_own_before(fact, act, name_key)]
    old = {name_key(fact["value"]): _places(fact) for fact in own if _is_of_kind(fact, act)}
    old.pop(name_key(act.object or ""), None)
    return [liking for liking in own if liking["relation"] == act.relation and _is_known_by(liking, old)]


def _is_own_before(fact: Fact, act: Targeted, name_key: NameKey) -> bool:
    """Whether a fact is active, of the subject of an act, and was known before it."""
    subject = USER if act.subject == USER else name_key(act.subject)
    is_active = fact["status"] in ACTIVE and fact["polarity"] == 1
    return is_active and subject in fact["subject_names"] and _is_before(fact, act)


def _is_of_kind(fact: Fact, act: Targeted) -> bool:
    return attribute_key(fact["attribute"]) == attribute_key(act.attribute)


def _is_known_by(liking: Fact, old: Mapping[str, frozenset[tuple[str, int]]]) -> bool:
    """Whether a liking is of one of these, by name, and only the messages of that one say it."""
    return any(name in liking["object_names"] and _places(liking) <= places for name, places in old.items())
