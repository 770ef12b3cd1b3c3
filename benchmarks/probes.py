"""What is worth asking of a hundred thousand users with some ten facts each: processor seconds, all threads together.

Users are invented, and so are most of the names that they speak of: of names that everybody has, one in three.
"""

import random
import time
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pyarrow as pa
from rich.console import Console

from em_pipelines.graph.confidence_decay import DecaySettings
from em_pipelines.lifecycle.proactive.probes import ProbesRun
from em_pipelines.lifecycle.proactive.settings import ProactiveSettings
from em_pipelines.schema.table import Table, Tables
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.graph import CONTRADICTIONS, ENTITIES
from em_pipelines.schema.tables.outgoing import PROBES
from em_pipelines.schema.tables.raw import FEEDBACK
from em_pipelines.schema.vocabulary import USUAL_TEMPORAL_TYPE, TemporalType

N_USERS = 100_000
FACTS_A_USER = 10
TARGET_SECONDS = 60
TODAY = date(2026, 6, 1)
SPAN_DAYS = 400
RELATIONS = (
    ("likes", "food"), ("likes", "activity"), ("works_at", "organization"), ("works_as", "concept"),
    ("lives_in", "place"), ("has_pet", "animal"), ("sibling_of", "person"), ("plans", "activity"), ("uses", "tool"),
    ("owns", "vehicle"), ("interested_in", "concept"), ("studies", "concept"), ("did", "activity"),
)  # fmt: skip
SHARED = {
    "food": ("ramen", "coffee", "pizza", "salt liquorice"), "activity": ("running", "pottery", "switching editors"),
    "concept": ("music", "backend developer", "jazz", "history"), "animal": ("dog", "cat"), "person": ("brother",),
    "vehicle": ("bicycle", "wooden boat"),
}  # fmt: skip
SYLLABLES = ("ba", "ko", "ri", "lun", "ve", "sta", "mor", "del", "fin", "tu", "gar", "ne")


def main() -> None:
    """Runs the benchmark and prints it."""
    tables = invented(N_USERS, seed=1)
    begun = time.process_time()
    made = ProbesRun(ProactiveSettings(), DecaySettings()).run(TODAY, tables, [])[PROBES.name]
    seconds = time.process_time() - begun
    Console().print(
        f"{made.num_rows:,} probes of {N_USERS:,} users and {tables['state_current_edges'].num_rows:,} facts: "
        f"{seconds:.1f} processor seconds (wanted: {TARGET_SECONDS})"
    )


def invented(n_users: int, seed: int) -> Tables:
    """What the step is given of so many users."""
    rng = random.Random(seed)
    things: list[tuple[str, str, str, str]] = []
    facts: list[tuple[str, str, str, str]] = []
    for number in range(n_users):
        user = f"user{number}"
        things.append((user, f"{user}-0", "user", "person"))
        for place in range(1, FACTS_A_USER + 1):
            relation, kind = RELATIONS[rng.randrange(len(RELATIONS))]
            is_shared = kind in SHARED and rng.random() < 1 / 3
            name = rng.choice(SHARED[kind]) if is_shared else "".join(rng.choices(SYLLABLES, k=4)).title()
            things.append((user, f"{user}-{place}", name, kind))
            facts.append((user, f"{user}-{place}", relation, kind))
    said = [datetime(2026, 5, 31, tzinfo=UTC) - timedelta(days=rng.randrange(SPAN_DAYS)) for _ in facts]
    return {
        "state_current_edges": _edges(facts, said),
        "state_entities": _entities(things),
        "state_contradictions": CONTRADICTIONS.empty(),
        "feedback": FEEDBACK.empty(),
    }


def _edges(facts: list[tuple[str, str, str, str]], said: list[datetime]) -> pa.Table:
    n = len(facts)
    users, things, relations, _ = zip(*facts, strict=True)
    days = np.array([(TODAY - at.date()).days for at in said])
    temporal = [str(USUAL_TEMPORAL_TYPE.get(relation, TemporalType.STATE)) for relation in relations]
    loss = np.array([DecaySettings().loss_per_30_days[TemporalType(kind)] / 30 for kind in temporal])
    source = {"session_id": "s", "turn_number": 0, "span_start": 0, "span_end": 1, "extraction_id": "x"}
    return _table(
        CURRENT_EDGES,
        {
            "edge_id": [f"edge-{number}" for number in range(n)], "user_id": list(users),
            "subject_id": [f"{user}-0" for user in users], "relation": list(relations), "object_id": list(things),
            "object_key": list(things), "spell": [1] * n, "polarity": [1] * n, "temporal_type": temporal,
            "learned_at": said, "last_reinforced": said, "confidence": [0.9] * n, "reinforcement_count": [0] * n,
            "hedge_level": ["none"] * n, "source_mechanism": ["explicit"] * n, "flags": [[]] * n,
            "context_tags": [[]] * n, "privacy_level": ["L2"] * n, "requires_verification": [False] * n,
            "has_pasted_source": [False] * n, "status": ["active"] * n, "provenance": [[source]] * n,
            "effective_confidence": np.maximum(0.0, 0.9 - loss * days).round(12).tolist(), "as_of": [TODAY] * n,
            "statement": [f"I said that about thing number {number % 5_000}" for number in range(n)],
        },
        n,
    )  # fmt: skip


def _entities(things: list[tuple[str, str, str, str]]) -> pa.Table:
    n = len(things)
    users, ids, names, kinds = zip(*things, strict=True)
    at = datetime(2026, 5, 25, tzinfo=UTC)
    return _table(
        ENTITIES,
        {
            "entity_id": list(ids), "user_id": list(users), "canonical_name": list(names),
            "name_key": [name.lower() for name in names], "discriminator": [""] * n, "aliases": [[]] * n,
            "alias_keys": [[]] * n, "entity_type": list(kinds), "first_seen": [at] * n, "last_referenced": [at] * n,
            "mention_count": [4] * n, "importance": [0.4] * n, "certainty": [1.0] * n, "privacy_level": ["L2"] * n,
            "requires_verification": [False] * n, "qualifiers": [[]] * n, "links": [[]] * n,
            "distinct_from": [[]] * n, "status": ["active"] * n,
        },
        n,
    )  # fmt: skip


def _table(table: Table, columns: dict[str, list[object]], n: int) -> pa.Table:
    return pa.table(
        [pa.array(columns.get(column.name, [None] * n), column.type) for column in table.columns], schema=table.schema
    )
