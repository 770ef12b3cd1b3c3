"""From the items of an answer to mentions and claims: every name finds its place in the text, every date its day.

What finds no place is handed on without one: `em_pipelines.extraction.verification` weighs it.
"""

from dataclasses import dataclass, field
from datetime import date
from typing import cast

from em_pipelines.extraction.confidence import initial_confidence
from em_pipelines.extraction.llm.answer import EntityItem, RelationItem, Section, TimeItem, ToneItem
from em_pipelines.extraction.llm.parsing import Parsed
from em_pipelines.extraction.model import Claim, Extraction, Issue, Mention, Segment, Turn
from em_pipelines.extraction.rules.date_words import PartialDate
from em_pipelines.extraction.rules.dates import find_date, find_since, past_of
from em_pipelines.extraction.rules.entity_types import EXPECTED_OBJECT, guess_type
from em_pipelines.extraction.rules.tokens import tokenise
from em_pipelines.extraction.spans import Span, find_span
from em_pipelines.resolution.normalization import name_key
from em_pipelines.vocabulary import (
    LITERAL_OBJECT,
    RELATIONS_BY_GROUP,
    USER,
    EntityType,
    Flag,
    HedgeLevel,
    Mechanism,
    PrivacyLevel,
    TemporalType,
)

MAX_NAME_CHARACTERS = 120
"""A longer name is no name: the model copied a sentence."""
_WISHES = frozenset(RELATIONS_BY_GROUP["intent"])
_DATES = frozenset({"has_birthday", "scheduled_for", "happened_on"})
_PREFERENCES = frozenset(RELATIONS_BY_GROUP["preference"])


@dataclass(slots=True)
class _Grounding:
    """State of grounding one answer."""

    segment: Segment
    targets: dict[int, Turn]
    """Index in the segment → turn that facts may be taken from."""
    out: Extraction
    types: dict[str, EntityType] = field(default_factory=dict)
    seen: set[tuple[object, ...]] = field(default_factory=set)


def ground(segment: Segment, targets: dict[int, Turn], parsed: Parsed) -> Extraction:
    """Returns the mentions and claims of an answer about a segment, and issues for what belongs to no turn of it.

    `targets` maps the index under which a turn was shown to the turn.
    """
    state = _Grounding(segment, targets, Extraction())
    for item in parsed.items.get(Section.ENTITIES, []):
        _ground_entity(state, cast(EntityItem, item))
    relations = cast(list[RelationItem], parsed.items.get(Section.RELATIONS, []))
    tones = {t.r: t for t in cast(list[ToneItem], parsed.items.get(Section.TONE, []))}
    times = {t.r: t for t in cast(list[TimeItem], parsed.items.get(Section.TIMES, []))}
    # A tone that cannot be had is assumed to be a moderate hedge; times, to be states without end.
    unknown = ToneItem(r=0, hedge=HedgeLevel.MODERATE) if Section.TONE in parsed.missing else None
    for number, relation in enumerate(relations):
        _ground_relation(state, relation, tones.get(number) or unknown, times.get(number))
    return state.out


def _ground_entity(state: _Grounding, item: EntityItem) -> None:
    name = _cleaned(item.name)
    if not name or name.casefold() == USER:
        return
    turn, span = _placed(state, name, item.t)
    state.types.setdefault(name_key(name), item.type)
    key = ("mention", turn.turn_number, name_key(name))
    if key not in state.seen:
        state.seen.add(key)
        # What stands nowhere keeps an empty span, which no check of spans lets pass.
        start, end = (span.start, span.end) if span else (0, 0)
        state.out.mentions.append(Mention(turn.turn_number, name, item.type, start, end))


def _placed(state: _Grounding, name: str, index: int) -> tuple[Turn, Span | None]:
    """The turn that a name stands in, the one given first, and where in it."""
    given = state.targets.get(index)
    for turn in (*([given] if given else []), *state.targets.values()):
        if (span := find_span(name, turn.text)) is not None:
            return turn, span
    return given or next(iter(state.targets.values())), None


def _ground_relation(state: _Grounding, item: RelationItem, tone: ToneItem | None, time: TimeItem | None) -> None:
    turn = state.targets.get(item.t)
    subject, stated = _cleaned(item.subject), _cleaned(item.object)
    if turn is None:
        anchor = next(iter(state.targets.values()))
        detail = "a relation out of a turn that is only there to be understood"
        state.out.issues.append(Issue(anchor.turn_number, "context_bleed", "hallucination", "warning", detail))
        return
    if not subject or not stated:
        detail = "a relation with an end that is no name"
        state.out.issues.append(Issue(turn.turn_number, "orphan_relation", "hallucination", "warning", detail))
        return
    relation, flags = _meant(item.relation, tone.flags if tone else ())
    if relation is None:
        return
    # The speaker may be named in two ways: as whose turn it is, or as the user.
    if subject.casefold() in {USER, "i", "me", (turn.subject or "").casefold()}:
        subject = turn.subject or USER
    state.out.claims.append(_claim(state, turn, item, relation, (subject, stated), tone, flags, time))


def _meant(relation: str, flags: tuple[Flag, ...]) -> tuple[str | None, tuple[Flag, ...]]:
    """What is hypothetical is at most an interest, and an interest that might be is hypothetical."""
    if Flag.HYPOTHETICAL not in flags and relation != "might_be_interested_in":
        return relation, tuple(dict.fromkeys(flags))
    can_be_interest = relation in _PREFERENCES | _WISHES | {"owns", "uses", "has_pet"}
    flags = tuple(dict.fromkeys((Flag.HYPOTHETICAL, *flags)))
    return ("might_be_interested_in" if can_be_interest else None), flags


def _claim(
    state: _Grounding, turn: Turn, item: RelationItem, relation: str, ends: tuple[str, str], tone: ToneItem | None,
    flags: tuple[Flag, ...], time: TimeItem | None,
) -> Claim:  # fmt: skip
    subject, stated = ends
    hedge = tone.hedge if tone else HedgeLevel.NONE
    is_literal = relation in LITERAL_OBJECT
    is_past = relation == "happened_on" or (time is not None and time.kind is TemporalType.EPISODE)
    said = resolve(stated, turn.timestamp.date(), is_past=is_past) if relation in _DATES else None
    since = resolve(time.when, turn.timestamp.date(), is_past=is_past) if time and time.when else None
    spans = [span for name in ends if (span := find_span(name, turn.text))]
    is_dated = since is not None and item.polarity > 0 and not is_literal
    return Claim(
        turn_number=turn.turn_number,
        subject=subject,
        subject_type=EntityType.PERSON if subject in {USER, turn.subject} else _type_of(state, subject, None),
        relation=relation,
        object=None if is_literal else stated,
        object_type=None if is_literal else _type_of(state, stated, EXPECTED_OBJECT.get(relation)),
        value=(_iso(said, stated, relation) if said else stated) if is_literal else None,
        confidence=initial_confidence(Mechanism.EXPLICIT, hedge, flags, is_wish=relation in _WISHES),
        start=min((s.start for s in spans), default=0),
        end=max((s.end for s in spans), default=len(turn.text)),
        temporal_type=time.kind if time else _usual_type(relation),
        polarity=item.polarity,
        attribute=_cleaned(item.attribute or "").casefold() or "note" if relation == "has_attribute" else None,
        valid_from=since.day if since and is_dated else None,
        valid_precision=since.precision if since and is_dated else None,
        hedge_level=hedge,
        flags=flags,
        privacy_level=PrivacyLevel.PII if relation == "has_birthday" else PrivacyLevel.PERSONAL,
    )


def resolve(words: str, written_on: date, *, is_past: bool) -> PartialDate | None:
    """The date that words stand for, against the day they were written on; None where no date is in them."""
    tokens = tokenise(words)
    for read in (find_since, find_date):
        found = read(tokens, 0, len(tokens), written_on)
        if found is not None:
            return past_of(found, written_on) if is_past else found
    prefixed = tokenise(f"in {words}")
    found = find_date(prefixed, 0, len(prefixed), written_on)
    return past_of(found, written_on) if found is not None and is_past else found


def _iso(said: PartialDate, words: str, relation: str) -> str:
    """ISO; a birthday without its year is `05-04`, as no year may be made up."""
    iso = said.iso()
    return iso[5:] if relation == "has_birthday" and iso[:4] not in words else iso


def _type_of(state: _Grounding, name: str, expected: EntityType | None) -> EntityType:
    return state.types.get(name_key(name)) or guess_type(name, expected)


def _usual_type(relation: str) -> TemporalType:
    if relation in _PREFERENCES:
        return TemporalType.TRAIT
    if relation in {"wants", "needs"}:
        return TemporalType.WISH
    if relation in {"plans", "decided", "scheduled_for"}:
        return TemporalType.PLAN
    if relation in {"visited", "attended", "did", "happened_on", "feels"}:
        return TemporalType.EPISODE
    is_fixed = relation in {"has_name", "has_birthday", "born_in", "has_attribute", "graduated_from"}
    return TemporalType.ATTRIBUTE if is_fixed else TemporalType.STATE


def _cleaned(name: str) -> str:
    """The name without determiners and surrounding marks, in the case it was given in; empty for what is no name."""
    words = " ".join(name.split()).strip("\"'“”‘’.,;:!?()[] ")
    while " " in words and words.split(" ", 1)[0].casefold() in {"a", "an", "the", "my", "our", "his", "her", "their"}:
        words = words.split(" ", 1)[1]
    return words if len(words) <= MAX_NAME_CHARACTERS else ""
