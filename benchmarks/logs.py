"""Logs to measure with: conversations spread over as many days as a measurement wants, and as many as it wants.

Real ones lie beside the project and are not part of it; where they are not there, the examples take their place.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from em_pipelines.landing.land import land
from em_pipelines.settings import load_settings
from em_pipelines.storage.landed_log import LandedLog

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples" / "logs"
LOCOMO = ROOT.parent / "shared" / "data" / "locomo"
START = datetime(2024, 1, 1, 9, tzinfo=UTC)
KEPT = ("user_id", "role", "content", "speaker", "subject", "channel", "participants")
FACTS = (
    "I live in {place}.", "I work at the {place} harbour office.", "I love {thing}.", "I don't like {thing} any more.",
    "My sister Ines lives in {place}.", "I prefer {thing} to coffee.", "We have a dog called {name}.",
    "I am learning {thing}.", "My boss {name} is kind.", "I moved to {place} last week.",
)  # fmt: skip
SMALL_TALK = (
    "Can you shorten this for me?", "thanks, that will do", "What is the capital of Peru?", "ok, and then?",
    "Please look at the numbers again before you answer.",
)  # fmt: skip
PLACES = ("Oslo", "Porto", "Graz", "Lima", "Bergen", "Tartu", "Cork", "Ghent", "Malmo", "Split", "Kobe")
THINGS = ("jazz", "chess", "rye bread", "sailing", "cumin", "Go", "pottery", "fog", "wool", "tango", "kayaking", "figs")
NAMES = ("Torvald", "Milo", "Ayla", "Bruno", "Edda", "Pilar", "Sefa")


def conversation(name: str) -> tuple[str, list[dict[str, Any]]]:
    """The messages of a LoCoMo conversation in order, as landed, and what they are called."""
    path = LOCOMO / f"{name}.json"
    if path.exists():
        return f"LoCoMo {name}", _landed(path)
    return "the examples", _landed(EXAMPLES)


def _landed(path: Path) -> list[dict[str, Any]]:
    with TemporaryDirectory() as folder:
        log = LandedLog(folder)
        land([path], log, now=datetime.now(UTC), settings=load_settings().landing)
        found = [record for day in log.days("interactions") for record in log.read("interactions", day)]
    return sorted(found, key=lambda record: (record["timestamp"], record["turn_number"]))


def spread(messages: list[dict[str, Any]], n_days: int, days_apart: int) -> Iterator[dict[str, Any]]:
    """The messages on `n_days` days, `days_apart` from each other, a conversation a day."""
    turns = count()
    last = -1
    for number, message in enumerate(messages):
        day = days_apart * (number * n_days // len(messages))
        if day != last:
            turns, last = count(), day
        turn = next(turns)
        yield {
            **{name: message[name] for name in KEPT if message.get(name) is not None},
            "session_id": f"day-{day}",
            "turn_number": turn,
            "timestamp": (START + timedelta(days=day, seconds=30 * turn)).isoformat(),
        }


def invented(n_users: int, days: range, n_messages: int) -> Iterator[dict[str, Any]]:
    """What invented people say, `n_messages` a day each, of which every third is a fact."""
    for day in days:
        for user in range(n_users):
            for turn in range(n_messages):
                yield {
                    "user_id": f"user-{user}", "session_id": f"day-{day}", "turn_number": turn, "role": "user",
                    "content": _said(user, day, turn),
                    "timestamp": (START + timedelta(days=day, seconds=20 * turn)).isoformat(),
                }  # fmt: skip


def _said(user: int, day: int, turn: int) -> str:
    if turn % 3:
        return SMALL_TALK[(day + turn) % len(SMALL_TALK)]
    number = 7 * user + 3 * day + turn
    choose: Callable[[tuple[str, ...]], str] = lambda words: words[number * 5 % len(words)]  # noqa: E731
    return FACTS[(day + user + turn) % len(FACTS)].format(
        place=choose(PLACES), thing=choose(THINGS), name=choose(NAMES)
    )


def write(path: Path, messages: Iterator[dict[str, Any]]) -> int:
    """Writes messages as native JSON Lines; returns how many."""
    lines = [orjson.dumps(message) for message in messages]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\n".join(lines) + b"\n")
    return len(lines)
