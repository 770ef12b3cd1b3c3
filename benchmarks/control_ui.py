"""What the pages of the control UI cost, in a home of a thousand people of whom one has five thousand facts.

Processor seconds of one request each, in the process of the server, once it is warm; the first of all pages is told
apart, for it imports what pages need.
"""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
from rich.console import Console
from rich.table import Table as Printed

from em_pipelines.governance.erasure.forget import catch_up
from em_pipelines.interfaces.memory import Memory
from em_pipelines.interfaces.ui.access import OPERATOR
from em_pipelines.interfaces.ui.app import Frame
from em_pipelines.interfaces.ui.asked import Asked, Page
from em_pipelines.interfaces.ui.desk import Desk
from em_pipelines.interfaces.ui.rendering import render
from em_pipelines.interfaces.ui.routes import PAGES
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings

N_PEOPLE, N_FACTS, AT_ONCE = 1_000, 5_000, 250
WHO = "person-0007"
TARGET_SECONDS = 1.0
FRAME = Frame(OPERATOR, "", (), None, "/")
ASKED: dict[str, dict[str, str]] = {
    "/": {},
    "/people": {},
    "/facts": {"user": WHO},
    "/graph": {"user": WHO},
    "/review": {"user": WHO},
    "/audit": {"user": WHO, "q": "thing"},
    "/probes": {"user": WHO},
    "/playground": {"user": WHO, "q": "What do I like?"},
}


def main() -> None:
    """Runs the benchmark and prints it."""
    with TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        _make(home, Path(folder) / "log.jsonl")
        desk = Desk(load_settings(home=home), None, None)
        table = Printed(title=f"{N_PEOPLE:,} people, one with {N_FACTS:,} facts", title_justify="left")
        for column in ("page", "first, s", "again, s"):
            table.add_column(column, justify="left" if column == "page" else "right")
        for path, args in ASKED.items():
            table.add_row(path, *(f"{_seconds(desk, path, args):.2f}" for _ in range(2)))
    console = Console()
    console.print(table)
    console.print(f"wanted: {TARGET_SECONDS:g} s for the first page")


def _make(home: Path, log: Path) -> None:
    """A home of people who said one thing each, and of whom one told a program of many things."""
    log.write_bytes(b"\n".join(map(orjson.dumps, _said())))
    opened = Pipeline(load_settings(home=home))
    land([log], opened.store.log, now=datetime.now(UTC), settings=opened.settings.landing)
    memory = Memory(opened, WHO)
    facts = [{"relation": "likes", "object": f"thing {number} of mine"} for number in range(N_FACTS)]
    for start in range(0, N_FACTS, AT_ONCE):
        memory.add_facts(facts[start : start + AT_ONCE])
    memory.run()
    catch_up(opened)


def _said() -> Iterator[dict[str, object]]:
    for number in range(N_PEOPLE):
        day = f"2026-09-{number % 28 + 1:02}"
        yield {
            "user_id": f"person-{number:04}", "session_id": "s", "turn_number": 0, "role": "user",
            "content": "I live in Porto. I like tea.", "timestamp": f"{day}T08:00:00Z",
        }  # fmt: skip


def _seconds(desk: Desk, path: str, args: dict[str, str]) -> float:
    begun = time.process_time()
    show = PAGES[path].show
    assert show is not None
    with desk.opened(to_write=False) as home:
        shown = show(Asked(home, OPERATOR, args))
    assert isinstance(shown, Page)
    render(shown.template, {**shown.shown, "frame": FRAME})
    return time.process_time() - begun
