"""What a message retracts: `forget what I said about Lena liking eels`, `I said I work at X, that was wrong`.

The fact is restated from the retraction's own words where they hold it, and looked up in the speaker's turn before
where they only point at it (`scratch that`); where nothing was said before it in the conversation, the fold looks for
what was told last. Where they name a thing (`what I said about the eels`) the claim is
`relates_to` with those words as its value, and `em_pipelines.graph.topics` decides which known facts are meant. Each is
a claim whose act is retract, or retract_all for everything about the thing.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from em_pipelines.extraction.keeping import skip_reason
from em_pipelines.extraction.rules.kinship import PATTERN_ID as KIN_PHRASE
from em_pipelines.extraction.rules.retraction_wording import Means, Passage, affirmed, finite, in_present, without
from em_pipelines.language.sentences import sentences, sentences_around, sentences_of
from em_pipelines.schema.readings import Claim, Turn, retracted
from em_pipelines.schema.vocabulary import (
    LAST_TOLD,
    RELATIONS_BY_GROUP,
    TOPIC,
    USER,
    Act,
    EntityType,
    TemporalType,
)

PATTERN_ID = "retraction"
Said = Sequence[tuple[Turn, list[Claim]]]
"""The speaker's earlier turns, in order, with their claims."""

_WISHES = frozenset(RELATIONS_BY_GROUP["intent"])
_PEOPLE = frozenset(RELATIONS_BY_GROUP["people"])
_WORD = re.compile(r"[\w+#]+")
_IT = re.compile(r"(?i)\b(?:it|them)\b")
_DEFINITE = re.compile(r"(?i)^(?:the|that|this|those|these) ")
_TRAILING = " ,;:–—-"
_SHORT = 4
"""Words before `scratch that`, at most, that may hold nothing, so that it means the turn before: `Oops, wrong chat.`"""
_OF_A_STATEMENT = re.compile(
    r"(?i)\b(?:said|told|mentioned|take|lied|lying|lie|made|misspoke|wrong|joke|message|statement)\b"
)
"""After a question `scratch that` means what was asked; these words mean what was said."""

Read = Callable[[str], list[Claim]]
"""Gives the claims of words put into the speaker's mouth."""


class _Undone(NamedTuple):
    """The claims that one retraction means, and the passages whose words are not to be read."""

    claims: list[Claim]
    gone: list[Passage]


class TakenBack(NamedTuple):
    """The claims that a message retracts, what it says of their things by a pronoun, and its text without the words
    that retract, of the same length."""

    claims: list[Claim]
    instead: list[Claim]
    rest: str


def take_back(turn: Turn, parts: list[Passage], said: Said, read: Read) -> TakenBack:
    """Reads the retractions `parts` of a turn; `read` gives the claims of words put into the speaker's mouth."""
    found: dict[tuple[object, ...], Claim] = {}
    gone: list[Passage] = []
    for part in parts:
        undone = (
            _last(turn, part, said, read) if part.means is Means.LAST else _Undone(_meant(part, turn, read), [part])
        )
        gone += undone.gone
        for claim in undone.claims:
            taken = _retraction(claim, turn, part)
            fact = (taken.subject, taken.relation, (taken.object or taken.value or "").casefold(), taken.polarity)
            found.setdefault((*fact, taken.attribute), taken)
    instead = [claim for part in parts if part.means is Means.TOPIC for claim in _instead(turn, part, read)]
    return TakenBack(list(found.values()), instead, without(turn.text, gone))


def _instead(turn: Turn, part: Passage, read: Read) -> list[Claim]:
    """What the sentence after a retraction says of its thing: `I was wrong about karaoke, I can't stand it`."""
    after = turn.text[part.end :]
    bare = after.lstrip(f"{_TRAILING}.!?\n")
    start, end = next(iter(sentences(bare)), (0, 0))
    if _IT.search(bare, start, end) is None:
        return []
    thing = _DEFINITE.sub("", part.words)
    claims = read(_IT.sub(lambda _: thing, bare[start:end], count=1))
    begin = part.end + len(after) - len(bare)
    return [replace(claim, start=begin + start, end=begin + end) for claim in claims]


def _meant(part: Passage, turn: Turn, read: Read) -> list[Claim]:
    """The statements that the words of a retraction hold, else their thing."""
    wordings: tuple[str | None, ...] = (part.words,)
    if part.means is Means.CLAUSE:
        wordings = (part.words, in_present(part.words))
    elif part.means is Means.TOPIC:
        wordings = (finite(part.words), part.words)
    stated = _stated(wordings, read)
    if any(claim.relation not in _PEOPLE for claim in stated) or (stated and part.means is Means.CLAUSE):
        return stated
    return [_topic(part, turn)]


def _topic(part: Passage, turn: Turn) -> Claim:
    """The claim that names a thing: of whom the fact is, the words alone do not say."""
    return Claim(
        turn.turn_number, turn.subject or USER, EntityType.PERSON, TOPIC, None, None, part.words, 1.0, part.start,
        part.end, TemporalType.STATE, act=Act.RETRACT_ALL if part.is_all else Act.RETRACT,
    )  # fmt: skip


def _stated(wordings: Iterable[str | None], read: Read) -> list[Claim]:
    """The claims of the first sentence that has some, without the kinships that it only names people by."""
    for sentence in wordings:
        claims = [claim for claim in read(sentence) if not claim.flags] if sentence else []
        if claims:
            return _told(claims)
    return []


def _told(claims: list[Claim]) -> list[Claim]:
    """The claims without the kinships that people are only named by; those where there are no others."""
    return [claim for claim in claims if claim.pattern_id != KIN_PHRASE] or claims


def _last(turn: Turn, part: Passage, said: Said, read: Read) -> _Undone:
    """What `scratch that` means: the sentence before it, else the speaker's turn before."""
    before = turn.text[: part.start].rstrip(_TRAILING)
    start = next((first for first, _ in reversed(sentences(before))), 0)
    undone = _last_sentence(turn, part, start, read) if before[start:].strip() else None
    if undone is not None:
        return undone
    if len(_WORD.findall(before)) > _SHORT:
        return _Undone([], [])
    claims = _last_turn(said, is_of_statement=_OF_A_STATEMENT.search(turn.text[part.start : part.end]) is not None)
    if part.is_request and all(skip_reason(earlier) == "no_information" for earlier, _ in said):
        claims = [_topic(part._replace(words=LAST_TOLD), turn)]  # an earlier conversation's: the fold knows it
    return _Undone(claims, [part] if claims or not before else [])


def _last_sentence(turn: Turn, part: Passage, start: int, read: Read) -> _Undone | None:
    """What is taken back of the sentence that begins at character `start`; None where it states nothing."""
    sentence = turn.text[start : part.start].rstrip(_TRAILING).strip()
    claims = read(sentence)
    denied = None if part.is_struck else affirmed(sentence)
    if denied is not None and (undone := _stated((denied,), read)):
        return _Undone(undone, [part])
    if not claims:
        return None
    if part.is_struck and _is_mended(claims, turn.text[part.end :]):
        return _Undone([], [])
    return _Undone(_told(claims), [Passage(start, part.end, Means.LAST, "")])


def _is_mended(claims: list[Claim], after: str) -> bool:
    """Whether a plan is given up, or something else said in the sentence's place, so that nothing was ever stated."""
    return all(claim.relation in _WISHES for claim in claims) or _goes_on(after)


def _last_turn(said: Said, *, is_of_statement: bool) -> list[Claim]:
    """The last sentence with claims of the turn before; turns that say nothing are passed over, questions are not."""
    for earlier, stated in reversed(said):
        if earlier.text.rstrip().endswith("?") and not is_of_statement:
            return []
        if stated:
            stop = max(claim.start for claim in stated)
            begin, _ = sentences_around(earlier.text, stop, stop)
            return [claim for claim in stated if claim.start >= begin]
        if skip_reason(earlier) != "no_information":
            return []
    return []


def _goes_on(after: str) -> bool:
    """Whether a word or two follow in its place: `… in Bergen, scratch that, Stavanger`."""
    first = next(iter(sentences_of(after.lstrip(" .!?\n"))), "")
    return after[:1] == "," or 0 < len(first.split()) <= 3


def _retraction(claim: Claim, turn: Turn, part: Passage) -> Claim:
    act = claim.act if claim.act is Act.RETRACT_ALL else Act.RETRACT
    here = replace(claim, turn_number=turn.turn_number, start=part.start, end=part.end, pattern_id=PATTERN_ID)
    return retracted(here, act)
