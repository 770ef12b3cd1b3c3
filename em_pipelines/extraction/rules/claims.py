"""From a matched frame to claims: what polarity, flags, dates, types and confidence the clause gives them.

The same for every pattern, so that a pattern file says only what its words mean. Here as well: the notes that keep each
claim and mention of a message once.
"""

from dataclasses import replace
from functools import partial
from typing import NamedTuple

from em_pipelines.extraction.rules.matching import Match
from em_pipelines.extraction.rules.names import Reading
from em_pipelines.extraction.rules.patterns import Pattern
from em_pipelines.extraction.rules.people import (
    Referent,
    couple_relation,
    is_of_another,
    joined_text,
    kin_name,
    refer,
)
from em_pipelines.extraction.rules.slots import Fill, held_before
from em_pipelines.language.dates.calendar_spans import Tense
from em_pipelines.language.dates.partial_dates import PartialDate
from em_pipelines.language.en.clauses import Clause
from em_pipelines.language.en.dates import find_date, find_since, read_date
from em_pipelines.language.en.lexicon import EXPECTED_OBJECT, guess_type
from em_pipelines.language.en.tense import tense_in
from em_pipelines.language.en.tokens import Token
from em_pipelines.schema.readings import Claim, Mention, initial_confidence
from em_pipelines.schema.vocabulary import (
    KEYED,
    LITERAL_OBJECT,
    RELATIONS_BY_GROUP,
    USUAL_TEMPORAL_TYPE,
    Act,
    EntityType,
    Flag,
    HedgeLevel,
    Mechanism,
    TemporalType,
)

_PREFERENCES = frozenset(RELATIONS_BY_GROUP["preference"])
_WISHES = frozenset({"wants", "needs", "plans", "decided"})
_OPINIONS = _PREFERENCES | _WISHES
_VENTED = _WISHES | {"dislikes", "feels"}
_MIGHT = frozenset(
    {"wants", "likes", "needs", "plans", "owns", "prefers", "interested_in", "has_pet", "uses", "studies"}
)
_INTEREST = "might_be_interested_in"
_STANDINGS = frozenset({"works_as", "is_a", "member_of"})
_LATE_HEDGE = frozenset({"might", "may"})


class Notes:
    """Claims and mentions of one message, in the order in which they were read; `subject` is whose turn it is."""

    def __init__(self, tokens: list[Token], turn_number: int, subject: str) -> None:
        self.tokens = tokens
        self.turn_number = turn_number
        self.subject = subject
        self.claims: list[Claim] = []
        self.mentions: list[Mention] = []
        self._seen: set[tuple[object, ...]] = set()

    def mention(self, name: str, kind: EntityType, start: int, end: int) -> None:
        """Notes what tokens start to end name; the speaker is no mention."""
        tokens = self.tokens
        key = ("mention", name.casefold())
        if name == self.subject or key in self._seen:
            if kind is EntityType.PERSON:
                self.type_anew(name)
            return
        self._seen.add(key)
        self.mentions.append(Mention(self.turn_number, name, kind, tokens[start].start, tokens[end - 1].end))

    def type_anew(self, name: str) -> None:
        """Makes a person of what nothing was known of at its first mention."""
        for n, mention in enumerate(self.mentions):
            if mention.entity_type is EntityType.CONCEPT and mention.name == name and name[:1].isupper():
                self.mentions[n] = replace(mention, entity_type=EntityType.PERSON)

    def add(self, claim: Claim) -> None:
        """Keeps a claim once: what is said twice in a message is one fact."""
        key = (
            claim.subject,
            claim.relation,
            (claim.object or claim.value or "").casefold(),
            claim.attribute if claim.relation in LITERAL_OBJECT else None,
            claim.polarity,
        )
        if key not in self._seen and claim.subject != claim.object:
            self._seen.add(key)
            self.claims.append(claim)


class _Said(NamedTuple):
    relation: str
    polarity: int


def build_claims(match: Match, turn_number: int) -> list[Claim]:
    """One claim for each subject and filler of the object slot; none where the clause cannot carry the relation."""
    said = _said(match)
    if said is None:
        return []
    made = (_claim(match, said, subject, fill, turn_number) for subject in match.subjects for fill in match.objects)
    return [claim for claim in made if claim is not None]


def _said(match: Match) -> _Said | None:
    """What the clause states, given its negation, condition and mockery; None where nothing that is kept."""
    stated = _given_negation(match)
    if stated is not None:
        stated = _given_condition(match, stated)
    if stated is None or (match.mods.is_abandoned and stated.relation not in _WISHES):
        return None
    return _given_mockery(match, stated)


def _given_negation(match: Match) -> _Said | None:
    """`No longer like` ends a liking, `don't like` is a dislike."""
    spec = match.pattern.spec
    needs_negation = "negation" in spec.needs
    if match.mods.has_ended and not needs_negation:
        return _Said(spec.relation, -spec.polarity) if spec.relation != "feels" else None
    if needs_negation or not (match.clause.verb.is_negated or _has_no(match)):
        return _Said(spec.relation, spec.polarity)
    if spec.negated == "drop":
        return None
    if spec.negated == "negate":
        return _Said(spec.relation, -spec.polarity)
    return _Said(spec.negated, 1)


def _has_no(match: Match) -> bool:
    """`have no car`: the object denies."""
    phrase = match.objects[0].phrase if match.objects else None
    return phrase is not None and phrase.det in {"no", "neither"}


def _given_condition(match: Match, stated: _Said) -> _Said | None:
    """Under a condition a wish, a liking or a having with a modal verb is an interest, and all else nothing."""
    modal = match.clause.verb.modal
    is_real = not match.mods.is_hypothetical or (modal is None and stated.relation in _PREFERENCES)
    if is_real or stated.relation == _INTEREST:
        return stated
    is_interest = stated.relation in _MIGHT and modal is not None and not match.pattern.is_literal
    return _Said(_INTEREST, 1) if is_interest else None


def _given_mockery(match: Match, stated: _Said) -> _Said | None:
    """The speaker's own praise is a dislike where it is mocked; other opinions are nothing."""
    mods = match.mods
    if not (mods.is_sarcastic or mods.is_doubtful):
        return stated
    is_praise = stated.relation == "likes" and stated.polarity > 0
    if mods.is_sarcastic and is_praise and all(map(_is_speaker, match.subjects)):
        return _Said("dislikes", stated.polarity)
    return None if stated.relation in _OPINIONS else stated


def _is_speaker(subject: Referent) -> bool:
    return subject.is_own and not subject.kin


def _claim(match: Match, stated: _Said, subject: Referent, fill: Fill, turn_number: int) -> Claim | None:
    spec, clause, relation = match.pattern.spec, match.clause, stated.relation
    fill, polarity = _turned(match, stated, fill)
    is_over = clause.verb.is_past and relation != "scheduled_for"
    if spec.object == "companion" and clause.companion is not None:
        relation = couple_relation(match.reading, clause.companion, relation)
    name, kind = _object(match.reading, fill, relation, spec.object_type, is_over, subject.name)
    is_of_theirs = is_of_another(subject, fill.phrase, is_lost=relation == "owns" and polarity < 0)
    if is_of_theirs or _is_empty(match.reading, relation, subject, name) or _is_no_more(match, subject):
        return None
    flags = _flags(match, relation, is_own=_is_speaker(subject))
    hedge = HedgeLevel.STRONG if clause.verb.modal in _LATE_HEDGE else match.mods.hedge
    since = _valid_from(match, relation, polarity)
    if spec.dates == "ahead" and (since is None or fill.end - fill.start == 1):
        return None
    start, end = _span(match, subject, fill)
    claim = Claim(
        turn_number=turn_number,
        subject=subject.name,
        subject_type=_subject_type(match, subject),
        relation=relation,
        object=name,
        object_type=kind,
        value=None,
        confidence=initial_confidence(Mechanism.EXPLICIT, hedge, flags, is_wish=relation in _WISHES),
        start=start,
        end=end,
        temporal_type=_temporal_type(match.pattern, relation, flags),
        polarity=polarity,
        attribute=_attribute(match, relation),
        over=_over(match, relation),
        valid_from=since.day if since else None,
        valid_precision=since.precision if since else None,
        hedge_level=hedge,
        flags=flags,
        pattern_id=match.pattern.pattern_id,
    )
    if spec.ends:
        return replace(claim, object=None, object_type=None, value=name, polarity=-1, act=Act.END)
    return replace(claim, object=None, object_type=None, value=name) if relation in LITERAL_OBJECT else claim


def _turned(match: Match, stated: _Said, fill: Fill) -> tuple[Fill, int]:
    """The object and the polarity: `a former nurse` is no nurse now, `three bikes and no car` denies the car."""
    polarity = stated.polarity
    held = held_before(match.reading, fill) if stated.relation in _STANDINGS else None
    if held is not None:
        fill, polarity = held, -polarity
    is_denied = fill.phrase is not None and fill.phrase.det == "no" and not _has_no(match)
    return fill, -polarity if is_denied else polarity


def _is_no_more(match: Match, subject: Referent) -> bool:
    """Whether it is said of a pet without a name that it died: `our dog` is then one that there is none of."""
    return match.pattern.spec.value is not None and subject.entity_type is EntityType.ANIMAL and subject.is_unnamed


def _is_empty(reading: Reading, relation: str, subject: Referent, name: str) -> bool:
    """Whether the other end is missing, is the subject itself, or a date for plans that lies behind."""
    if not name or name.casefold() == subject.name.casefold():
        return True
    return relation == "scheduled_for" and name < reading.written_on.isoformat()[: len(name)]


def _span(match: Match, subject: Referent, fill: Fill) -> tuple[int, int]:
    """The characters from the first word of subject, verb or object to the end of what the claim says."""
    tokens, verb = match.reading.tokens, match.clause.verb
    start = min(tokens[subject.start].start, tokens[fill.start].start, tokens[verb.start].start)
    return start, tokens[max(fill.end, verb.end) - 1].end


def _object(  # noqa: PLR0913  (all that the words of an object hang on)
    reading: Reading, fill: Fill, relation: str, forced: EntityType | None, is_past: bool = False, owner: str = ""
) -> tuple[str, EntityType]:
    """Name and type of the other end; no name for a role of which it is unclear whose it is."""
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
        return kin_name(reading, meant, fill.phrase, relation, owner), meant.entity_type
    return meant.name, forced or guess_type(meant.name, expected)


def _date_value(reading: Reading, fill: Fill, relation: str, is_past: bool) -> str:
    """ISO; a birthday without its year is `05-04`, as no year may be made up."""
    assert fill.when is not None
    is_over = is_past and relation != "scheduled_for"
    past = read_date(reading.tokens, fill.start, fill.end, reading.written_on, Tense.PAST) if is_over else None
    iso = (past[0] if past is not None else fill.when).iso()
    has_year = any(iso[:4] in token.low for token in reading.tokens[fill.start : fill.end])
    return iso[5:] if relation == "has_birthday" and not has_year else iso


def _subject_type(match: Match, subject: Referent) -> EntityType:
    if match.pattern.spec.subject_type is not None:
        return match.pattern.spec.subject_type
    return subject.entity_type if subject.entity_type is not EntityType.CONCEPT else guess_type(subject.name)


def _flags(match: Match, relation: str, *, is_own: bool) -> tuple[Flag, ...]:
    mods = match.mods
    signs = (
        (Flag.ATTRIBUTION_UNCERTAIN, match.clause.is_uncertain),
        (Flag.HYPOTHETICAL, relation == _INTEREST),
        (Flag.SARCASM_DETECTED, mods.is_sarcastic and relation == "dislikes"),
        (Flag.ABANDONED_INTENT, mods.is_abandoned),
        (Flag.SECONDHAND, mods.is_secondhand and not is_own),
        (Flag.EMOTIONAL_STATE, mods.is_venting and is_own and relation in _VENTED),
    )
    flags = [flag for flag, holds in signs if holds]
    return tuple(dict.fromkeys((*flags, *match.pattern.spec.flags)))


def _temporal_type(pattern: Pattern, relation: str, flags: tuple[Flag, ...]) -> TemporalType:
    if Flag.EMOTIONAL_STATE in flags and relation not in _WISHES:
        return TemporalType.EPISODE
    if pattern.spec.temporal_type is not None and relation == pattern.spec.relation:
        return pattern.spec.temporal_type
    return USUAL_TEMPORAL_TYPE.get(relation, TemporalType.STATE)


def _valid_from(match: Match, relation: str, polarity: int) -> PartialDate | None:
    """The date since when it holds: `since 2019` for states, the date of the event where the pattern states one, also
    of what ended something; of a plan or wish the day ahead that it is for. A plan has no day that is past."""
    spec, clause, reading = match.pattern.spec, match.clause, match.reading
    is_undated = match.pattern.is_literal and spec.value is None
    if spec.dates == "none" or is_undated or (polarity < 0 and spec.dates != "when"):
        return None
    is_wish, is_since = relation in _WISHES, spec.dates == "since" and not clause.verb.has_begun
    # "we want to go there for a week" says how long, not since when.
    since = _since_in(clause, reading) if is_since and (clause.verb.is_perfect or not is_wish) else None
    if is_wish:
        return _ahead(since or _date_in(clause, reading, Tense.FUTURE), relation, reading)
    return since if is_since else _date_in(clause, reading)


def _ahead(when: PartialDate | None, relation: str, reading: Reading) -> PartialDate | None:
    """The day of a plan; that since when something is wished is kept as well."""
    is_past = when is not None and when.last_day() < reading.written_on
    return None if is_past and USUAL_TEMPORAL_TYPE[relation] is TemporalType.PLAN else when


def _since_in(clause: Clause, reading: Reading) -> PartialDate | None:
    """Since when, after the verb or before the clause begins."""
    tokens, day = reading.tokens, reading.written_on
    return find_since(tokens, clause.verb.end, clause.right, day) or find_since(tokens, clause.left, clause.lead, day)


def _date_in(clause: Clause, reading: Reading, tense: Tense | None = None) -> PartialDate | None:
    """The date after the verb, or before the clause begins, by the tense of the clause unless another is given."""
    tokens, day, at = reading.tokens, reading.written_on, tense or partial(tense_in, clause, reading.tokens)
    found = find_date(tokens, clause.verb.end, clause.right, day, at)
    return found or find_date(tokens, clause.left, clause.lead, day, at)


def _attribute(match: Match, relation: str) -> str | None:
    """The attribute's key: as the pattern gives it, with `=slot` at its end for the words in a slot, if it has some."""
    key = match.pattern.spec.attribute if relation in KEYED else None
    if key is None or "=" not in key:
        return key
    given, _, slot = key.partition("=")
    fills = match.slots.get(slot, ())
    said = (joined_text(match.reading, f.phrase.first if f.phrase else f.start, f.end) for f in fills)
    return next((given + words.lower() for words in said), None)


def _over(match: Match, relation: str) -> str | None:
    """What the object is preferred to."""
    over = match.slots.get("over")
    return _object(match.reading, over[0], relation, None)[0] if over and relation == "prefers" else None
