"""What is read in messages: turns and segments, the mentions and claims in them, and how sure a claim is at first.

Plain objects without ids: `em_pipelines.extraction.assemble` gives them ids and turns them into table rows.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from typing import Protocol

from em_pipelines.schema.rows import CallRow
from em_pipelines.schema.vocabulary import (
    TOPIC,
    Act,
    EntityType,
    Flag,
    HedgeLevel,
    Mechanism,
    PrivacyLevel,
    TemporalType,
)


@dataclass(frozen=True, slots=True)
class Withheld:
    """Characters of a message that the guard takes out, and why: an issue by its name, reason and severity."""

    span_start: int
    span_end: int
    issue: str
    reason: str
    severity: str = "info"


@dataclass(frozen=True, slots=True)
class Sentence:
    """Characters of a message that make a sentence. `confidence` is how probably it is worth keeping, 0 to 1; `kind` is
    the kind of observation, None where it is not worth keeping."""

    span_start: int
    span_end: int
    kind: str | None
    confidence: float


@dataclass(frozen=True, slots=True)
class Turn:
    """One message as an extractor sees it.

    `subject` is whose facts the message states: `user`, another human's name, or None where it states nobody's
    (the assistant, tools, the system). `timestamp` has an offset; relative dates are resolved against it.
    `withheld` is what the guard found in the text; None: it has not looked yet. `language` is that of the text, as ISO
    639-1; None: undecided. `note_privacy` is, of an imported note, the least privacy level of what it says. `sentences`
    are those of the text with their labels; of a turn that states nobody's facts there need be none.
    """

    message_id: str
    turn_number: int
    role: str
    subject: str | None
    text: str
    timestamp: datetime
    has_code: bool = False
    entities_mentioned: tuple[str, ...] = ()
    withheld: tuple[Withheld, ...] | None = None
    language: str | None = None
    note_privacy: str | None = None
    sentences: tuple[Sentence, ...] = ()
    speaker: str | None = None
    """The name by which others call whoever speaks, of the user as well; None where the log has none."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Consecutive turns of one session; `context` holds earlier turns of it, to be read but not extracted from."""

    segment_id: str
    user_id: str
    session_id: str
    channel: str
    turns: tuple[Turn, ...]
    context: tuple[Turn, ...] = ()
    trust: str = "trusted"
    is_pasted_elsewhere: bool = False
    """Whether another day of the session held pasted blocks."""
    project: str | None = None
    """What is worked on where a coding agent took part: the domain of the turns; None elsewhere."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A thing named in one turn; spans count characters of that turn's text, from 0.

    `role` is the unique role by which a name is given as well ("wife" of "my wife Lena"): from then on both words are
    one entity. Roles that several people can have (sister, friend) are no names and stay out.
    """

    turn_number: int
    name: str
    entity_type: EntityType
    start: int
    end: int
    is_explicit: bool = True
    role: str | None = None


MAX_STATEMENT_CHARACTERS = 160
"""Of a fact in the words of the turn: a short sentence."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One fact stated in one turn.

    Exactly one of `object` (the name of an entity) and `value` (a literal) is set. `attribute` is the key of
    has_attribute, of likes the kind of which the object is the favourite ("favourite colour"), of has_name that it is a
    nickname, and None elsewhere.
    `valid_precision` is day, month or year where `valid_from` or `valid_to` is set.
    `act` is retract where the message asks to forget the fact ("forget what I said about …"), else assert. `statement`
    says the fact in the words of the turn, with what the other fields cannot hold; None: nobody has worded it yet.
    """

    turn_number: int
    subject: str
    subject_type: EntityType
    relation: str
    object: str | None
    object_type: EntityType | None
    value: str | None
    confidence: float
    start: int
    end: int
    temporal_type: TemporalType
    polarity: int = 1
    attribute: str | None = None
    over: str | None = None
    valid_from: date | None = None
    valid_to: date | None = None
    valid_precision: str | None = None
    hedge_level: HedgeLevel = HedgeLevel.NONE
    source_mechanism: Mechanism = Mechanism.EXPLICIT
    flags: tuple[Flag, ...] = ()
    context_tags: tuple[str, ...] = ()
    privacy_level: PrivacyLevel = PrivacyLevel.PERSONAL
    requires_verification: bool = False
    pattern_id: str | None = None
    act: Act = Act.ASSERT
    statement: str | None = None


@dataclass(frozen=True, slots=True)
class Issue:
    """A doubt, or a message skipped (`issue` = "skipped") and why. `detail` never repeats the message's text."""

    turn_number: int
    issue: str
    reason: str
    severity: str = "info"
    detail: str = ""


ENGLISH = "en"
"""The language that rules read."""
UNTRUSTED_SESSION = "untrusted_session"
"""Why nothing durable is read in a message: something of its conversation came from outside."""
OTHER_LANGUAGE = "other_language"
"""Why rules skip a message that waits for a model; the detail of the issue is its language, as ISO 639-1."""
TOO_LONG = "too_long"
"""Why the end of a message was not read."""
PENDING = "pending"
"""The issue of a message that a later run will read."""
DEAD_LETTER = "dead_letter"
"""The issue of a message whose answers could not be used, however it was asked for."""
HALLUCINATIONS = (
    "span",
    "count",
    "orphan_relation",
    "confidence_anomaly",
    "context_bleed",
    "repetition",
    "template_leak",
    "out_of_vocabulary",
    "dangling_reference",
    "clause_as_name",
    "many_refused",
    "unsupported_statement",
    "polarity_disagrees",
    "subject_disagrees",
    "relation_disagrees",
)
"""The issues that verification finds, named like its checks."""
UNSUPPORTED = ("span", "orphan_relation", "template_leak")
"""Those of them that are inventions: what no turn says, and was refused."""


class Outcome(StrEnum):
    """How the reading of a segment ended."""

    COMPLETE = "complete"
    PENDING = "pending"
    """Nobody could be asked (a model is down, a budget spent, a batch under way): a later run reads it."""
    FAILED = "failed"
    """Asked as often as is sensible without a whole answer: a dead letter. What could be salvaged is kept."""


@dataclass(slots=True)
class Extraction:
    """Everything read in one segment. Each of its turns has a mention, a claim or an issue, so that none is lost.

    `reason` says why a reading is not complete, in a word. `calls` are rows of the table llm_calls.
    """

    mentions: list[Mention] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)
    outcome: Outcome = Outcome.COMPLETE
    reason: str = ""
    calls: list[CallRow] = field(default_factory=list)


class Extractor(Protocol):
    """Reads segments. What a segment gives depends on the segment and the version alone."""

    @property
    def name(self) -> str:
        """`rules` or `llm`."""

    @property
    def version(self) -> str:
        """Changes whenever the same segment could be read differently."""

    def extract_all(self, segments: Iterable[Segment]) -> Iterator[Extraction]:
        """Reads segments, one extraction each, in their order; never raises for what a message says."""

    def prepare(self, segments: Iterable[Segment]) -> None:
        """Hears of segments that `extract_all` will be asked for, many days of them at once. Free to do nothing."""


class LocalExtractor(ABC):
    """Base of extractors that ask nobody: they read one segment after the other, and always to the end."""

    @abstractmethod
    def extract(self, segment: Segment) -> Extraction:
        """Reads one segment."""

    def extract_all(self, segments: Iterable[Segment]) -> Iterator[Extraction]:
        """Reads segments as they are asked for."""
        return map(self.extract, segments)

    def prepare(self, segments: Iterable[Segment]) -> None:  # noqa: B027  (empty on purpose: who asks nobody may)
        """Needs no preparation."""


EXPLICIT_BY_HEDGE: dict[HedgeLevel, float] = {
    HedgeLevel.NONE: 0.90,
    HedgeLevel.SLIGHT: 0.80,
    HedgeLevel.MODERATE: 0.65,
    HedgeLevel.STRONG: 0.45,
}
BY_MECHANISM: dict[Mechanism, float] = {
    Mechanism.USER_CORRECTION: 1.00,
    Mechanism.OBSERVATIONAL: 0.80,
    Mechanism.IMPORTED: 0.70,
    Mechanism.INFERENTIAL: 0.60,
    Mechanism.REFLECTIVE: 0.60,
    Mechanism.SHARED: 0.30,
}
NOTE_CONFIDENCE = 0.60
"""The most that an imported note is believed (specification, 1.3)."""
CEILINGS: dict[Flag, float] = {
    Flag.HYPOTHETICAL: 0.20,
    Flag.EMOTIONAL_STATE: 0.30,
    Flag.ABANDONED_INTENT: 0.30,
    Flag.ATTRIBUTION_UNCERTAIN: 0.50,
}
FACTORS: dict[Flag, float] = {Flag.SECONDHAND: 0.8, Flag.SARCASM_DETECTED: 0.7}


def initial_confidence(
    mechanism: Mechanism, hedge: HedgeLevel, flags: tuple[Flag, ...] = (), *, is_wish: bool = True
) -> float:
    """Returns the confidence, 0 to 1, of a claim when it is first made.

    The table value of the mechanism (of the hedge, for explicit statements), cut to the ceiling of a hypothetical, a
    wish voiced while venting, an intent given up at once or an uncertain attribution, times the factors of secondhand
    and sarcasm. The venting ceiling holds for wishes only: the feeling itself is stated plainly, so pass
    `is_wish=False` for it.
    """
    base = EXPLICIT_BY_HEDGE[hedge] if mechanism is Mechanism.EXPLICIT else BY_MECHANISM[mechanism]
    for flag, ceiling in CEILINGS.items():
        if flag in flags and (is_wish or flag is not Flag.EMOTIONAL_STATE):
            base = min(base, ceiling)
    for flag, factor in FACTORS.items():
        if flag in flags:
            base *= factor
    return round(base, 6)


def retracted(claim: Claim, act: Act = Act.RETRACT) -> Claim:
    """Returns the claim that retracts what a claim states. One that names a thing and no fact (`TOPIC`) has the words
    for the thing as its value: which facts are meant is for the fold to say."""
    if claim.relation == TOPIC and claim.object is not None:
        claim = replace(claim, object=None, object_type=None, value=claim.object)
    return replace(
        claim,
        act=act,
        flags=(),
        hedge_level=HedgeLevel.NONE,
        confidence=initial_confidence(Mechanism.USER_CORRECTION, HedgeLevel.NONE),
        source_mechanism=Mechanism.USER_CORRECTION,
        valid_from=None,
        valid_to=None,
        valid_precision=None,
    )
