"""What commands cost as a whole, in processor seconds, side by side with the engine alone on the same log.

A command is measured from outside, with its start, its imports and every process that it starts: user and system time,
which other work on the machine changes little, and bytes that it had written. Of the engine alone, landing and steps
are measured from inside, without imports. `python -m benchmarks.commands docs/benchmarks.md` writes the figures there.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import orjson
from rich.console import Console

from benchmarks.logs import EXAMPLES, LOCOMO, conversation, invented, spread, write
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings
from tests.model_server import oracle
from tests.model_server.server import ModelServer

EM = Path(sys.executable).parent / "em"
SPARSE_DAYS, DENSE_DAYS, DAYS_APART = 80, 5, 9
CONVERSATIONS = ("26", "30", "41")
CROWD = (100, 60, 20)
"""Users, days, messages a day of each."""
LONG_DAYS, SHORT_DAYS, LONG_MESSAGES = 1_000, 100, 5
TWO_MORE = "I live in Bergen.", "I love figs."
ALONE = "— the engine alone"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
MESSAGES = "messages/s"
BLOCK_BYTES = 512
"""The unit in which the system counts what a process had written."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process cost with all that it started: processor seconds, bytes written, and the most memory of one."""

    seconds: float
    n_bytes: int
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table: what was measured, the figure, its unit, at most (or at least) what is wanted."""

    what: str
    value: float
    unit: str
    wanted: float
    is_floor: bool = False

    @property
    def is_met(self) -> bool:
        """Whether it is as wanted."""
        return self.value >= self.wanted if self.is_floor else self.value <= self.wanted


def main(page: Path | None = None) -> None:
    """Measures, prints, and writes the figures to a page if one is given."""
    console = Console()
    found: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="em-commands-", ignore_cleanup_errors=True) as folder:
        for figure in measured(Path(folder)):
            found.append(figure)
            console.print(_line(figure), soft_wrap=True, highlight=False)
    if page:
        _write_page(page, found)


def measured(folder: Path) -> Iterator[Figure]:
    """Every figure, one after the other."""
    yield from _start_up(folder)
    yield from _sparse(folder)
    yield from _first_runs(folder)
    yield from _crowd(folder)
    yield from _long(folder)


def cost_of(*command: str | Path, said: bytes = b"", n_answers: int = 0, **variables: str) -> Cost:
    """Runs a command to its end. With `said`, that is written to it, and its input ends after so many lines of answer.
    Raises RuntimeError where it fails."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **variables}
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=environment
        )
        assert process.stdin and process.stdout
        process.stdin.write(said)
        process.stdin.flush()
        for _ in range(n_answers):
            process.stdout.readline()
        process.stdin.close()
        process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            raise RuntimeError(f"{' '.join(map(str, command))}: {errors.read().decode()}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_oublock * BLOCK_BYTES, used.ru_maxrss * 1024)


def engine_seconds(log: Path) -> float:
    """Processor seconds of landing and all steps over a log, without Dagster and without imports."""
    with tempfile.TemporaryDirectory(prefix="em-engine-") as folder:
        found = subprocess.run(
            [sys.executable, "-m", "benchmarks.commands", "--engine", str(log), folder],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    return float(found.stdout)


def run_engine(log: Path, path: Path) -> float:
    """What `engine_seconds` measures, in this process."""
    home = Pipeline(load_settings(home=path))
    begun = time.process_time()
    land([log], home.store.log, now=datetime.now(UTC), settings=home.settings.landing)
    for step in home.steps.values():
        home.store.run_days(step, home.store.days(step))
    return time.process_time() - begun


def _start_up(folder: Path) -> Iterator[Figure]:
    home = folder / "examples"
    first = cost_of(EM, "run", EXAMPLES, "--home", home)
    yield Figure("examples, first run", first.seconds, "s", 20)
    yield Figure(ALONE, engine_seconds(EXAMPLES), "s", first.seconds)
    more = folder / "two-more.jsonl"
    write(more, ({**message, "user_id": "mirela"} for message in _two_more(datetime(2026, 11, 20, 9, tzinfo=UTC))))
    yield Figure("two messages more", cost_of(EM, "run", more, "--home", home).seconds, "s", 6)
    yield Figure("nothing new", min(_repeat("run", "--home", home)), "s", 2)
    yield Figure("em --help", min(_repeat("--help")), "s", 0.4)
    yield Figure("em facts", min(_repeat("facts", "--user", "mirela", "--home", home)), "s", 1.0)
    yield Figure("first answer of em mcp over stdio", _first_answer(home), "s", 2)


def _repeat(*arguments: str | Path) -> Iterator[float]:
    return (cost_of(EM, *arguments).seconds for _ in range(3))


def _first_answer(home: Path) -> float:
    """Processor seconds from start to end of a server that is asked one question."""
    parameters = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    question = {"name": "em_query", "arguments": {"question": "Where does she live?"}}
    said = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": parameters},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": question},
    ]
    lines = b"".join(orjson.dumps(line) + b"\n" for line in said)
    return min(
        cost_of(EM, "mcp", "--user", "mirela", "--home", home, said=lines, n_answers=2).seconds for _ in range(3)
    )


def _sparse(folder: Path) -> Iterator[Figure]:
    name, messages = conversation("41")
    homes, costs = {}, {}
    for n_days in (SPARSE_DAYS, DENSE_DAYS):
        log = folder / f"{n_days}-days.jsonl"
        write(log, spread(messages, n_days, DAYS_APART if n_days == SPARSE_DAYS else 1))
        homes[n_days] = folder / f"home-{n_days}"
        costs[n_days] = cost_of(EM, "run", log, "--home", homes[n_days]).seconds
        what = f"{len(messages)} messages of {name} on {n_days} days"
        yield Figure(what, costs[n_days], "s", 20 if n_days == SPARSE_DAYS else 10)
        yield Figure(ALONE, engine_seconds(log), "s", costs[n_days])
    yield Figure("— ratio", costs[SPARSE_DAYS] / costs[DENSE_DAYS], "×", 2)
    yield Figure("— home of the many days", _size(homes[SPARSE_DAYS]) / 1e6, "MB", 25)
    yield Figure("— Dagster's share of it", _size(homes[SPARSE_DAYS] / "dagster") / 1e6, "MB", 10)


def _first_runs(folder: Path) -> Iterator[Figure]:
    if not LOCOMO.exists():
        return
    every = [LOCOMO / f"{name}.json" for name in CONVERSATIONS]
    yield Figure("LoCoMo 26, 30 and 41", cost_of(EM, "run", *every, "--home", folder / "every").seconds, "s", 25)
    one = cost_of(EM, "run", LOCOMO / "30.json", "--home", folder / "one")
    yield Figure("written for LoCoMo 30", one.n_bytes / 1e6, "MB", 100)
    n_messages = len(conversation("26")[1])
    with ModelServer(oracle.reading) as server:
        model = {"EM_LLM_BASE_URL": server.base_url, "EM_LLM_SMALL": "stub", "EM_LLM_API_KEY": "any"}
        read = cost_of(EM, "run", LOCOMO / "26.json", "--extractor", "llm", "--home", folder / "model", **model)
    yield Figure(
        "LoCoMo 26 read by a model that answers at once", n_messages / read.seconds, MESSAGES, 35, is_floor=True
    )


def _crowd(folder: Path) -> Iterator[Figure]:
    n_users, n_days, n_each = CROWD
    log, home = folder / "crowd.jsonl", folder / "crowd"
    n_messages = write(log, invented(n_users, range(n_days), n_each))
    with _clock() as clock:
        cost = cost_of(EM, "run", log, "--home", home)
    what = f"{n_messages:,} messages of {n_users} users on {n_days} days"
    yield Figure(what, n_messages / clock[0], MESSAGES, 500, is_floor=True)
    yield Figure("— memory", cost.peak_bytes / 1e9, "GB", 4)
    alone = engine_seconds(log)
    yield Figure(ALONE, n_messages / alone, MESSAGES, 500, is_floor=True)
    shutil.rmtree(home)


def _long(folder: Path) -> Iterator[Figure]:
    log, home = folder / "long.jsonl", folder / "long"
    write(log, invented(1, range(LONG_DAYS), LONG_MESSAGES))
    cost = cost_of(EM, "run", log, "--home", home)
    yield Figure(f"one user, {LONG_DAYS:,} days with {LONG_MESSAGES} messages", cost.seconds, "s", 90)
    yield Figure(ALONE, engine_seconds(log), "s", cost.seconds)
    short = folder / "short.jsonl"
    write(short, invented(1, range(SHORT_DAYS), LONG_MESSAGES))
    cost_of(EM, "run", short, "--home", folder / "short")
    days = {n: _one_more(folder, home, n) for n, home in ((LONG_DAYS, home), (SHORT_DAYS, folder / "short"))}
    yield Figure(f"— day {LONG_DAYS:,} against day {SHORT_DAYS}", days[LONG_DAYS] / days[SHORT_DAYS], "×", 1.3)


def _one_more(folder: Path, home: Path, n_days: int) -> float:
    """Processor seconds of one more day, the best of three."""
    found = []
    for day in range(n_days, n_days + 3):
        log = folder / f"day-{day}.jsonl"
        write(log, invented(1, range(day, day + 1), LONG_MESSAGES))
        found.append(cost_of(EM, "run", log, "--home", home).seconds)
    return min(found)


def _two_more(at: datetime) -> Iterator[dict[str, object]]:
    for turn, text in enumerate(TWO_MORE):
        yield {
            "session_id": "two-more", "turn_number": turn, "role": "user", "content": text, "timestamp": at.isoformat(),
        }  # fmt: skip


@contextmanager
def _clock() -> Iterator[list[float]]:
    """Seconds that a block takes, there when it has ended."""
    found: list[float] = []
    begun = time.perf_counter()
    yield found
    found.append(time.perf_counter() - begun)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _line(figure: Figure) -> str:
    bound = "at least" if figure.is_floor else "at most"
    wanted = "" if figure.what.startswith(ALONE) else f"{bound} {figure.wanted:g}"
    mark = "" if figure.is_met or not wanted else "  MISSED"
    return f"{figure.what:58} {figure.value:10,.2f} {figure.unit:10} {wanted}{mark}"


def _plot(figures: Sequence[Figure]) -> list[str]:
    """A chart of whole commands (bars) and of the engine alone (line), in Mermaid."""
    pairs = [(whole, alone) for whole, alone in pairwise(figures) if alone.what.startswith(ALONE) and alone.unit == "s"]
    names = ", ".join(f'"{whole.what}"' for whole, _ in pairs)
    return [
        "```mermaid",
        "xychart-beta",
        '    title "Processor seconds of a command (bars) and of the engine alone (line)"',
        f"    x-axis [{names}]",
        '    y-axis "s"',
        f"    bar [{', '.join(f'{whole.value:.1f}' for whole, _ in pairs)}]",
        f"    line [{', '.join(f'{alone.value:.1f}' for _, alone in pairs)}]",
        "```",
    ]


def _write_page(page: Path, figures: Sequence[Figure]) -> None:
    """Replaces what stands between the marks of a page."""
    rows = ["| | measured | wanted |", "| --- | --: | --: |"]
    for figure in figures:
        is_bare = figure.what.startswith(ALONE)
        wanted = "" if is_bare else f"{'≥' if figure.is_floor else '≤'} {figure.wanted:g} {figure.unit}"
        rows.append(f"| {figure.what} | {figure.value:,.2f} {figure.unit} | {wanted} |")
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    made = "\n".join([BEGIN, "", f"Measured on {datetime.now(UTC).date()}.", "", *rows, "", *_plot(figures), "", END])
    page.write_text(before + made + after, encoding="utf-8")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--engine", log, home]:
            print(run_engine(Path(log), Path(home) / "home"))
        case [page]:
            main(Path(page))
        case _:
            main()
