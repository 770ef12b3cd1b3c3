"""How fast messages are read, stage by stage, and what a model would be asked for them.

The text is that of the LoCoMo conversations beside the project where they are, else that of examples/logs. Figures are
of processor time in one process; the share of each stage can be compared between machines, the bare figures cannot.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console
from rich.table import Table as Printed

from benchmarks.engine import example_interactions
from em_pipelines.extraction.assemble import extract, readings
from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.guard import screening as guard
from em_pipelines.language.cleaning import clean_text
from em_pipelines.schema.readings import Segment, Turn

LOCOMO = Path(__file__).parents[2] / "shared" / "data" / "locomo"
AT = datetime(2026, 1, 1, tzinfo=UTC)
N_ROUNDS = 3
TARGET_PER_SECOND = 3_000


def main() -> None:
    """Runs the benchmark and prints it."""
    sessions = locomo_sessions() if LOCOMO.is_dir() else example_sessions()
    segments = [_segment(name, turns) for name, turns in sessions.items()]
    n_messages = sum(len(segment.turns) for segment in segments)
    extractor = RulesExtractor()

    def fresh(act: Callable[[], Any]) -> Callable[[], Any]:
        def run() -> Any:
            guard._guarded_text.cache_clear()  # what was guarded a moment ago is not what is measured
            return act()

        return run

    stages = {
        "guard": fresh(lambda: [guard.guarded(segment) for segment in segments]),
        "rules": lambda: [extractor.extract(segment) for segment in segments],
        "guard, rules, verification": fresh(lambda: list(readings(iter(segments), extractor))),
        "all, to tables": fresh(lambda: extract(iter(segments), extractor)),
    }
    table = Printed(title=f"{n_messages} messages of {len(segments)} conversations", title_justify="left")
    for column in ("stage", "µs a message", "messages/s"):
        table.add_column(column, justify="left" if column == "stage" else "right")
    for stage, act in stages.items():
        seconds = _best(act)
        table.add_row(stage, f"{seconds / n_messages * 1e6:.0f}", f"{n_messages / seconds:,.0f}")
    console = Console()
    console.print(table)
    console.print(f"wanted of the rules: {TARGET_PER_SECOND:,} messages/s")


def locomo_sessions() -> dict[str, list[tuple[str, str]]]:
    """Speaker and text of every turn, by session."""
    found: dict[str, list[tuple[str, str]]] = {}
    for path in sorted(LOCOMO.glob("*.json")):
        document = orjson.loads(path.read_bytes())
        for name, turns in document.items():
            if name.startswith("session_") and isinstance(turns, list):
                found[f"{path.stem} {name}"] = [(turn["speaker"], turn["text"]) for turn in turns]
    return found


def example_sessions() -> dict[str, list[tuple[str, str]]]:
    """The same of the examples; only what people said."""
    found: dict[str, list[tuple[str, str]]] = {}
    for row in example_interactions():
        if row["role"] == "user":
            found.setdefault(f"{row['user_id']} {row['session_id']}", []).append(("user", row["content"]))
    return found


def _segment(name: str, turns: list[tuple[str, str]]) -> Segment:
    said = tuple(Turn(f"{name} {n}", n, "user", who, clean_text(text), AT) for n, (who, text) in enumerate(turns))
    return Segment(name, "u", name, "text", said)


def _best(act: Callable[[], Any]) -> float:
    """The least processor time of a few rounds, in seconds: noise only ever adds."""
    least = float("inf")
    for _ in range(N_ROUNDS):
        started = time.process_time()
        act()
        least = min(least, time.process_time() - started)
    return least
