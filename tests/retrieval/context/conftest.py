"""Homes to ask: one into which people talked, and bare ones whose tables a test fills with what nobody would say."""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest

from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval.documents import SCHEMA
from em_pipelines.retrieval.packs import build, folder_of
from em_pipelines.retrieval.writing import PackOptions, write
from em_pipelines.schema.tables.graph import EDGES, ENTITIES
from em_pipelines.settings import load_settings

START = datetime(2026, 3, 2, 10, tzinfo=UTC)
LANDED = datetime(2026, 5, 1, tzinfo=UTC)
Tell = Callable[..., None]
Fill = Callable[..., None]


def _tell(home: Pipeline, folder: Path, user: str, *said: str, session: str = "s1", day: str = "2026-03-02") -> None:
    lines = [
        orjson.dumps(
            {
                "user_id": user, "session_id": session, "turn_number": n, "role": "user", "content": text,
                "timestamp": f"{day}T10:{n:02}:00Z",
            }
        )
        for n, text in enumerate(said)
    ]  # fmt: skip
    source = folder / "said.jsonl"
    source.write_bytes(b"\n".join(lines) + b"\n")
    land([source], home.store.log, now=LANDED, settings=home.settings.landing)
    for step in home.steps.values():
        home.store.run_days(step, home.store.stale_days(step))
    build(home)


@pytest.fixture(scope="session")
def tell(tmp_path_factory: pytest.TempPathFactory) -> Tell:
    """tell(home, user, *texts, session=, day=): lands messages, makes the tables and the packs."""
    folder = tmp_path_factory.mktemp("said")
    return lambda home, user, *said, **more: _tell(home, folder, user, *said, **more)


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory, tell: Tell) -> Pipeline:
    """Ada, who has a sister in Graz, and Ben, who has a kiln."""
    home = Pipeline(load_settings(home=tmp_path_factory.mktemp("home")))
    tell(home, "ada", "My sister Dana lives in Graz.", "Dana works at Weserlink.", "Dana has a cat called Miso.")
    tell(
        home, "ada", "I have a dentist appointment on 25 March.", "I prefer short answers.", "I hate emojis.",
        "I live in Bremen.", "My birthday is on 30 March.", "The opera last night was a disaster from the first bar.",
        session="s2", day="2026-03-09",
    )  # fmt: skip
    tell(home, "ben", "I own a kiln.", "My brother Ossian lives in Turku.", day="2026-03-03")
    return home


def _fill(home: Pipeline, user: str, facts: Sequence[dict[str, Any]], messages: Sequence[dict[str, Any]] = ()) -> None:
    names = list(dict.fromkeys(["user", *(f["subject"] for f in facts), *(f["object"] for f in facts)]))
    ids = {name: f"ent_{n:020}" for n, name in enumerate(names)}
    entities = [_entity(user, ids[name], name) for name in names]
    home.store.lake.write(ENTITIES, START.date(), ENTITIES.from_rows(entities))
    edges = [_edge(user, n, fact, ids) for n, fact in enumerate(facts)]
    home.store.lake.write(EDGES, START.date(), EDGES.from_rows(edges))
    folder = folder_of(home, user)
    folder.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "kind": "message", "session_id": f"s{n}", "turn_number": n, "edge_id": None, "speaker": "user",
            "role": "user", "said_at": START + timedelta(minutes=n), "confidence": 1.0, "tags": [], "domain": None,
            **message,
        }
        for n, message in enumerate(messages)
    ]  # fmt: skip
    write(folder, pa.Table.from_pylist(rows, schema=SCHEMA), PackOptions(0))


def _entity(user: str, entity_id: str, name: str) -> dict[str, Any]:
    return {
        "entity_id": entity_id, "user_id": user, "canonical_name": name, "name_key": name.casefold(),
        "discriminator": "", "aliases": [], "alias_keys": [], "entity_type": "person", "first_seen": START,
        "last_referenced": START, "mention_count": 1, "importance": 0.5, "certainty": 1.0, "privacy_level": "L2",
        "requires_verification": False, "qualifiers": [], "links": [], "distinct_from": [], "status": "active",
    }  # fmt: skip


def _edge(user: str, n: int, fact: dict[str, Any], ids: dict[str, str]) -> dict[str, Any]:
    place = {"session_id": f"s{n}", "turn_number": n, "span_start": 0, "span_end": 1, "extraction_id": "x"}
    made = {
        "edge_id": f"edge_{n:08x}{n:012}", "user_id": user, "relation": "likes", "spell": 1, "polarity": 1,
        "temporal_type": "trait", "learned_at": START, "last_reinforced": START, "confidence": 0.9,
        "reinforcement_count": 0, "hedge_level": "none", "source_mechanism": "explicit", "flags": [],
        "context_tags": [], "privacy_level": "L2", "requires_verification": False, "has_pasted_source": False,
        "status": "active", "provenance": [place], **fact,
    }  # fmt: skip
    subject, thing = made.pop("subject"), made.pop("object")
    is_literal = made["relation"] in ("scheduled_for", "has_birthday", "has_attribute")
    end = {"value": thing} if is_literal else {"object_id": ids[thing]}
    return made | {"subject_id": ids[subject], "object_key": end.get("object_id", thing)} | end


@pytest.fixture(scope="session")
def fill() -> Fill:
    """fill(home, user, facts, messages): states and pack of one user. A fact has subject, object and what differs from
    a plain one; a message text, and perhaps speaker."""
    return _fill


@pytest.fixture
def bare(home_path: Path) -> Pipeline:
    """A home in which nothing is."""
    return Pipeline(load_settings(home=home_path))


@pytest.fixture(scope="session")
def today() -> date:
    """The day on which the homes are asked."""
    return date(2026, 3, 20)
