"""What tools take and give, as their clients see it: fields with meanings, bounds on everything."""

from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, WithJsonSchema

from em_pipelines.schema.near_names import hint
from em_pipelines.schema.vocabulary import RELATIONS

MAX_TEXT = 20_000
MAX_NAME = 500
MAX_MESSAGES = 500
MAX_FACTS = 100


def _known_relation(name: str) -> str:
    if name not in RELATIONS:
        meant = hint(name, RELATIONS)
        allowed = ", ".join(sorted(RELATIONS))
        raise ValueError(
            f"{name!r:.80} is no relation of the vocabulary; {f'{meant} ' if meant else ''}there are {allowed}"
        )
    return name


Text = Annotated[str, Field(max_length=MAX_TEXT)]
Name = Annotated[str, Field(max_length=MAX_NAME)]
Share = Annotated[float, Field(ge=0, le=1)]
Query = Annotated[str, Field(max_length=MAX_TEXT, description="What is asked or was just said, in words.")]
Relation = Annotated[
    str, AfterValidator(_known_relation), WithJsonSchema({"type": "string", "enum": sorted(RELATIONS)})
]
"""One of the closed vocabulary: clients see all of them, and a wrong one is met with the nearest."""
SessionId = Annotated[str, Field(max_length=256, description="The conversation, the same name each time.")]
Kind = Annotated[Literal["contacts", "calendar", "notes"], Field(description="What it was imported from.")]
AsOf = Annotated[date | None, Field(description="Answer as of the end of this day (YYYY-MM-DD); today if left out.")]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid")


class HitShown(BaseModel):
    """Something that was found: a message that was said, a fact, or an experience: what has recurred."""

    kind: str = Field(description="message, fact or experience")
    text: str
    score: float
    said_on: date
    session_id: str | None
    turn_number: int | None
    edge_id: str | None = Field(description="Id of a fact, for em_get_provenance and em_user_correction.")
    speaker: str | None
    conflicts_with: list[str] = Field(description="Ids of facts that cannot hold beside it.")
    shown: str = Field(description="The text with what words such as yesterday meant behind them, as YYYY-MM-DD.")
    path: list[str] = Field(description="How it was reached from what was found: turns, names and ids of facts.")
    experience_id: str | None = Field(description="Id of an experience; said_on is when it was last seen.")


class Found(BaseModel):
    """Hits, best first: messages, facts that answer among them, then other facts, then experiences."""

    hits: list[HitShown]


class ContextShown(BaseModel):
    """A block for the prompt, and what it was made of."""

    text: str = Field(description="The experience_context block: put it before the question.")
    n_tokens: int
    edge_ids: list[str] = Field(description="Facts in it; report those that you used as recalled.")
    turns: list[tuple[str, int]] = Field(description="Session and turn of the messages quoted in it.")
    experience_ids: list[str] = Field(description="Experiences in it.")
    probe_ids: list[str] = Field(description="The question to ask in it, if any; report what became of it.")


class StartShown(BaseModel):
    """What a session should start with."""

    text: str = Field(description="Fewer than 50 lines of Markdown; empty where nothing is known or can be read.")
    n_lines: int


class Gated(BaseModel):
    """Whether to look into memory before answering."""

    recall: bool
    reason: str = Field(
        description="last_time, own_past, known, error_retry, unsure, dissonance, not_needed or nothing_known"
    )


class FactShown(BaseModel):
    """A fact as readers see it."""

    edge_id: str
    subject: str
    relation: str
    object: str
    statement: str | None = Field(description="The fact in the words of a turn that says it.")
    polarity: int
    confidence: float
    status: str
    valid_from: str | None
    valid_to: str | None


class ProbeShown(BaseModel):
    """A question that memory would like to ask."""

    probe_id: str
    kind: str
    text: str
    benefit: str = Field(description="What the person gains by an answer.")
    value: float
    context_tags: list[str]
    edge_id: str | None
    expires_at: datetime


class Probes(BaseModel):
    """Probes that may be asked now, worth most first; where there are none, why not."""

    probes: list[ProbeShown]
    reason: str | None = Field(description="Why nothing is offered; null where something is.")
    until: datetime | None = Field(description="From when on that reason no longer holds, where it is known.")


class StarterShown(BaseModel):
    """How memory would like to open a conversation."""

    starter_id: str
    kind: str
    text: str
    value: float
    context_tags: list[str]
    occasion_on: date | None
    expires_at: datetime


class Starters(BaseModel):
    """Starters that may be said now, worth most first; where there are none, why not."""

    starters: list[StarterShown]
    reason: str | None = Field(description="Why nothing is offered; null where something is.")
    until: datetime | None = Field(description="From when on that reason no longer holds, where it is known.")


class ReportedMessage(_Form):
    """One message of a conversation."""

    role: Literal["user", "assistant", "system", "tool"] = Field(description="Who spoke; facts are the user's alone.")
    content: str = Field(max_length=200_000)
    turn_number: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="Its number in the conversation; first_turn plus its place in the list if left out."
    )
    timestamp: AwareDatetime | None = Field(default=None, description="When it was said, with offset; now if left out.")
    speaker: Name | None = None
    tags: list[str] = Field(default_factory=list, max_length=32)
    memory_type: Literal["observation", "decision", "learning", "event"] | None = None


class ProbeOutcome(_Form):
    """What became of a probe."""

    probe_id: str = Field(min_length=1, max_length=MAX_NAME)
    outcome: Literal["delivered", "accepted", "ignored", "deflected"]


class StarterOutcome(_Form):
    """What became of a starter."""

    starter_id: str = Field(min_length=1, max_length=MAX_NAME)
    outcome: Literal["delivered", "engaged", "dismissed"]


class WithheldShown(BaseModel):
    """What the safety checks withhold of a message. No word of it is repeated."""

    turn_number: int
    reasons: dict[str, int] = Field(description="How many of its sentences no fact is learned from, by reason.")


class Reported(BaseModel):
    """What became of a report."""

    n_new: int = Field(description="Messages that were stored now.")
    n_known: int = Field(description="Messages that had been stored before: a report may be repeated.")
    n_erased: int = Field(description="Messages that were forgotten before and stay away.")
    turns: list[int]
    feedback_ids: list[str]
    withheld: list[WithheldShown] = Field(description="Messages of which the safety checks withhold something.")


class Corrected(BaseModel):
    """What a correction was about, and what readers see from now on."""

    feedback_id: str
    before: list[FactShown]
    now: list[FactShown]
    notes: list[str] = Field(
        description="What the user should be told: that nothing known fitted, that a name is new and what it is near."
    )


class FactGiven(_Form):
    """A fact, already extracted."""

    relation: Relation = Field(description="Of the closed vocabulary.")
    object: str = Field(min_length=1, max_length=MAX_NAME)
    subject: str = Field(default="user", min_length=1, max_length=MAX_NAME, description="user: the remembered person.")
    attribute: Name | None = Field(default=None, description="The key, of has_attribute.")
    polarity: Literal[1, -1] = 1
    temporal_type: Literal["attribute", "trait", "state", "wish", "plan", "episode"] | None = None
    confidence: Share | None = Field(default=None, description="At most 0.90 counts; 0.80 if left out.")
    statement: Name | None = Field(
        default=None, description="The fact in one short sentence, with cause, purpose or amount: 160 characters count."
    )


class Added(BaseModel):
    """What became of added facts."""

    feedback_id: str
    facts: list[FactShown] = Field(
        description="Those that readers see now; a fact that the safety checks refuse is not."
    )


class ImportedShown(BaseModel):
    """A fact that was read from contacts, a calendar or notes, and counts when the person has accepted it."""

    seed_id: str = Field(description="For em_review_imported.")
    kind: Kind
    file: str | None
    line: int | None = Field(description="Line of its entry in the file, from 1.")
    is_withheld: bool = Field(description="Kept away by the safety checks, whoever accepts it: its words are null.")
    subject: str | None
    relation: str | None
    object: str | None
    attribute: str | None
    statement: str | None
    polarity: int | None
    confidence: float | None


class ImportedFound(BaseModel):
    """A page of imported facts, by file and line."""

    facts: list[ImportedShown]
    n_items: int = Field(description="On all pages.")
    next_offset: int | None = Field(description="offset of the next page; null after the last")


class Decided(BaseModel):
    """What became of a decision on imported facts."""

    decided: list[str] = Field(description="Ids of those that were accepted or turned away.")
    withheld: list[str] = Field(description="Ids of those that the safety checks keep away; they wait still.")


class GraphShown(BaseModel):
    """A page of the graph."""

    nodes: list[dict[str, Any]] = Field(
        description="name, entity_id, entity_type, aliases, n_mentions (null in a domain)"
    )
    edges: list[dict[str, Any]] = Field(description="facts: subject and object are names of nodes, unless is_literal")
    n_items: int = Field(description="Edges, and names without any, on all pages.")
    next_offset: int | None = Field(description="offset of the next page; null after the last")
    n_old: int = Field(
        description="Facts that are not listed: stated long ago, perhaps out of date; em_context has them."
    )
    n_faded: int = Field(description="Facts that are not listed, or unsure, for they have faded or expired.")


class Deleted(BaseModel):
    """What became of a request to erase."""

    status: Literal["erased", "nothing_found", "pending", "preview"] = Field(
        description="pending: hidden from now on; the run that is at work carries it out"
    )
    facts: list[str] = Field(description="Of a preview: the facts that would go.")
    certificate: dict[str, Any] | None = Field(description="Proof of what was erased, without a word of it.")
    request_id: str | None


class FindingShown(BaseModel):
    """Characters [start, end) of the text that its audience should not see."""

    start: int
    end: int
    kind: str = Field(description="fact, secret, contact, birthday, health, financial or identity_document")
    privacy_level: str = Field(description="L2 personal, L3 identifying, L4 for nobody")
    edge_id: str | None
    detail: str


class Checked(BaseModel):
    """Whether a text may go out as it is."""

    is_safe: bool
    findings: list[FindingShown]
