"""How well search finds what answers a question, on conversations with questions and the turns that answer them.

Conversations are landed and cleaned as any log is, indexed as any pack is, and asked through the same components.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from em_pipelines.errors import UsageError
from em_pipelines.extraction.messages import messages
from em_pipelines.guard.sensitive import SafetySettings
from em_pipelines.landing.land import land
from em_pipelines.landing.registry import AUTO
from em_pipelines.landing.settings import LandingSettings
from em_pipelines.landing.tables import interactions_table
from em_pipelines.retrieval import documents
from em_pipelines.retrieval.pack import Pack
from em_pipelines.retrieval.scoring import Embedder, components, score, vectors_of
from em_pipelines.retrieval.settings import RetrievalSettings, Weights
from em_pipelines.retrieval.terms import Floats
from em_pipelines.retrieval.writing import PackOptions, write
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.storage.landed_log import LandedLog

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
"""Those of LoCoMo that can be answered from the conversation."""
_EVIDENCE = re.compile(r"D(\d+):0*(\d+)")
PENALTY = 0.002
"""Of a weight's square. What is found on a conversation left out is the same from 0.001 to 0.005."""
DEPTH = 10


@dataclass(frozen=True)
class Asked:
    """One question over one pack: its components, and the numbers of the documents that answer it. `kind` is that of
    the conversation: `work` of work-1.jsonl, and the name of the folder of 26.json."""

    category: str
    answers: frozenset[int]
    components: dict[str, Floats]
    kind: str = ""


@dataclass
class Figures:
    """Means over questions: the share of answers among the first ten and five, whether there is any, the reciprocal
    rank of the first, and nDCG of the first ten."""

    n_questions: int = 0
    recall_at_10: float = 0.0
    recall_at_5: float = 0.0
    hit_at_10: float = 0.0
    mrr: float = 0.0
    ndcg_at_10: float = 0.0


@dataclass
class Report:
    """Figures of all questions, by category and by kind of conversation, and recall at ten without each component."""

    all: Figures
    by_category: dict[str, Figures] = field(default_factory=dict)
    by_kind: dict[str, Figures] = field(default_factory=dict)
    without: dict[str, float] = field(default_factory=dict)


def read(path: Path, settings: RetrievalSettings, embedder: Embedder | None = None) -> list[Asked]:
    """The questions of one conversation: of LoCoMo (JSON with `qa`), or a log as `em ingest` takes it, with its
    questions beside it (`talk.jsonl`, `talk.questions.json`; docs/retrieval.md has their form). Raises UsageError where
    the file is none, or asks nothing."""
    items = _of_log(path) if path.suffix == ".jsonl" else _of_locomo(path)
    with TemporaryDirectory(prefix="em-retrieval-") as folder:
        rows = _messages(path, Path(folder))
        vectors = vectors_of(embedder, rows["text"].to_pylist(), {}) if embedder else None
        write(Path(folder, "pack"), rows, PackOptions(settings.topics), vectors=vectors)
        pack, today = Pack(Path(folder, "pack")), max(rows["said_at"].to_pylist()).date()
        every = Weights(**dict.fromkeys(Weights.model_fields, 1.0))
        numbers = _places(rows)
        return [
            Asked(one.category, answers, components(pack, one.text, today, every, embedder), kind_of(path))
            for one in items
            if (answers := frozenset(numbers[place] for place in one.evidence if place in numbers))
        ]


@dataclass(frozen=True, slots=True)
class _Item:
    """A question as a file has it; `evidence` are conversations and turns."""

    text: str
    category: str
    evidence: tuple[tuple[str, int], ...]


def kind_of(path: Path) -> str:
    """The kind of talk that a file holds, by its name."""
    return path.stem.rstrip("0123456789-_") or path.parent.name


def _of_locomo(path: Path) -> list[_Item]:
    """Evidence is several ids in one string at times, and some name no turn."""
    document = _document(path, "a conversation of LoCoMo")
    asked = (document[0] if isinstance(document, list) and document else document).get("qa") if document else None
    if not isinstance(asked, list):
        raise UsageError(f"reading {path}: no questions in it (`qa`); give a conversation of LoCoMo with its questions")
    return [
        _Item(
            str(item["question"]),
            CATEGORIES[item["category"]],
            tuple((a, int(b)) for one in item.get("evidence") or () for a, b in _EVIDENCE.findall(str(one))),
        )
        for item in asked
        if item.get("category") in CATEGORIES
    ]


def _of_log(path: Path) -> list[_Item]:
    """A list of questions with `evidence`, or, as BEAM has them, by category with ids of messages (`source_id`)."""
    beside = path.with_suffix("").with_suffix(".questions.json")
    document = _document(beside, "the questions about a log")
    try:
        if isinstance(document, list):
            return [
                _Item(one["question"], one["category"], tuple((str(a), int(b)) for a, b in one["evidence"]))
                for one in document
            ]
        places = {
            str(row["source_id"]): (row["session_id"], row["turn_number"])
            for row in map(orjson.loads, path.read_bytes().splitlines())
        }
        return [
            _Item(one["question"], category, tuple(places[i] for i in _ids(one.get("source_chat_ids")) if i in places))
            for category, some in document.items()
            for one in some
        ]
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        raise UsageError(f"reading {beside}: not as docs/retrieval.md has questions ({error!r})") from error


def _ids(listed: Any) -> list[str]:
    """The ids in lists of lists, or lists by name."""
    if isinstance(listed, dict):
        listed = list(listed.values())
    return [one for part in listed for one in _ids(part)] if isinstance(listed, list) else [str(listed)]


def _document(path: Path, wanted: str) -> Any:
    try:
        return orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise UsageError(f"reading {path}: no JSON document ({error}); give {wanted}") from error


def measure(questions: Sequence[Asked], weights: Weights) -> Report:
    """The figures of these weights, and what each component adds."""
    names = sorted({question.category for question in questions})
    present = {name for question in questions for name in question.components}
    without = {
        name: _figures(questions, weights.model_copy(update={name: 0.0})).recall_at_10
        for name in Weights.model_fields
        if getattr(weights, name) and name in present
    }
    by_category = {name: _figures([q for q in questions if q.category == name], weights) for name in names}
    by_kind = {name: _figures(of_kind, weights) for name, of_kind in _by_kind(questions).items()}
    return Report(_figures(questions, weights), by_category, by_kind, without)


def _by_kind(questions: Iterable[Asked]) -> dict[str, list[Asked]]:
    found: dict[str, list[Asked]] = defaultdict(list)
    for question in sorted(questions, key=lambda one: one.kind):
        found[question.kind].append(question)
    return found


def fit(questions: Sequence[Asked]) -> Weights:
    """Weights under which the turns that answer are likely ones, the greatest made 1.

    A turn is as likely as the exponential of its score says among those of its conversation, and answers together as
    the sum of theirs (the softmax loss of learning to rank; Cao et al., 2007). What is found among ten jumps with
    single questions, so that a search for its best learns a few hundred of them by heart; this is smooth, and great
    weights cost. What no question has, as vectors without an embedder, keeps the weight that ships.
    """
    from scipy.optimize import minimize  # noqa: PLC0415  (0.1 s that no other command waits for)

    present = {name for question in questions for name in question.components}
    names = [name for name in Weights.model_fields if name in present]
    if not names:
        return Weights()
    kinds = _by_kind(questions)
    asked = [
        (_stacked(one, names), np.array(sorted(one.answers)), 1 / len(kinds) / len(own))
        for own in kinds.values()
        for one in own
    ]
    bounds = [(0.0, None)] * len(names)
    found = minimize(partial(_loss, asked), np.ones(len(names)), jac=True, method="L-BFGS-B", bounds=bounds).x
    greatest = float(found.max()) or 1.0
    return Weights(**{name: round(float(one) / greatest, 3) for name, one in zip(names, found, strict=True)})


def _stacked(question: Asked, names: Sequence[str]) -> Floats:
    """Components × documents; one that a question does not have is 0."""
    some = next(iter(question.components.values()))
    rows = [question.components.get(name, np.zeros_like(some)) for name in names]
    found: Floats = np.stack(rows).astype(np.float32)
    return found


def _loss(asked: Sequence[tuple[Floats, Any, float]], weights: Any) -> tuple[float, Any]:
    """Mean negative logarithm of how likely the answers are, with what great weights cost, and its gradient."""
    total, gradient = 0.0, np.zeros_like(weights)
    for shares, answers, counts in asked:
        scores = weights @ shares
        every, right = np.logaddexp.reduce(scores), np.logaddexp.reduce(scores[answers])
        total += counts * (every - right)
        gradient += counts * (shares @ np.exp(scores - every) - shares[:, answers] @ np.exp(scores[answers] - right))
    return total + PENALTY * float(weights @ weights), gradient + 2 * PENALTY * weights


def held_out(files: Sequence[Sequence[Asked]]) -> float:
    """Recall at ten of each file with weights that were fitted on the others, over all their questions."""
    found = 0.0
    for n, own in enumerate(files):
        others = [question for k, file in enumerate(files) if k != n for question in file]
        found += _figures(own, fit(others)).recall_at_10 * len(own)
    return found / max(1, sum(map(len, files)))


def left_out(questions: Sequence[Asked]) -> dict[str, float]:
    """Recall at ten of each kind of conversation with weights that were fitted on the others."""
    kinds = _by_kind(questions)
    others = {kind: [one for one in questions if one.kind != kind] for kind in kinds if len(kinds) > 1}
    return {kind: _figures(kinds[kind], fit(rest)).recall_at_10 for kind, rest in others.items()}


def _messages(path: Path, folder: Path) -> pa.Table:
    log = LandedLog(folder / "log")
    land(
        [path],
        log,
        now=datetime.now(UTC),
        settings=LandingSettings(),
        format=AUTO if path.suffix == ".jsonl" else "locomo",
    )
    by_day = [
        messages(interactions_table(log.read("interactions", day)), SafetySettings())
        for day in log.days("interactions")
    ]
    rows = pa.concat_tables([MESSAGES.empty(), *by_day])
    users = rows["user_id"].unique().to_pylist()
    if len(users) != 1:
        raise UsageError(f"reading {path}: {len(users)} conversations; give one a file")
    return documents.messages(rows, users[0])


def _places(rows: pa.Table) -> dict[tuple[str, int], int]:
    """Conversation and turn to the number of the document; of LoCoMo, conversations have their numbers alone, too."""
    sessions, turns = rows["session_id"].to_pylist(), rows["turn_number"].to_pylist()
    found = {place: n for n, place in enumerate(zip(sessions, turns, strict=True))}
    return found | {(session.rpartition("_")[2], turn): n for (session, turn), n in found.items()}


def _figures(questions: Iterable[Asked], weights: Weights) -> Figures:
    rows = [_of_one(question, weights) for question in questions]
    if not rows:
        return Figures()
    means = np.mean(rows, axis=0)
    return Figures(len(rows), *(round(float(value), 6) for value in means))


def _of_one(question: Asked, weights: Weights) -> tuple[float, ...]:
    chosen = {name: values for name, values in question.components.items() if getattr(weights, name)}
    if not chosen:
        return (0.0,) * 5
    total = score(chosen, weights)
    order = np.argsort(-total, kind="stable")
    is_answer = np.array([int(n) in question.answers for n in order[:DEPTH]])
    ranks = np.flatnonzero(np.isin(order, list(question.answers)))
    gains = is_answer / np.log2(np.arange(2, len(is_answer) + 2))
    best = sum(1 / np.log2(n + 2) for n in range(min(DEPTH, len(question.answers))))
    shares = [is_answer[:depth].sum() / len(question.answers) for depth in (DEPTH, DEPTH // 2)]
    return (*shares, float(is_answer.any()), 1 / (ranks[0] + 1), gains.sum() / best)
