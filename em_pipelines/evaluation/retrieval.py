"""How well search finds what answers a question, on conversations with questions and the turns that answer them.

Conversations are landed and cleaned as any log is, indexed as any pack is, and asked through the same components.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
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
    """One question over one pack: its components, and the numbers of the documents that answer it."""

    category: str
    answers: frozenset[int]
    components: dict[str, Floats]


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
    """Figures of all questions and by category, and recall at ten without each component."""

    all: Figures
    by_category: dict[str, Figures] = field(default_factory=dict)
    without: dict[str, float] = field(default_factory=dict)


def read(path: Path, settings: RetrievalSettings, embedder: Embedder | None = None) -> list[Asked]:
    """The questions of one conversation of LoCoMo; raises UsageError where the file is none, or asks nothing."""
    try:
        document = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise UsageError(f"reading {path}: no JSON document ({error}); give a conversation of LoCoMo") from error
    asked = (document[0] if isinstance(document, list) and document else document).get("qa") if document else None
    if not isinstance(asked, list):
        raise UsageError(f"reading {path}: no questions in it (`qa`); give a conversation of LoCoMo with its questions")
    with TemporaryDirectory(prefix="em-retrieval-") as folder:
        rows = _messages(path, Path(folder))
        vectors = vectors_of(embedder, rows["text"].to_pylist(), {}) if embedder else None
        write(Path(folder, "pack"), rows, PackOptions(settings.topics), vectors=vectors)
        today = max(rows["said_at"].to_pylist()).date()
        conversation = _Conversation(Pack(Path(folder, "pack")), _places(rows), today, embedder)
        return [one for item in asked if (one := conversation.asked(item))]


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
    return Report(_figures(questions, weights), by_category, without)


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
    asked = [(_stacked(question, names), np.array(sorted(question.answers))) for question in questions]
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


def _loss(asked: Sequence[tuple[Floats, Any]], weights: Any) -> tuple[float, Any]:
    """Mean negative logarithm of how likely the answers are, with what great weights cost, and its gradient."""
    total, gradient = 0.0, np.zeros_like(weights)
    for shares, answers in asked:
        scores = weights @ shares
        every, right = np.logaddexp.reduce(scores), np.logaddexp.reduce(scores[answers])
        total += every - right
        gradient += shares @ np.exp(scores - every) - shares[:, answers] @ np.exp(scores[answers] - right)
    n = max(1, len(asked))
    return total / n + PENALTY * float(weights @ weights), gradient / n + 2 * PENALTY * weights


def held_out(files: Sequence[Sequence[Asked]]) -> float:
    """Recall at ten of each file with weights that were fitted on the others, over all their questions."""
    found = 0.0
    for n, own in enumerate(files):
        others = [question for k, file in enumerate(files) if k != n for question in file]
        found += _figures(own, fit(others)).recall_at_10 * len(own)
    return found / max(1, sum(map(len, files)))


def _messages(path: Path, folder: Path) -> pa.Table:
    log = LandedLog(folder / "log")
    land([path], log, now=datetime.now(UTC), settings=LandingSettings(), format="locomo")
    by_day = [
        messages(interactions_table(log.read("interactions", day)), SafetySettings())
        for day in log.days("interactions")
    ]
    rows = pa.concat_tables([MESSAGES.empty(), *by_day])
    users = rows["user_id"].unique().to_pylist()
    if len(users) != 1:
        raise UsageError(f"reading {path}: {len(users)} conversations; give one a file")
    return documents.messages(rows, users[0])


def _places(rows: pa.Table) -> dict[tuple[int, int], int]:
    """Session and turn number to the number of the document."""
    sessions = [int(name.rpartition("_")[2]) for name in rows["session_id"].to_pylist()]
    return {place: n for n, place in enumerate(zip(sessions, rows["turn_number"].to_pylist(), strict=True))}


@dataclass(frozen=True, slots=True)
class _Conversation:
    """What questions are asked of: the pack of a conversation, and the number of the document at each place of it."""

    pack: Pack
    places: dict[tuple[int, int], int]
    today: date
    embedder: Embedder | None

    def asked(self, item: dict[str, Any]) -> Asked | None:
        """A question with every component of its scores; None where its answers are no turns of the conversation.

        Evidence is several ids in one string at times, and some name no turn.
        """
        evidence = [_EVIDENCE.findall(str(one)) for one in item.get("evidence") or ()]
        answers = {self.places.get((int(a), int(b))) for pairs in evidence for a, b in pairs} - {None}
        category = CATEGORIES.get(item.get("category", 0))
        if not answers or category is None:
            return None
        kept = frozenset(n for n in answers if n is not None)
        every = Weights(**dict.fromkeys(Weights.model_fields, 1.0))
        return Asked(category, kept, components(self.pack, str(item["question"]), self.today, every, self.embedder))


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
