"""How far confidence can be believed: of claims that say 0.8 of themselves, are eight in ten right?

Takes claims that people have judged, each with the message it was read in, reads the messages anew, and compares how
sure the claims are with how many are right. Of conversations with labelled sentences it compares how probable the
classifier finds it that a sentence is worth keeping with how many labellers keep it.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from em_pipelines.errors import UsageError
from em_pipelines.governance.confidence_curve import Bin, curve, expected_error
from em_pipelines.language.sentence_labels import Utterance, labelled
from em_pipelines.schema.readings import Claim, Extractor, Segment, Turn
from em_pipelines.schema.vocabulary import USER

RIGHT, KEPT, NOT_KEPT = "correct", "worth keeping", "not worth keeping"
"""Verdicts on claims and on sentences that count as right, and that on other sentences."""
Labels = list[tuple[float, bool]]


class Judged(BaseModel):
    """One claim with a person's verdict, as a line of the file gives it. Other keys are for people and not read."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    user_id: str = Field(min_length=1)
    session_id: str = Field(min_length=1)
    turn_number: int = Field(ge=0)
    subject: str = Field(min_length=1)
    relation: str = Field(min_length=1)
    object: str = Field(min_length=1)
    polarity: int = 1
    said: str = Field(min_length=1)
    speaker: str = Field(min_length=1)
    verdict: str = Field(pattern=r"^(correct|trivial|wrong)$")
    confidence: float | None = Field(default=None, ge=0, le=1)
    timestamp: datetime = datetime(2024, 1, 1, tzinfo=UTC)

    @property
    def fact(self) -> tuple[str, str, str, int]:
        """What the claim says, for comparison."""
        return _fact(self.subject, self.relation, self.object, self.polarity)


class LabelledSentence(BaseModel):
    """A sentence with the labels of people: `keep KIND` or `no REASON`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    text: str
    labels: tuple[str, ...] = Field(min_length=1)


class LabelledTurn(BaseModel):
    """A turn of a labelled conversation; those of an assistant have no sentences."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    speaker: str = Field(min_length=1)
    text: str
    sentences: tuple[LabelledSentence, ...] = ()


class Conversation(BaseModel):
    """A conversation with labelled sentences, as a line of the file gives it (training/durable/GUIDELINES.md)."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    turns: tuple[LabelledTurn, ...]

    def judged(self) -> Iterator[tuple[float, bool]]:
        """The probability that each sentence is worth keeping, and whether a labeller keeps it: a pair each. Raises
        ValueError where the sentences of a turn are cut in another way than the splitter cuts them."""
        said = [
            Utterance(turn.text, turn.speaker, turn.speaker == "assistant", bool(turn.sentences)) for turn in self.turns
        ]
        for turn, labels in zip(self.turns, labelled(said), strict=True):
            if len(labels) != len(turn.sentences):
                raise ValueError(
                    f"found {len(turn.sentences)} sentences in a turn of {turn.speaker} that has {len(labels)}"
                )
            for sentence, label in zip(turn.sentences, labels, strict=True):
                yield from ((label.confidence, verdict.startswith("keep")) for verdict in sentence.labels)


@dataclass
class Calibration:
    """The curve, from unsure to sure, and its error: the mean distance of confidence and share, weighted by claims.
    A label of a sentence counts as a claim."""

    n_judged: int
    n_made: int
    """Of the judged claims, those that the extractor still makes; only of these the rest speaks."""
    verdicts: dict[str, int] = field(default_factory=dict)
    bins: list[Bin] = field(default_factory=list)
    error: float = 0.0


def measure(paths: Iterable[Path], extractor: Extractor) -> Calibration:
    """The calibration over files of judged claims, JSON Lines; raises UsageError for what is none.

    A claim that brings its confidence along is taken at its word; of any other the message is read by the extractor.
    """
    lines = [line for path in paths for line in _read(path)]
    judged = [line for line in lines if isinstance(line, Judged)]
    sure = [(known, claim.verdict) for claim, known in _with_confidence(judged, extractor) if known is not None]
    labels = [
        (known, KEPT if is_kept else NOT_KEPT)
        for line in lines
        if not isinstance(line, Judged)
        for known, is_kept in line
    ]
    report = Calibration(len(judged) + len(labels), len(sure) + len(labels))
    for _, verdict in (*sure, *labels):
        report.verdicts[verdict] = report.verdicts.get(verdict, 0) + 1
    report.bins = curve([(known, verdict in {RIGHT, KEPT}) for known, verdict in (*sure, *labels)])
    report.error = expected_error(report.bins)
    return report


def document(report: Calibration) -> dict[str, Any]:
    """The report as plain data."""
    return asdict(report)


def _with_confidence(judged: list[Judged], extractor: Extractor) -> Iterator[tuple[Judged, float | None]]:
    """Each claim with its confidence; None where the extractor does not make it."""
    unread = [claim for claim in judged if claim.confidence is None]
    turns = {(c.user_id, c.session_id, c.turn_number): c for c in unread}
    spoken: dict[tuple[str, str], set[str]] = {}
    for claim in judged:
        spoken.setdefault((claim.user_id, claim.session_id), set()).add(claim.speaker)
    segments = [_segment(claim, spoken[claim.user_id, claim.session_id]) for claim in turns.values()]
    read: dict[tuple[str, str, int], dict[tuple[str, str, str, int], float]] = {}
    for key, extraction in zip(turns, extractor.extract_all(segments), strict=True):
        read[key] = {_fact_of(claim): claim.confidence for claim in extraction.claims}
    for claim in judged:
        known = claim.confidence
        if known is None:
            known = read[claim.user_id, claim.session_id, claim.turn_number].get(claim.fact)
        yield claim, known


def _segment(claim: Judged, speakers: Collection[str]) -> Segment:
    """The message alone; who else speaks in its conversation is known, for talk among people is less to be believed."""
    key = f"{claim.user_id}/{claim.session_id}/{claim.turn_number}"
    names = {name: USER if name.casefold() in {USER, claim.user_id.casefold()} else name for name in sorted(speakers)}
    turn = Turn(key, claim.turn_number, "user", names[claim.speaker], claim.said, claim.timestamp)
    others = [name for name in names.values() if name not in {USER, turn.subject}]
    heard = tuple(Turn(f"{key}/{name}", claim.turn_number, "user", name, "", claim.timestamp) for name in others)
    return Segment(key, claim.user_id, claim.session_id, "text", (turn,), heard)


def _fact(subject: str, relation: str, end: str, polarity: int) -> tuple[str, str, str, int]:
    return subject.casefold(), relation, end.casefold(), polarity


def _fact_of(claim: Claim) -> tuple[str, str, str, int]:
    return _fact(claim.subject, claim.relation, claim.object or claim.value or "", claim.polarity)


def _read(path: Path) -> Iterator[Judged | Labels]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"reading {path}: {error.strerror}; give a JSON Lines file of judged claims") from error
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield _parsed(path, number, line)


def _parsed(path: Path, number: int, line: bytes) -> Judged | Labels:
    try:
        document = orjson.loads(line)
        if isinstance(document, dict) and "turns" in document:
            return list(Conversation.model_validate(document).judged())
        return Judged.model_validate(document)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"reading {path}, line {number}: {error}; each line is one JSON object") from error
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"]) or "the line"
        raise UsageError(
            f"reading {path}, line {number}: {name}: {first['msg']}; see docs/extraction.md for judged claims"
        ) from error
    except ValueError as error:
        raise UsageError(f"reading {path}, line {number}: {error}; give the sentences as `em` cuts them") from error
