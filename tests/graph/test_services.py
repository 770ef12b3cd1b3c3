"""Moving from one thing to another: of what somebody uses a change of service, of where they live one of house."""

from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.graph import EDGES
from em_pipelines.serving.facts import FactQuery, facts
from em_pipelines.settings import load_settings

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def told(home_path: Path, *said: str) -> set[str]:
    """The facts after one message a day."""
    home = Pipeline(load_settings(home=home_path))
    rows = [
        {
            "user_id": "ada", "session_id": f"s{n}", "turn_number": 0, "role": "user", "content": text,
            "timestamp": f"2026-03-{n + 1:02}T10:00:00Z",
        }
        for n, text in enumerate(said)
    ]  # fmt: skip
    source = home_path.parent / "said.jsonl"
    source.write_bytes(b"\n".join(map(orjson.dumps, rows)) + b"\n")
    land([source], home.store.log, now=NOW, settings=home.settings.landing)
    for step in home.steps.values():
        home.store.run_days(step, home.store.stale_days(step))
    day = home.store.lake.days(EDGES)[-1]
    return {
        f"{f['subject']} {'' if f['polarity'] > 0 else 'not '}{f['relation']} {f['object']}"
        for f in facts(home.store, FactQuery("ada", day), home.settings.decay)
    }


@pytest.mark.parametrize(
    ("said", "held"),
    [
        (
            ("We use Turku for our backups.", "We moved from Turku to Graz."),
            {"user uses Graz", "user not uses Turku"},
        ),
        (
            ("I live in Delft.", "I use Turku.", "I moved from Delft to Graz."),
            {"user lives_in Graz", "user not lives_in Delft", "user uses Turku"},
        ),
        (("We moved from Turku to Graz.",), {"user lives_in Graz", "user not lives_in Turku"}),
        (
            ("My brother uses Turku.", "I moved from Turku to Graz."),
            {
                "user sibling_of brother", "brother uses Turku", "user lives_in Graz", "user not lives_in Turku",
            },
        ),
    ],
)  # fmt: skip
def test_what_somebody_uses_or_lives_in_tells_what_a_move_was(
    home_path: Path, said: tuple[str, ...], held: set[str]
) -> None:
    assert told(home_path, *said) == held
