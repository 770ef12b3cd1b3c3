"""From the items of an answer to mentions and claims: every name finds its place in the text, every date its day.

What finds no place is handed on without one: `em_pipelines.extraction.verification` weighs it.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import cast

from em_pipelines.extraction.llm.answer import EntityItem, RelationItem, Section, TimeItem, ToneItem
from em_pipelines.extraction.llm.noun_phrases import is_no_name, kind_told_of, named_ends
from em_pipelines.extraction.llm.ownership import Kinship, Owners, is_role, tells_owner
from em_pipelines.extraction.llm.parsing import Parsed
from em_pipelines.extraction.llm.stated_dates import day_in_turn, is_day_stated, iso_date, resolve
from em_pipelines.extraction.segmentation import names_of_speakers
from em_pipelines.extraction.spans import Span, find_span
from em_pipelines.extraction.statement_support import tells_days
from em_pipelines.extraction.support import N_EARLIER
from em_pipelines.guard.passages import clause_around
from em_pipelines.language.dates.partial_dates import PartialDate
from em_pipelines.language.document import english
from em_pipelines.language.name_keys import name_key, noun_of
from em_pipelines.schema.readings import (
    MAX_STATEMENT_CHARACTERS,
    Claim,
    Extraction,
    Issue,
    Mention,
    Segment,
    Turn,
    initial_confidence,
    retracted,
)
from em_pipelines.schema.vocabulary import (
    DATED,
    LITERAL_OBJECT,
    RELATIONS_BY_GROUP,
    USER,
    USUAL_TEMPORAL_TYPE,
    EntityType,
    Flag,
    HedgeLevel,
    Mechanism,
    TemporalType,
)

MAX_NAME_CHARACTERS = 120
"""A longer name is no name: the model copied a sentence."""
NICKNAME = ("has_name", "nickname")
_FIRST_PERSON = english.first_person | {"my", "mine", "myself"}
_OF_OTHERS = (
    english.words("words", "subject_pronouns")
    | english.words("words", "object_pronouns")
    | english.words("words", "demonstratives")
    | english.words("words", "possessives")
) - _FIRST_PERSON
_PRONOUNS = _FIRST_PERSON | _OF_OTHERS
_WISHES = frozenset(RELATIONS_BY_GROUP["intent"])
_ARTICLES = frozenset({"a", "an", "the"})
_DETERMINERS = _ARTICLES | {"my", "our", "his", "her", "their"}
_PREFERENCES = frozenset(RELATIONS_BY_GROUP["preference"])
_POINTED = re.compile(r"(?i)(?:this|that|these|those|such)\s+(?P<noun>[\w'’-]+)(?P<more>.*)")
_POINTING_CLAUSE = re.compile(
    r"(?i)(?:(?:it|they|he|she)(?:['’]\w+)?"
    r"|(?:this|that|these|those)(?:['’]\w+| (?:is|are|was|were|will|would|has|had)))\s"
)
_EXPLETIVE = re.compile(
    r"(?i)it(?:['’]s| is| was| takes| feels| would be)(?: \w+){1,4} (?:to|for|how|that|when|if|not|\w+ing)\b"
)
"""A clause whose `it` stands for what follows: "it is important to listen"."""


@dataclass(slots=True)
class _Grounding:
    """State of grounding one answer."""

    segment: Segment
    targets: dict[int, Turn]
    """Index in the segment → turn that facts may be taken from."""
    out: Extraction
    owners: Owners
    types: dict[str, EntityType] = field(default_factory=dict)
    seen: set[tuple[object, ...]] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Statement:
    """A relation of an answer as it is meant: between which names, how surely, and when."""

    turn: Turn
    subject: str
    relation: str
    object: str
    attribute: str | None
    polarity: int
    hedge: HedgeLevel
    flags: tuple[Flag, ...]
    time: TimeItem | None
    wording: str | None

    @property
    def is_literal(self) -> bool:
        """Whether the object is no name."""
        return self.relation in LITERAL_OBJECT

    @property
    def temporal_type(self) -> TemporalType:
        """As the answer has it, else what the relation usually is; an outburst is an episode, whatever it says."""
        if Flag.EMOTIONAL_STATE in self.flags and self.relation not in _WISHES:
            return TemporalType.EPISODE
        return self.time.kind if self.time else USUAL_TEMPORAL_TYPE.get(self.relation, TemporalType.STATE)


def ground(segment: Segment, targets: dict[int, Turn], parsed: Parsed) -> Extraction:
    """Returns the mentions and claims of an answer about a segment, and issues for what belongs to no turn of it.

    `targets` maps the index under which a turn was shown to the turn.
    """
    relations = cast(list[RelationItem], parsed.items.get(Section.RELATIONS, []))
    names = names_of_speakers(segment)
    turns = [_turn_of(segment, targets, relation) for relation in relations]
    state = _Grounding(segment, targets, Extraction(), Owners(names, _kinships(relations, turns)))
    for item in parsed.items.get(Section.ENTITIES, []):
        _ground_entity(state, cast(EntityItem, item))
    tones = {t.r: t for t in cast(list[ToneItem], parsed.items.get(Section.TONE, []))}
    times = {t.r: t for t in cast(list[TimeItem], parsed.items.get(Section.TIMES, []))}
    # A tone that cannot be had is assumed to be a moderate hedge; times, to be states without end.
    unknown = ToneItem(r=0, hedge=HedgeLevel.MODERATE) if Section.TONE in parsed.missing else None
    for number, (relation, turn) in enumerate(zip(relations, turns, strict=True)):
        _ground_relation(state, relation, turn, tones.get(number) or unknown, times.get(number))
    return state.out


def _turn_of(segment: Segment, targets: dict[int, Turn], item: RelationItem) -> Turn | None:
    """The turn that a relation was given for. Where neither that nor those shortly before it have a word for its ends,
    another turn of the same speaker that has words for both: small models count turns wrongly."""
    given = targets.get(item.t)
    names = _names_of_others(item, given) if given is not None else []
    if given is None or not names or _is_any_said(names, (*_before(segment, given), given)):
        return given
    others = (turn for turn in targets.values() if turn.subject == given.subject)
    return next((turn for turn in others if all(_is_any_said([name], [turn]) for name in names)), given)


def _is_any_said(names: Iterable[str], turns: Iterable[Turn]) -> bool:
    texts = [turn.text for turn in turns]
    return any(find_span(name, text) for name in names for text in texts)


def _names_of_others(item: RelationItem, turn: Turn) -> list[str]:
    """The ends of a relation by name, without whoever speaks and pronouns."""
    speaker = {USER, (turn.subject or USER).casefold()}
    ends = (_cleaned(item.subject), _cleaned(item.object))
    return [end for end in ends if end and end.casefold() not in speaker and _pronoun(end) not in _PRONOUNS]


def _kinships(relations: Sequence[RelationItem], turns: Sequence[Turn | None]) -> list[Kinship]:
    """What the answer says of whose relatives there are, from either end."""
    found = []
    for item, turn in zip(relations, turns, strict=True):
        if turn is None:
            continue
        subject, stated = _by_speaker(_cleaned(item.subject), _cleaned(item.object), turn, is_literal=False)
        for owner, noun in ((subject, stated), (stated, subject)):
            if tells_owner(item.relation, noun) and not is_role(owner):
                found.append(Kinship(turn.turn_number, owner, noun))
    return found


def _ground_entity(state: _Grounding, item: EntityItem) -> None:
    name = _cleaned(item.name)
    if not name or name.casefold() == USER or _pronoun(name) in _PRONOUNS:
        return
    turn, span = _placed(state, name, item.t)
    if is_no_name(name, turn.language):
        return  # a relation of it says what it is, or is a doubt
    if (name := state.owners.named(name, turn) or "") == "":  # a relation of it is a doubt
        return
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


def _ground_relation(
    state: _Grounding, item: RelationItem, turn: Turn | None, tone: ToneItem | None, time: TimeItem | None
) -> None:
    if turn is None:
        anchor = next(iter(state.targets.values()))
        _doubt(state, anchor, "context_bleed", "a relation out of a turn that is only there to be understood")
        return
    told = _ends_told(state, item, turn)
    if told is None:
        return
    tone = tone or ToneItem(r=0)
    relation, flags = _meant(item.relation, tone.stated_flags)
    if relation is None:
        return
    is_literal = item.relation in LITERAL_OBJECT
    told = _by_speaker(*told, turn, is_literal=is_literal)
    named = named_ends(told, relation, state.out.mentions, turn.language)
    if named is None:
        _doubt(state, turn, "clause_as_name", "a sentence, or what is done, in the place of a name")
        return
    subject = state.owners.named(named[0], turn)
    stated = named[1] if is_literal else state.owners.named(named[1], turn)
    if subject is None or stated is None:
        _doubt(state, turn, "dangling_reference", "a role of which it is not clear whose it is")
        return
    attribute = _attribute(item, relation)
    wording = clause_around(item.statement or "", 0, len(item.statement or ""), MAX_STATEMENT_CHARACTERS) or None
    said = _Statement(turn, subject, relation, stated, attribute, item.polarity, tone.hedge, flags, time, wording)
    claim = _claim(state, said)
    state.out.claims.append(retracted(claim) if tone.is_retraction else claim)


def _attribute(item: RelationItem, relation: str) -> str | None:
    """The key of an attribute, or that a name is one by which somebody is called."""
    key = _cleaned(item.attribute or "").casefold()
    if relation == "has_attribute":
        return key or "note"
    return key if (relation, key) == NICKNAME else None


def _ends_told(state: _Grounding, item: RelationItem, turn: Turn) -> tuple[str, str] | None:
    """Subject and object by their names; None, with a doubt, where one of them is none or was not said."""
    if not (_cleaned(item.subject) and _cleaned(item.object)):
        _doubt(state, turn, "orphan_relation", "a relation with an end that is no name")
        return None
    before = _before(state.segment, turn)
    earlier = [one.text for one in before]
    subject, stated = (_resolved(words, turn.text, earlier) for words in (item.subject, item.object))
    if subject is None or stated is None:
        _doubt(state, turn, "dangling_reference", "an end that points at something which nothing names")
        return None
    is_day = item.relation in DATED
    if is_day and not (is_day_stated(stated, [*earlier, turn.text], turn) or tells_days(stated, [*before, turn])):
        _doubt(state, turn, "orphan_relation", "a date that no turn says")
        return None
    return subject, stated


def _doubt(state: _Grounding, turn: Turn, issue: str, detail: str) -> None:
    state.out.issues.append(Issue(turn.turn_number, issue, "hallucination", "warning", detail))


def _before(segment: Segment, turn: Turn) -> list[Turn]:
    """The turns shortly before one, in order."""
    said = [*segment.context, *segment.turns]
    place = said.index(turn)
    return said[max(0, place - N_EARLIER) : place]


def _resolved(words: str, text: str, earlier: Sequence[str]) -> str | None:
    """The words that name an end of a relation; None where they point at something that nothing names.

    "these practices" is what the turn, or one before it, calls practices of some kind.
    """
    name = _cleaned(words)
    if _pronoun(name) in _OF_OTHERS:
        return None
    if _POINTING_CLAUSE.match(name):
        return name if _EXPLETIVE.match(name) else None
    pointed = _POINTED.fullmatch(name)
    if pointed is None:
        return name
    if pointed["more"]:  # it says of itself which one
        return pointed["noun"] + pointed["more"]
    return next((found for said in (text, *reversed(earlier)) if (found := kind_told_of(pointed["noun"], said))), None)


def _by_speaker(subject: str, stated: str, turn: Turn, *, is_literal: bool) -> tuple[str, str]:
    """Subject and object, the speaker by their own name."""
    speaker, language = turn.subject or USER, turn.language
    if not is_literal and _is_speaker(stated, speaker, language):
        stated = speaker
    # The speaker may be named in two ways: as whose turn it is, or as the user.
    is_user = subject.casefold() == USER and (is_literal or stated != speaker)
    return (speaker if is_user or _is_speaker(subject, speaker, language) else subject), stated


def _is_speaker(name: str, speaker: str, language: str | None) -> bool:
    own = _FIRST_PERSON | english.words_of_language("first_person", language) if language else _FIRST_PERSON
    return name.casefold() == speaker.casefold() or _pronoun(name) in own


def _pronoun(name: str) -> str:
    """The word to look up among pronouns; IT and US are names."""
    return "" if len(name) > 1 and name.isupper() else name.casefold()


def _meant(relation: str, flags: tuple[Flag, ...]) -> tuple[str | None, tuple[Flag, ...]]:
    """What is hypothetical is at most an interest, and an interest that might be is hypothetical."""
    if Flag.HYPOTHETICAL not in flags and relation != "might_be_interested_in":
        return relation, tuple(dict.fromkeys(flags))
    can_be_interest = relation in _PREFERENCES | _WISHES | {"owns", "uses", "has_pet"}
    flags = tuple(dict.fromkeys((Flag.HYPOTHETICAL, *flags)))
    return ("might_be_interested_in" if can_be_interest else None), flags


def _claim(state: _Grounding, said: _Statement) -> Claim:
    turn, relation = said.turn, said.relation
    since = _since(said)
    span = _span((said.subject, said.object), turn.text)
    is_person = said.subject in {USER, turn.subject}
    return Claim(
        turn_number=turn.turn_number,
        subject=said.subject,
        subject_type=EntityType.PERSON if is_person else _type_of(state, said.subject, None),
        relation=relation,
        object=None if said.is_literal else said.object,
        object_type=None if said.is_literal else _type_of(state, said.object, english.expected_object.get(relation)),
        value=_value(said) if said.is_literal else None,
        confidence=initial_confidence(Mechanism.EXPLICIT, said.hedge, said.flags, is_wish=relation in _WISHES),
        start=span.start,
        end=span.end,
        temporal_type=said.temporal_type,
        polarity=said.polarity,
        attribute=said.attribute,
        valid_from=since.day if since else None,
        valid_precision=since.precision if since else None,
        hedge_level=said.hedge,
        flags=said.flags,
        statement=said.wording,
    )


def _span(names: tuple[str, str], text: str) -> Span:
    """From the first to the last of the names that stand in the text; all of it where neither does."""
    spans = [span for name in names if (span := find_span(name, text) or find_span(noun_of(name), text))]
    return Span(min((s.start for s in spans), default=0), max((s.end for s in spans), default=len(text)))


def _since(said: _Statement) -> PartialDate | None:
    """Since when a fact between two names holds, or for when it is meant; a literal and a denied fact have no such
    day, and no plan one that is past."""
    if said.is_literal or said.polarity < 0:
        return None
    is_ahead = said.temporal_type in {TemporalType.PLAN, TemporalType.WISH}
    written_on = said.turn.timestamp.date()
    if said.time is not None and said.time.when:
        is_past = said.temporal_type is TemporalType.EPISODE
        day = _day_of(said.time.when, said.turn, is_past=is_past, is_ahead=is_ahead)
    else:  # of what is ahead a model often leaves the day within the object
        day = english.date_of(said.object, written_on) if is_ahead else None
    is_over = day is not None and said.temporal_type is TemporalType.PLAN and day.last_day() < written_on
    return None if is_over else day


def _day_of(words: str, turn: Turn, *, is_past: bool, is_ahead: bool) -> PartialDate | None:
    """The date that words mean as their turn has them; where it does not, or that date cannot be, what they mean by
    themselves. What is past is not after the day of the turn, and what is ahead not before it."""
    written_on, day = turn.timestamp.date(), day_in_turn(words, turn)
    if day is None or (is_past and day.day > written_on) or (is_ahead and day.last_day() < written_on):
        return resolve(words, written_on, is_past=not is_ahead, language=turn.language)
    return day


def _value(said: _Statement) -> str:
    """A literal object as it was worded; a date as ISO."""
    if said.relation not in DATED:
        return said.object
    is_past = said.relation == "happened_on"
    day = _day_of(said.object, said.turn, is_past=is_past, is_ahead=not is_past)
    return iso_date(day, said.object, said.relation) if day else said.object


def _type_of(state: _Grounding, name: str, expected: EntityType | None) -> EntityType:
    return state.types.get(name_key(name)) or english.type_of(name, expected)


def _cleaned(name: str) -> str:
    """The name without determiners and surrounding marks, in the case it was given in; empty for what is no name."""
    visible = "".join(c if c.isprintable() else " " for c in unicodedata.normalize("NFC", name))
    left = " ".join(visible.split()).strip("\"'“”‘’.,;:!?()[] ")
    while " " in left and left.split(" ", 1)[0].casefold() in _DETERMINERS:
        left = left.split(" ", 1)[1]
    return left if len(left) <= MAX_NAME_CHARACTERS and left.casefold() not in _ARTICLES else ""
