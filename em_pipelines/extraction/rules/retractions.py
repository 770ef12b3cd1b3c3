"""What a message takes back: `forget what I said about Lena liking eels`, `I said I work at X, that was wrong`.

The fact is restated from the retraction's own words where they hold it, and looked up among what the speaker said
before in the session where they only point at it. Each becomes a claim whose act is retract; nothing is asserted.
Where nothing can be told for sure, nothing is taken back.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from em_pipelines.extraction.rules.kinship import PATTERN_ID as KIN_PHRASE
from em_pipelines.extraction.rules.lexicon import words
from em_pipelines.extraction.rules.names import guess_type, type_of_name
from em_pipelines.extraction.rules.noun_phrases import KIN
from em_pipelines.extraction.rules.retraction_wording import Means, Passage, affirmed, finite, in_present, without
from em_pipelines.extraction.rules.tokens import PREP, tokenise
from em_pipelines.extraction.skipping import skip_reason
from em_pipelines.language.sentences import sentences, sentences_around, sentences_of
from em_pipelines.schema.readings import Claim, Turn, initial_confidence
from em_pipelines.schema.vocabulary import (
    RELATIONS_BY_GROUP,
    USER,
    USUAL_TEMPORAL_TYPE,
    Act,
    EntityType,
    HedgeLevel,
    Mechanism,
    TemporalType,
)

PATTERN_ID = "retraction"
Said = Sequence[tuple[Turn, list[Claim]]]
"""The speaker's earlier turns, in order, with their claims."""

_WISHES = frozenset(RELATIONS_BY_GROUP["intent"])
_PEOPLE = frozenset(RELATIONS_BY_GROUP["people"])
_OF_THINGS = ("likes", "dislikes", "wants", "owns")
"""What is commonly said of somebody and a thing; those that are taken back together stand here once."""
_OF_PLACES = ("lives_in", "visited", "plans", "likes")
_SMALL = words("words", "object_pronouns") | words("words", "small")
_LONGEST_THING = 3
"""Words of a thing of which nothing but its name is given."""
_WORD = re.compile(r"[\w+#]+")
_TRAILING = " ,;:–—-"
_SHORT = 4
"""Words before `scratch that`, at most, that may hold nothing, so that it means the turn before: `Oops, wrong chat.`"""
_OF_A_STATEMENT = re.compile(
    r"(?i)\b(?:said|told|mentioned|take|lied|lying|lie|made|misspoke|wrong|joke|message|statement)\b"
)
"""After a question `scratch that` means what was asked; these words mean what was said."""
_PAIR = re.compile(
    r"(?i)^((?:my |our )?[\w'-]+(?: [\w'-]+)?) (?:and|with|&) "
    r"(?:the |a |an |his |her |their |my )?([\w'+-]+(?: [\w'+-]+)?)$"
)


Read = Callable[[str], list[Claim]]
"""Gives the claims of words put into the speaker's mouth."""


class _Undone(NamedTuple):
    """The claims that one retraction means, and the passages whose words are not to be read."""

    claims: list[Claim]
    gone: list[Passage]


class TakenBack(NamedTuple):
    """The claims that a message retracts, and its text without their words, of the same length."""

    claims: list[Claim]
    rest: str


def take_back(turn: Turn, parts: list[Passage], said: Said, read: Read) -> TakenBack:
    """Reads the retractions `parts` of a turn; `read` gives the claims of words put into the speaker's mouth."""
    retracted: dict[tuple[object, ...], Claim] = {}
    gone: list[Passage] = []
    for part in parts:
        undone = (
            _last(turn, part, said, read) if part.means is Means.LAST else _Undone(_meant(part, said, read), [part])
        )
        gone += undone.gone
        for claim in undone.claims:
            taken = _retraction(claim, turn, part)
            fact = (taken.subject, taken.relation, (taken.object or taken.value or "").casefold(), taken.polarity)
            retracted.setdefault((*fact, taken.attribute), taken)
    return TakenBack(list(retracted.values()), without(turn.text, gone))


def _meant(part: Passage, said: Said, read: Read) -> list[Claim]:
    if part.means is Means.CLAUSE:
        return _stated((part.words, in_present(part.words)), read)
    if part.means is Means.MENTION:
        stated = _stated((part.words,), read)
        is_statement = any(claim.relation not in _PEOPLE for claim in stated)
        return stated if is_statement else _of_one(part.words, said)
    known = [claim for _, claims in said for claim in claims]
    restated = _stated((finite(part.words), part.words), read)
    named = _named(part.words, known)
    return [*named, *restated] if named or restated else list(_supposed(part.words))


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


def _named(topic: str, known: list[Claim]) -> list[Claim]:
    """Earlier claims whose object the topic names, with their subject unless it is the speaker; else all of one."""
    topic_words = _stems(topic)
    ends = [claim for claim in known if _is_named_by(topic_words, claim)]
    others = {claim.subject for claim in ends}
    ends = [claim for claim in ends if _end(claim) not in others and claim.relation not in _PEOPLE]
    return ends or [claim for claim in known if _stems(claim.subject) == topic_words]


def _is_named_by(topic_words: set[str], claim: Claim) -> bool:
    end = _stems(_end(claim))
    return bool(end) and end <= topic_words and (claim.subject == USER or _stems(claim.subject) <= topic_words)


def _of_one(name: str, said: Said) -> list[Claim]:
    """Everything said of somebody or something, kinship included: `forget I mentioned my sister`."""
    names = [_stems(name), *_names_of_kin(name, said)]
    known = [claim for _, claims in said for claim in claims]
    return [claim for claim in known if _stems(claim.subject) in names or _stems(_end(claim)) in names]


def _names_of_kin(name: str, said: Said) -> Iterator[set[str]]:
    """What those are called of whom the noun of `my sister` was said."""
    kin = {word for word in name.casefold().split() if word in KIN}
    for turn, claims in said:
        for claim in claims:
            words_in = _WORD.findall(turn.text[claim.start : claim.end].casefold())
            if claim.relation in _PEOPLE and not kin.isdisjoint(words_in):
                yield _stems(_end(claim))


def _supposed(topic: str) -> Iterator[Claim]:
    """What can have been said of the two in `Eli and dinosaurs`, or of the speaker and a thing, in earlier sessions."""
    one, other = _person_and_thing(topic)
    subject = USER if one.casefold() in {"me", "i", "myself"} else _called(one)
    thing = _called(other)
    is_plain = 0 < len(thing.split()) <= _LONGEST_THING and not any(t.bits & PREP for t in tokenise(other))
    if not is_plain or (subject != USER and not _may_be_person(one)) or _is_person(other):
        return
    kind = guess_type(thing)
    for relation in _OF_PLACES if kind is EntityType.PLACE else _OF_THINGS:
        yield Claim(
            0, subject, EntityType.PERSON, relation, thing, kind, None, 1.0, 0, 0,
            USUAL_TEMPORAL_TYPE.get(relation, TemporalType.STATE),
        )  # fmt: skip


def _person_and_thing(topic: str) -> tuple[str, str]:
    """The two that a topic joins, the person first; the speaker and the topic where it is one thing."""
    pair = _PAIR.match(topic)
    if pair is None:
        return "me", topic
    one, other = pair[1], pair[2]
    return (other, one) if not _may_be_person(one) and _may_be_person(other) else (one, other)


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
    return replace(
        claim,
        turn_number=turn.turn_number,
        start=part.start,
        end=part.end,
        flags=(),
        hedge_level=HedgeLevel.NONE,
        confidence=initial_confidence(Mechanism.USER_CORRECTION, HedgeLevel.NONE),
        source_mechanism=Mechanism.USER_CORRECTION,
        valid_from=None,
        valid_to=None,
        valid_precision=None,
        pattern_id=PATTERN_ID,
        act=Act.RETRACT,
    )


def _end(claim: Claim) -> str:
    return claim.object or claim.value or ""


def _stems(text: str) -> set[str]:
    """The words that tell, without plural endings: `Eames chairs` and `an Eames chair` are one."""
    telling = {word.removesuffix("'s") for word in _WORD.findall(text.casefold())} - _SMALL
    return {word[:-1] if word.endswith("s") and len(word) > 3 else word for word in telling}


def _is_person(name: str) -> bool:
    called = _called(name)
    is_kin = called.casefold() in KIN or (name.casefold().startswith("my ") and called[:1].isupper())
    return is_kin or type_of_name(called) is EntityType.PERSON or guess_type(called) is EntityType.PERSON


def _may_be_person(name: str) -> bool:
    """Beside a thing, any name that is no place's: `Eli and dinosaurs`."""
    called = _called(name)
    return _is_person(name) or (called[:1].isupper() and type_of_name(called) is not EntityType.PLACE)


def _called(name: str) -> str:
    """The name in `my nephew Eli`, or the noun of `my nephew`."""
    parts = [word for word in name.split() if word.casefold() not in _SMALL]
    capitals = [word for word in parts if word[:1].isupper()]
    return " ".join(capitals if capitals and parts[0].casefold() in KIN else parts)
