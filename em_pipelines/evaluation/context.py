"""How often the context block holds what answers a question, on conversations with questions and the turns that answer
them. They go through the whole engine, as `em run` drives it, into a home that is gone afterwards.

Of an expected answer its words, numbers and dates are looked for. A date has to stand where the answer is: in the line
of a turn that answers, for a block is full of dates. Words may stand anywhere.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from em_pipelines.errors import UsageError
from em_pipelines.evaluation.retrieval import CATEGORIES
from em_pipelines.governance.rebuildable_home import OpenHome, RebuildableHome
from em_pipelines.landing.land import land
from em_pipelines.language.dates.partial_dates import PartialDate
from em_pipelines.language.dates.words import NUMBERS, is_year
from em_pipelines.language.en.dates import read_date
from em_pipelines.language.en.tokens import tokenise
from em_pipelines.retrieval.context.block import Block, ContextQuery, context_block
from em_pipelines.retrieval.packs import build
from em_pipelines.retrieval.terms import STOP_WORDS, plain_words, stem
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.graph import EDGES

EVIDENCE = re.compile(r"D(\d+):0*(\d+)")
Turn = tuple[str, int]
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_TOLD_DATE = re.compile(r"\b\d{4}(?:-\d\d){0,2}\b")
_ANY_DAY = date(1900, 1, 1)
"""What no answer is about: dates that are read against it say their year themselves."""


@dataclass(frozen=True)
class Asked:
    """A question and the turns that answer it, by their texts."""

    category: str
    text: str
    evidence: dict[Turn, str]
    answer: str = ""


@dataclass
class Held:
    """Means over questions. `evidence_share`: the block has a turn that answers, quoted or by a fact that was said in
    it; `recall`: share of all such turns; `words_share`: of the words of the turn that it has most of; `answer_share`:
    of the words, numbers and dates of the expected answer; `n_tokens`."""

    n_questions: int = 0
    evidence_share: float = 0.0
    recall: float = 0.0
    words_share: float = 0.0
    answer_share: float = 0.0
    n_tokens: float = 0.0


@dataclass
class Report:
    """Figures of all questions, by category, and by conversation (the name of its file) and category."""

    all: Held
    by_category: dict[str, Held] = field(default_factory=dict)
    by_conversation: dict[str, dict[str, Held]] = field(default_factory=dict)


def measure(paths: Sequence[Path], open_home: OpenHome) -> Report:
    """The figures over conversations of LoCoMo; raises UsageError where a file is none, or asks nothing."""
    found: dict[str, list[tuple[str, Held]]] = {}
    for path in paths:
        with TemporaryDirectory(prefix="em-context-") as folder:
            home = open_home(Path(folder, "home"))
            questions = _questions(path)
            _land(home, path)
            found[path.stem] = in_home(home, questions)
    every = [one for own in found.values() for one in own]
    return Report(
        _mean(held for _, held in every), _by_category(every), {name: _by_category(own) for name, own in found.items()}
    )


def _by_category(found: Sequence[tuple[str, Held]]) -> dict[str, Held]:
    names = sorted({category for category, _ in found})
    return {name: _mean(held for category, held in found if category == name) for name in names}


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
    answer = str(item.get("answer", ""))
    return Asked(category, str(item["question"]), turns, answer) if turns and category else None


def _session(session_id: str) -> int:
    return int(session_id.rpartition("_")[2])


def _held(block: Block, asked: Asked, sources: dict[str, set[Turn]]) -> Held:
    turns = set(block.turns).union(*(sources.get(edge_id, set()) for edge_id in block.edge_ids))
    held = [turn in turns for turn in asked.evidence]
    words = set(plain_words(block.text))
    shares = [len(own & words) / len(own) for text in asked.evidence.values() if (own := _telling(text))]
    answered = _answer_share(block, asked, sources)
    return Held(1, float(any(held)), sum(held) / len(held), max(shares, default=0.0), answered, block.n_tokens)


def _telling(text: str) -> set[str]:
    return set(plain_words(text)) - STOP_WORDS


def _answer_share(block: Block, asked: Asked, sources: dict[str, set[Turn]]) -> float:
    """Of the parts of the expected answer: words and numbers of the block, dates of a line that tells what answers."""
    dates, rest = dates_of(asked.answer)
    words = _counted(rest) - _counted(asked.text)
    dates_told = _TOLD_DATE.findall("\n".join(_lines_of(block, asked, sources)))
    held = [any(told.startswith(date) for told in dates_told) for date in dates]
    held += [word in _counted(block.text) for word in sorted(words)]
    return sum(held) / len(held) if held else 1.0


def _lines_of(block: Block, asked: Asked, sources: dict[str, set[Turn]]) -> list[str]:
    """The lines of the block that tell of a turn which answers."""
    turns, edges = iter(block.turns), iter(block.edge_ids)
    found = []
    for line in block.text.splitlines():
        told = {next(turns)} if line.startswith("<quote") else set()
        told |= sources.get(next(edges), set()) if line.startswith("<fact ") else set()
        if told & asked.evidence.keys():
            found.append(line)
    return found


def _counted(text: str) -> set[str]:
    """The stems of the telling words, numbers as figures."""
    return {str(NUMBERS.get(word, stem(word))) for word in _telling(text)}


def dates_of(answer: str) -> tuple[list[str], str]:
    """The dates that an answer names, in ISO form as far as they are said, and the text without them: `7 May 2023`,
    `June 2023`, `2022`, `the Sunday before 25 May 2023`."""
    tokens = tokenise(answer.replace("’", "'"))
    found: list[str] = []
    rest: list[str] = []
    at = 0
    while at < len(tokens):
        read = read_date(tokens, at, len(tokens), _ANY_DAY) if _YEAR.search(answer[tokens[at].start :]) else None
        if read is None and is_year(tokens[at].low):
            read = PartialDate(date(int(tokens[at].low), 1, 1), "year"), at + 1
        if read is None or read[0].day.year == _ANY_DAY.year:
            rest.append(tokens[at].low)
            at += 1
            continue
        found.append(read[0].iso())
        at = read[1]
    return found, " ".join(rest)


def _mean(found: Iterable[Held]) -> Held:
    rows = [asdict(held) for held in found]
    n = len(rows)
    means = (
        {name: round(sum(row[name] for row in rows) / n, 6) for name in rows[0] if name != "n_questions"} if n else {}
    )
    return Held(n, **means)
