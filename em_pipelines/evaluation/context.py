"""How often the context block holds what answers a question, on conversations with questions and the turns that answer
them. They go through the whole engine, as `em run` drives it, into a home that is gone afterwards."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from em_pipelines.errors import UsageError
from em_pipelines.evaluation.retrieval import CATEGORIES
from em_pipelines.governance.rebuildable_home import OpenHome, RebuildableHome
from em_pipelines.landing.land import land
from em_pipelines.retrieval.context.block import Block, ContextQuery, context_block
from em_pipelines.retrieval.packs import build
from em_pipelines.retrieval.terms import STOP_WORDS, plain_words
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.graph import EDGES

EVIDENCE = re.compile(r"D(\d+):0*(\d+)")
Turn = tuple[str, int]


@dataclass(frozen=True)
class Asked:
    """A question and the turns that answer it, by their texts."""

    category: str
    text: str
    evidence: dict[Turn, str]


@dataclass
class Held:
    """Means over questions. `evidence_share`: the block has a turn that answers, quoted or by a fact that was said in
    it; `recall`: share of all such turns; `words_share`: of the words of the turn that it has most of; `n_tokens`."""

    n_questions: int = 0
    evidence_share: float = 0.0
    recall: float = 0.0
    words_share: float = 0.0
    n_tokens: float = 0.0


@dataclass
class Report:
    """Figures of all questions and by category."""

    all: Held
    by_category: dict[str, Held] = field(default_factory=dict)


def measure(paths: Sequence[Path], open_home: OpenHome) -> Report:
    """The figures over conversations of LoCoMo; raises UsageError where a file is none, or asks nothing."""
    found: list[tuple[str, Held]] = []
    for path in paths:
        with TemporaryDirectory(prefix="em-context-") as folder:
            home = open_home(Path(folder, "home"))
            questions = _questions(path)
            _land(home, path)
            found += in_home(home, questions)
    names = sorted({category for category, _ in found})
    return Report(_mean(held for _, held in found), {n: _mean(h for c, h in found if c == n) for n in names})


def in_home(home: RebuildableHome, questions: Sequence[dict[str, Any]]) -> list[tuple[str, Held]]:
    """What the block of each question holds, in a home with the one person who is asked about."""
    lake = home.store.lake
    rows = lake.read_days(MESSAGES, lake.days(MESSAGES)).to_pylist()
    user_id, today = rows[0]["user_id"], max(row["timestamp"] for row in rows).date()
    texts = {(row["session_id"], row["turn_number"]): row["content"] or "" for row in rows}
    edges = lake.read(EDGES, lake.days(EDGES)[-1]).to_pylist() if lake.days(EDGES) else []
    sources = {e["edge_id"]: {(p["session_id"], p["turn_number"]) for p in e["provenance"]} for e in edges}
    return [
        (one.category, _held(context_block(home, ContextQuery(user_id, one.text, today)), one, sources))
        for item in questions
        if (one := _asked(item, texts))
    ]


def _questions(path: Path) -> list[dict[str, Any]]:
    try:
        found = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise UsageError(f"reading {path}: no JSON document ({error}); give a conversation of LoCoMo") from error
    one = found[0] if isinstance(found, list) and found else found
    asked = one.get("qa") if isinstance(one, dict) else None
    if not isinstance(asked, list):
        raise UsageError(f"reading {path}: no questions in it (`qa`); give a conversation of LoCoMo with its questions")
    return [item for item in asked if isinstance(item, dict)]


def _land(home: RebuildableHome, path: Path) -> None:
    land([path], home.store.log, now=datetime.now(UTC), settings=home.settings.landing, format="locomo")
    for step in home.steps.values():
        home.store.run_days(step, home.store.days(step))
    users = build(home)
    if len(users) != 1:
        raise UsageError(f"reading {path}: {len(users)} conversations; give one a file")


def _asked(item: dict[str, Any], texts: dict[Turn, str]) -> Asked | None:
    """Evidence is several ids in one string at times, and some name no turn."""
    pairs = {(int(a), int(b)) for one in item.get("evidence") or () for a, b in EVIDENCE.findall(str(one))}
    turns = {turn: text for turn, text in texts.items() if (_session(turn[0]), turn[1]) in pairs}
    category = CATEGORIES.get(item.get("category", 0))
    return Asked(category, str(item["question"]), turns) if turns and category else None


def _session(session_id: str) -> int:
    return int(session_id.rpartition("_")[2])


def _held(block: Block, asked: Asked, sources: dict[str, set[Turn]]) -> Held:
    turns = set(block.turns).union(*(sources.get(edge_id, set()) for edge_id in block.edge_ids))
    held = [turn in turns for turn in asked.evidence]
    words = set(plain_words(block.text))
    shares = [len(own & words) / len(own) for text in asked.evidence.values() if (own := _telling(text))]
    return Held(1, float(any(held)), sum(held) / len(held), max(shares, default=0.0), block.n_tokens)


def _telling(text: str) -> set[str]:
    return set(plain_words(text)) - STOP_WORDS


def _mean(found: Iterable[Held]) -> Held:
    rows = [asdict(held) for held in found]
    n = len(rows)
    means = (
        {name: round(sum(row[name] for row in rows) / n, 6) for name in rows[0] if name != "n_questions"} if n else {}
    )
    return Held(n, **means)
