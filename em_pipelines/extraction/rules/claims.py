"""From a matched frame to claims: what polarity, flags, dates, types and confidence the clause gives them.

The same for every pattern, so that a pattern file says only what its words mean.
"""

from copy import copy
from dataclasses import replace

from em_pipelines.extraction.confidence import initial_confidence
from em_pipelines.extraction.model import Claim
from em_pipelines.extraction.rules.clause import Clause
from em_pipelines.extraction.rules.date_words import PartialDate
from em_pipelines.extraction.rules.dates import find_date, find_since, past_of
from em_pipelines.extraction.rules.entity_types import EXPECTED_OBJECT, guess_type
from em_pipelines.extraction.rules.fillers import Fill
from em_pipelines.extraction.rules.lasting import is_lasting
from em_pipelines.extraction.rules.modifiers import Modifiers
from em_pipelines.extraction.rules.names import Reading
from em_pipelines.extraction.rules.patterns import Pattern
from em_pipelines.extraction.rules.people import Referent, joined_text, refer
from em_pipelines.vocabulary import (
    LITERAL_OBJECT,
    RELATIONS_BY_GROUP,
    USUAL_TEMPORAL_TYPE,
    EntityType,
    Flag,
    HedgeLevel,
    Mechanism,
    PrivacyLevel,
    TemporalType,
)

_PREFERENCES = frozenset(RELATIONS_BY_GROUP["preference"])
_WISHES = frozenset({"wants", "needs", "plans", "decided"})
_MIGHT = frozenset(
    {"wants", "likes", "needs", "plans", "owns", "prefers", "interested_in", "has_pet", "uses", "studies"}
)
_TASTES = frozenset({"likes", "dislikes"})
_OF_LASTING_THINGS = _PREFERENCES | _WISHES | {"did"}
_STANDINGS = frozenset({"works_as", "is_a", "member_of"})
_FORMER = frozenset({"former", "ex", "erstwhile", "retired"})
_PII = frozenset({"has_birthday"})
_LATE_HEDGE = frozenset({"might", "may"})


def build_claims(
    reading: Reading, pattern: Pattern, clause: Clause, mods: Modifiers, subjects: list[Referent],
    slots: dict[str, list[Fill]], turn_number: int,
) -> list[Claim]:  # fmt: skip
    """One claim for each subject and filler of the object slot; none where the clause cannot carry the relation."""
    spec = pattern.spec
    relation, polarity = _stated(pattern, clause, mods, slots)
    if relation is None:
        return []
    is_hypothetical = mods.is_hypothetical and not (clause.verb.modal is None and relation in _PREFERENCES)
    if is_hypothetical and relation != "might_be_interested_in":
        if relation not in _MIGHT or clause.verb.modal is None or pattern.is_literal:
            return []
        relation, polarity = "might_be_interested_in", 1
    if relation == "has_name" and clause.pronoun is not None and reading.tokens[clause.pronoun].low == "we":
        return []
    if mods.is_abandoned and relation not in _WISHES:
        return []
    if mods.is_sarcastic or mods.is_doubtful:
        if mods.is_sarcastic and relation == "likes" and polarity > 0 and all(s.is_own and not s.kin for s in subjects):
            relation = "dislikes"
        elif relation in _PREFERENCES | _WISHES:
            return []
    claims = []
    for subject in subjects:
        for fill in slots.get(spec.object, ()):
            claim = _claim(reading, pattern, clause, mods, subject, fill, relation, polarity, slots, turn_number)
            if claim is not None:
                claims.append(claim)
    return claims


def _stated(pattern: Pattern, clause: Clause, mods: Modifiers, slots: dict[str, list[Fill]]) -> tuple[str | None, int]:
    """The relation and polarity, given negation: `no longer like` ends a liking, `don't like` is a dislike."""
    spec = pattern.spec
    if mods.has_ended and "negation" in spec.needs:
        return spec.relation, spec.polarity
    if mods.has_ended:
        return (spec.relation, -spec.polarity) if spec.relation != "feels" else (None, 1)
    fills = slots.get(spec.object, [])
    has_no = bool(fills) and fills[0].phrase is not None and fills[0].phrase.det in {"no", "neither"}
    if not (clause.verb.is_negated or has_no) or "negation" in spec.needs:
        return spec.relation, spec.polarity
    if spec.negated == "drop":
        return None, 1
    if spec.negated == "negate":
        return spec.relation, -spec.polarity
    return spec.negated, 1


def _claim(
    reading: Reading, pattern: Pattern, clause: Clause, mods: Modifiers, subject: Referent, fill: Fill, relation: str,
    polarity: int, slots: dict[str, list[Fill]], turn_number: int,
) -> Claim | None:  # fmt: skip
    spec = pattern.spec
    if fill.phrase is not None and relation in _STANDINGS and reading.tokens[fill.phrase.first].low in _FORMER:
        held = copy(fill.phrase)  # other patterns read the phrase whole
        held.first, polarity = min(held.first + 1, held.head), -polarity
        fill = replace(fill, phrase=held)
    is_own = subject.kin == "" and subject.is_own
    is_dropped, is_of_own_lot = subject.start == clause.verb.start, is_own and relation in _TASTES
    if (
        relation in _OF_LASTING_THINGS
        and not mods.is_settled
        and not is_lasting(reading, fill, is_dropped=is_dropped, is_of_own_lot=is_of_own_lot)
    ):
        return None
    name, kind = _object(reading, fill, relation, spec.object_type, clause.verb.is_past and relation != "scheduled_for")
    if not name or name.casefold() == subject.name.casefold():
        return None
    if relation == "scheduled_for" and name < reading.written_on.isoformat()[: len(name)]:
        return None
    unsure = (Flag.ATTRIBUTION_UNCERTAIN,) if clause.is_uncertain else ()
    flags = tuple(dict.fromkeys(unsure + _flags(mods, relation, is_own=is_own) + spec.flags))
    hedge = HedgeLevel.STRONG if clause.verb.modal in _LATE_HEDGE else mods.hedge
    since = _valid_from(reading, pattern, clause, polarity)
    is_literal = relation in LITERAL_OBJECT
    over = slots.get("over")
    tokens = reading.tokens
    end = tokens[max(fill.end, clause.verb.end) - 1].end
    return Claim(
        turn_number=turn_number,
        subject=subject.name,
        subject_type=spec.subject_type or _subject_type(subject),
        relation=relation,
        object=None if is_literal else name,
        object_type=None if is_literal else kind,
        value=name if is_literal else None,
        confidence=initial_confidence(Mechanism.EXPLICIT, hedge, flags, is_wish=relation in _WISHES),
        start=min(tokens[subject.start].start, tokens[fill.start].start, tokens[clause.verb.start].start),
        end=end,
        temporal_type=_temporal_type(pattern, relation, flags),
        polarity=polarity,
        attribute=_attribute(reading, spec.attribute, slots) if relation == "has_attribute" else None,
        over=_object(reading, over[0], relation, None)[0] if over and relation == "prefers" else None,
        valid_from=since.day if since else None,
        valid_precision=since.precision if since else None,
        hedge_level=hedge,
        flags=flags,
        privacy_level=PrivacyLevel.PII if relation in _PII else PrivacyLevel.PERSONAL,
        pattern_id=pattern.pattern_id,
    )


def _object(
    reading: Reading, fill: Fill, relation: str, forced: EntityType | None, is_past: bool = False
) -> tuple[str, EntityType]:
    if fill.when is not None:
        return _date_value(reading, fill, relation, is_past), EntityType.CONCEPT
    if fill.text is not None:
        return fill.text, forced or EntityType.CONCEPT
    expected = forced or EXPECTED_OBJECT.get(relation)
    if fill.phrase is None:
        name = joined_text(reading, fill.start, fill.end)
        return name, forced or EXPECTED_OBJECT.get(relation) or guess_type(name)
    meant = refer(reading, fill.phrase)
    if meant.kin:
        return meant.name, meant.entity_type
    return meant.name, forced or guess_type(meant.name, expected)


def _date_value(reading: Reading, fill: Fill, relation: str, is_past: bool) -> str:
    """ISO; a birthday without its year is `05-04`, as no year may be made up."""
    assert fill.when is not None
    when = past_of(fill.when, reading.written_on) if is_past and relation != "scheduled_for" else fill.when
    iso = when.iso()
    has_year = any(iso[:4] in token.low for token in reading.tokens[fill.start : fill.end])
    return iso[5:] if relation == "has_birthday" and not has_year else iso


def _subject_type(subject: Referent) -> EntityType:
    return subject.entity_type if subject.entity_type is not EntityType.CONCEPT else guess_type(subject.name)


def _flags(mods: Modifiers, relation: str, *, is_own: bool) -> tuple[Flag, ...]:
    flags = []
    if relation == "might_be_interested_in":
        flags.append(Flag.HYPOTHETICAL)
    if mods.is_sarcastic and relation == "dislikes":
        flags.append(Flag.SARCASM_DETECTED)
    if mods.is_abandoned:
        flags.append(Flag.ABANDONED_INTENT)
    if mods.is_secondhand and not is_own:
        flags.append(Flag.SECONDHAND)
    if mods.is_venting and is_own and relation in _WISHES | {"dislikes", "feels"}:
        flags.append(Flag.EMOTIONAL_STATE)
    return tuple(flags)


def _temporal_type(pattern: Pattern, relation: str, flags: tuple[Flag, ...]) -> TemporalType:
    if Flag.EMOTIONAL_STATE in flags and relation not in _WISHES:
        return TemporalType.EPISODE
    if pattern.spec.temporal_type is not None and relation == pattern.spec.relation:
        return pattern.spec.temporal_type
    return USUAL_TEMPORAL_TYPE.get(relation, TemporalType.STATE)


def _valid_from(reading: Reading, pattern: Pattern, clause: Clause, polarity: int) -> PartialDate | None:
    """The date since when it holds: `since 2019` for states, the date of the event where the pattern states one."""
    if pattern.spec.dates == "none" or polarity < 0 or pattern.is_literal:
        return None
    stop = clause.right
    if pattern.spec.dates == "since" and not clause.verb.has_begun:
        found = find_since(reading.tokens, clause.verb.end, stop, reading.written_on)
        return found or find_since(reading.tokens, clause.left, clause.lead, reading.written_on)
    found = find_date(reading.tokens, clause.verb.end, stop, reading.written_on) or find_date(
        reading.tokens, clause.left, clause.lead, reading.written_on
    )
    return past_of(found, reading.written_on) if found and clause.verb.is_past else found


def _attribute(reading: Reading, key: str | None, slots: dict[str, list[Fill]]) -> str | None:
    """The attribute's key: as the pattern gives it, or `=slot` for the words in a slot."""
    if key is None or not key.startswith("="):
        return key
    fill = slots[key[1:]][0]
    return joined_text(reading, fill.phrase.first if fill.phrase else fill.start, fill.end).lower()


def speaker(name: str, token: int) -> Referent:
    """The one whose turn it is."""
    return Referent(name, EntityType.PERSON, token, token + 1, is_own=True)
