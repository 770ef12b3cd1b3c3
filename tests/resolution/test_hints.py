"""Names that an agent gives to what a message mentions, from the record that landed to the entity that is meant."""

from datetime import UTC, date, datetime
from pathlib import Path

import orjson
import pytest

from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.extraction import MENTIONS
from em_pipelines.schema.tables.graph import ENTITIES, ENTITY_MENTIONS
from em_pipelines.settings import load_settings

SAID = (
    (1, "My colleague Ines Prado lives in Turku.", []),
    (2, "My neighbour Ines Falk lives in Ghent.", []),
    (12, "Ines likes chess.", ["Ines Falk"]),
)


@pytest.mark.parametrize("meant", ["Ines Falk", "Ines Prado"])
def test_a_hint_of_a_landed_record_tells_who_is_meant(meant: str, tmp_path: Path) -> None:
    home = Pipeline(load_settings(home=tmp_path / "home"))
    lines = [
        orjson.dumps({
            "user_id": "ada", "session_id": f"s{day}", "turn_number": 1, "role": "user", "content": text,
            "timestamp": f"2026-03-{day:02}T10:00:00Z", "entities_mentioned": [meant] if hints else [],
        })
        for day, text, hints in SAID
    ]  # fmt: skip
    (tmp_path / "log.jsonl").write_bytes(b"\n".join(lines))
    now = datetime(2026, 4, 1, tzinfo=UTC)
    assert land([tmp_path / "log.jsonl"], home.store.log, now=now, settings=home.settings.landing).n_landed == len(SAID)
    for step in home.steps.values():
        home.store.run_days(step, home.store.days(step))
    lake, day = home.store.lake, date(2026, 3, 12)
    (mention,) = (row for row in lake.read(MENTIONS, day).to_pylist() if row["name"] == "Ines")
    (link,) = (r for r in lake.read(ENTITY_MENTIONS, day).to_pylist() if r["mention_id"] == mention["mention_id"])
    rows = {row["entity_id"]: row for row in lake.read(ENTITIES, day).to_pylist()}
    found = rows[link["entity_id"]]
    assert rows[found["merged_into"] or found["entity_id"]]["canonical_name"] == meant
