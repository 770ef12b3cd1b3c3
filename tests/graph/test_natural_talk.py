"""Talk of people by names and bare roles, of namesakes and pets, read by the rules and folded day by day: whatever is
said, merged and split, memory stays sound."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.governance.audit.integrity import violations_on
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.graph import EDGES
from em_pipelines.settings import load_settings

NAMES = ("Alex", "Rex", "Sam", "Luna", "Maya", "Max")
ROLES = ("partner", "girlfriend", "boyfriend", "husband", "wife", "fiance", "ex", "spouse")
PETS = ("dog", "cat", "puppy", "parrot")
SENTENCES = (
    "My {role} {name} loves jazz.", "My {role} is a nurse.", "{name} is my {role}.", "My {pet} {name} sleeps all day.",
    "I have a {pet} called {name}.", "{name} works at Larsen.", "My {role} and I moved to Oslo.",
    "I broke up with {name}.", "I broke up with my {role}.", "I married {name} last year.", "I'm dating {name}.",
    "My {role}'s name is {name}.", "{name} and I got engaged.", "My {role} {name} and our {pet} {other} are at home.",
    "My {role} has a {pet} named {name}.", "My sister {name} likes tea.", "My brother's {role} is {name}.",
    "Forget what I said about {name}.", "We named our {pet} {name}.", "{name} is my best friend.",
    "Actually, {name} is my {pet}.", "My boss is {name}.", "My new {role} is {name}.",
    "My sister's {role} {name} is nice.", "{name}'s {role} is {other}.", "{name} is married to {other}.",
    "{other} is {name}'s {role}.", "{name} and {other} got married.", "My boss {name} has a {role} called {other}.",
    "{name}'s {pet} is called {other}.",
)  # fmt: skip
N_MESSAGES = 24
START = datetime(2026, 1, 1, 9, tzinfo=UTC)


def told(dice: random.Random) -> dict[str, Any]:
    """One feedback about who is whose, or who."""
    one, other = dice.choice((*NAMES, *ROLES)), dice.choice((*NAMES, *ROLES))
    fact = {"subject": "user", "relation": "partner_of", "object": one}
    return dice.choice([
        {"type": "merge", "entities": [one, other]}, {"type": "split", "entity": one}, {"type": "confirm", **fact},
        {"type": "retract", **fact}, {"type": "correct", **fact, "new_object": other},
    ])  # fmt: skip


def talk(seed: int) -> list[dict[str, Any]]:
    dice = random.Random(seed)
    records: list[dict[str, Any]] = []
    for number in range(N_MESSAGES):
        day = number // 3
        at = START + timedelta(days=day, minutes=number)
        said = dice.choice(SENTENCES).format(
            name=dice.choice(NAMES), other=dice.choice(NAMES), role=dice.choice(ROLES), pet=dice.choice(PETS)
        )
        place = {"user_id": "ada", "session_id": f"s{day}"}
        records.append({**place, "turn_number": number, "role": "user", "content": said, "timestamp": at.isoformat()})
        if seed % 2 and dice.random() < 0.15:
            later = at + timedelta(seconds=5)
            records.append({**place, "kind": "feedback", "timestamp": later.isoformat(), **told(dice)})
    return records


def check(seed: int, path: Path) -> None:
    log = path / "talk.jsonl"
    log.write_bytes(b"\n".join(map(orjson.dumps, talk(seed))))
    home = Pipeline(load_settings(home=path / "home"))
    land([log], home.store.log, now=datetime.now(UTC), settings=home.settings.landing)
    for name, step in home.steps.items():
        if name not in {"decay", "audit"}:
            home.store.run_days(step, home.store.days(step))
    for day in home.store.lake.days(EDGES):
        broken = {rule: rows for rule, rows in violations_on(home.store.lake, day).items() if rows}
        assert broken == {}, f"talk({seed}) on {day}"


@pytest.mark.parametrize("seed", [6, *(pytest.param(one, marks=pytest.mark.slow) for one in [0, 1, 2, 29])])
def test_memory_stays_sound(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_memory_stays_sound_whatever_is_said(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path)
