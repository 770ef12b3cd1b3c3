"""Journeys: weeks of one person's logs, and what must hold on given days; through the engine as `em run` drives it.

What must hold are facts that are known (`present`) or not (`absent`), and words of openings that have come due by the
day and not run out (`reminded`) or have not (`not_reminded`).

NAME.jsonl holds the log in the project's own format, NAME.expect.json user and checks. Every journey gets a home
of its own, which is gone afterwards.
"""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import orjson

from em_pipelines.errors import UsageError
from em_pipelines.evaluation.matching import is_same_relation
from em_pipelines.governance.erasure.forget import carry_out
from em_pipelines.governance.rebuildable_home import OpenHome, RebuildableHome
from em_pipelines.landing.land import land
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.outgoing import STARTERS
from em_pipelines.serving.facts import FactQuery, facts

SUFFIX = ".expect.json"
TOLERANCE = 1e-6
Facts = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Journey:
    """One journey: its name, log, user and checks ({"as_of", "present", "absent", "reminded", "not_reminded"})."""

    name: str
    log: Path
    user_id: str
    checks: list[dict[str, Any]]


def read_journeys(paths: Iterable[Path]) -> list[Journey]:
    """Journeys of folders, or of their NAME.expect.json; raises UsageError for what is none."""
    found = [_read(path) for given in paths for path in _expectations(given)]
    if not found:
        raise UsageError(f"reading journeys: no NAME{SUFFIX} there; give a folder of journeys")
    return found


def travel(journey: Journey, open_home: OpenHome) -> dict[str, Any]:
    """Returns {"passed": n, "failed": [what did not hold]}: of a home in a folder of its own, into which the journey's
    log landed and of which every day was made."""
    with tempfile.TemporaryDirectory(prefix="em-journey-") as folder:
        home = open_home(Path(folder))
        land([journey.log], home.store.log, now=datetime.now(UTC), settings=home.settings.landing)
        _materialize(home)
        carry_out(home)
        results = [
            _checked(check, _facts_on(home, journey, check), _openings_on(home, journey, check))
            for check in journey.checks
        ]
    return {
        "passed": sum(passed for passed, _ in results),
        "failed": [failure for _, failures in results for failure in failures],
    }


def _expectations(given: Path) -> list[Path]:
    if given.is_dir():
        return sorted(given.glob(f"*{SUFFIX}"))
    named = given if given.name.endswith(SUFFIX) else given.with_suffix("").with_suffix(SUFFIX)
    if not named.exists():
        raise UsageError(f"reading journeys: {given} is neither a folder nor a NAME{SUFFIX}")
    return [named]


def _read(path: Path) -> Journey:
    name = path.name.removesuffix(SUFFIX)
    log = path.with_name(f"{name}.jsonl")
    try:
        document = orjson.loads(path.read_bytes())
        journey = Journey(name, log, document["user_id"], document["checks"])
        for check in journey.checks:
            date.fromisoformat(check["as_of"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"reading {path}: {error}; a journey has user_id and checks with as_of") from error
    if not log.exists():
        raise UsageError(f"reading {path}: no {log.name} beside it, which would hold the log")
    return journey


def _materialize(home: RebuildableHome) -> None:
    for step in home.steps.values():
        home.store.run_days(step, home.store.days(step))


def _facts_on(home: RebuildableHome, journey: Journey, check: Mapping[str, Any]) -> Facts:
    query = FactQuery(journey.user_id, date.fromisoformat(check["as_of"]))
    return facts(home.store, query, home.settings.decay)


def _openings_on(home: RebuildableHome, journey: Journey, check: Mapping[str, Any]) -> list[str]:
    """The openings of the user that are said on the day of a check, as the last day before it had them."""
    if not check.keys() & {"reminded", "not_reminded"}:
        return []
    on = date.fromisoformat(check["as_of"])
    day = home.store.lake.latest(CURRENT_EDGES, on)
    step = next(step for step in home.proactive if step.name == STARTERS.name)
    if day is None:
        return []
    rows = step.run(day, home.store.inputs_of(step, day), ())[STARTERS.name].to_pylist()
    return [
        row["text"]
        for row in rows
        if row["user_id"] == journey.user_id and row["generated_at"].date() <= on < row["expires_at"].date()
    ]


def _checked(check: Mapping[str, Any], known: Facts, openings: list[str]) -> tuple[int, list[dict[str, Any]]]:
    results = [
        (wanted, kind, _holds(wanted, known) == (kind == "present"))
        for kind in ("present", "absent")
        for wanted in check.get(kind, ())
    ]
    said = [
        ({"text": words}, kind, any(words.casefold() in text.casefold() for text in openings) == (kind == "reminded"))
        for kind in ("reminded", "not_reminded")
        for words in check.get(kind, ())
    ]
    results += said
    failed = [
        {"as_of": check["as_of"], "expected": kind, **wanted} for wanted, kind, is_right in results if not is_right
    ]
    return len(results) - len(failed), failed


def _holds(wanted: Mapping[str, Any], known: Facts) -> bool:
    return any(_fits(wanted, fact) for fact in _alike(wanted, known))


def _alike(wanted: Mapping[str, Any], known: Facts) -> Iterator[dict[str, Any]]:
    """Facts that say what is wanted; where no polarity is, either will do."""
    for fact in known:
        asked = wanted if "polarity" in wanted else {**wanted, "polarity": fact["polarity"]}
        if is_same_relation(asked, fact):
            yield fact


def _fits(wanted: Mapping[str, Any], fact: Mapping[str, Any]) -> bool:
    if "status" in wanted and fact["status"] != wanted["status"]:
        return False
    low, high = wanted.get("min_confidence", 0), wanted.get("max_confidence", 1)
    return bool(low - TOLERANCE <= fact["confidence"] <= high + TOLERANCE)
