"""The context block and the bootstrap of one user with 100,000 turns and 13,000 facts, among others who have as many.

A fact for every eight turns is what the default extractor finds in conversations. Beside the milliseconds stands what
a search alone takes in the same run, for machines differ.
"""

import random
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval.context import known_facts as reading
from em_pipelines.retrieval.context.block import ContextQuery, context_block
from em_pipelines.retrieval.context.bootstrap import bootstrap
from em_pipelines.retrieval.documents import MESSAGE, SCHEMA
from em_pipelines.retrieval.packs import folder_of
from em_pipelines.retrieval.search import Search
from em_pipelines.retrieval.user_search import ask
from em_pipelines.retrieval.writing import PackOptions, write
from em_pipelines.schema.tables.graph import EDGES, ENTITIES
from em_pipelines.settings import load_settings

N_TURNS, N_WORDS, WORDS_A_TURN, TURNS_A_SESSION = 100_000, 30_000, 22, 20
N_FACTS, N_NAMES, N_OTHERS, N_QUESTIONS = 13_000, 2_000, 4, 200
START = datetime(2024, 1, 1, tzinfo=UTC)
DAY = date(2025, 12, 1)
USER = "ida"
RELATIONS = ("likes", "uses", "knows", "works_on", "visited", "plans", "owns", "has_part")
TYPES = ("trait", "state", "state", "state", "episode", "plan", "state", "state")
Row = dict[str, Any]


def main(n_turns: int = N_TURNS, n_facts: int = N_FACTS) -> None:
    """Makes a home of invented words and names, and prints percentiles."""
    rng = random.Random(7)
    words = ["".join(rng.choices("abcdefghilmnoprstuvw", k=rng.randint(3, 9))) for _ in range(N_WORDS)]
    shares = 1 / np.arange(1, N_WORDS + 1)
    drawn = np.random.default_rng(7).choice(N_WORDS, size=(n_turns, WORDS_A_TURN), p=shares / shares.sum())
    texts = [" ".join(words[n] for n in row) + "." for row in drawn]
    with tempfile.TemporaryDirectory(prefix="em-context-") as folder:
        home = Pipeline(load_settings(home=Path(folder)))
        names = [words[-n].capitalize() for n in range(1, N_NAMES)]
        _learn(home, names, n_facts)
        pack = folder_of(home, USER)
        pack.parent.mkdir(parents=True)
        write(pack, _documents(texts), PackOptions(home.settings.retrieval.topics))
        questions = [
            f"When did {rng.choice(names)} {' '.join(rng.choice(texts).split()[:7])}?" for _ in range(N_QUESTIONS)
        ]
        _ask(home, questions)


def _ask(home: Pipeline, questions: list[str]) -> None:
    now = datetime.combine(DAY, datetime.min.time(), UTC)
    searched = [
        _timed(lambda text=text: ask(home, USER, Search(text, 30, DAY, frozenset({MESSAGE})))) for text in questions
    ]
    cold = []
    for _ in range(5):
        reading.forget()
        cold.append(_timed(lambda: bootstrap(home, USER, now)))
    print(f"bootstrap, nothing read before, {min(cold):.0f} ms at best, {max(cold):.0f} ms at worst (at most 500)")
    warm = [_timed(lambda: bootstrap(home, USER, now)) for _ in range(50)]
    print(f"bootstrap p50 {_at(warm, 0.5):.1f} ms, p99 {_at(warm, 0.99):.1f} ms (at most 100)")
    reading.forget()
    first = _timed(lambda: context_block(home, ContextQuery(USER, questions[0], DAY)))
    taken = [_timed(lambda text=text: context_block(home, ContextQuery(USER, text, DAY))) for text in questions]
    print(f"first block of a user {first:.0f} ms")
    print(f"search p50 {_at(searched, 0.5):.1f} ms, p99 {_at(searched, 0.99):.1f} ms")
    print(f"block p50 {_at(taken, 0.5):.1f} ms, p99 {_at(taken, 0.99):.1f} ms (at most 80)")


def _timed(act: Callable[[], object]) -> float:
    """Milliseconds."""
    started = time.perf_counter()
    act()
    return (time.perf_counter() - started) * 1e3


def _at(taken: list[float], share: float) -> float:
    return sorted(taken)[int(len(taken) * share)]


def _learn(home: Pipeline, names: list[str], n_facts: int) -> None:
    rng = random.Random(11)
    users = [USER, *(f"other{n}" for n in range(N_OTHERS))]
    home.store.lake.write(ENTITIES, DAY, ENTITIES.from_rows([_entity(u, n) for u in users for n in ("user", *names)]))
    home.store.lake.write(EDGES, DAY, EDGES.from_rows([_edge(u, k, names, rng) for u in users for k in range(n_facts)]))


def _entity(user: str, name: str) -> Row:
    return {
        "entity_id": f"ent_{user}_{name}", "user_id": user, "canonical_name": name, "name_key": name.lower(),
        "discriminator": "", "aliases": [], "alias_keys": [], "entity_type": "person", "first_seen": START,
        "last_referenced": START, "mention_count": 3, "importance": 0.3, "certainty": 1.0, "privacy_level": "L2",
        "requires_verification": False, "qualifiers": [], "links": [], "distinct_from": [], "status": "active",
    }  # fmt: skip


def _edge(user: str, k: int, names: list[str], rng: random.Random) -> Row:
    subject, thing, n = "user" if k % 3 else rng.choice(names), rng.choice(names), k % len(RELATIONS)
    said = START + timedelta(days=k % 700)
    place = {"session_id": f"s{k % 5000}", "turn_number": k % 20, "span_start": 0, "span_end": 9, "extraction_id": "x"}
    return {
        "edge_id": f"edge_{user}{k:020}", "user_id": user, "subject_id": f"ent_{user}_{subject}",
        "relation": RELATIONS[n], "object_id": f"ent_{user}_{thing}", "object_key": f"ent_{user}_{thing}", "spell": 1,
        "polarity": 1, "temporal_type": TYPES[n], "learned_at": said, "last_reinforced": said, "confidence": 0.9,
        "valid_from": DAY + timedelta(days=k % 90) if TYPES[n] == "plan" else None, "reinforcement_count": 0,
        "hedge_level": "none", "source_mechanism": "explicit", "flags": [], "context_tags": [], "privacy_level": "L2",
        "requires_verification": False, "has_pasted_source": False, "status": "active", "provenance": [place],
    }  # fmt: skip


def _documents(texts: list[str]) -> pa.Table:
    rows = [
        {
            "kind": MESSAGE, "session_id": f"s{n // TURNS_A_SESSION}", "turn_number": n % TURNS_A_SESSION,
            "edge_id": None, "text": text, "speaker": ("Ida", "Piet")[n % 2], "role": "user",
            "said_at": START + timedelta(minutes=10 * n), "confidence": 1.0, "tags": [], "domain": None,
        }
        for n, text in enumerate(texts)
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=SCHEMA)


if __name__ == "__main__":
    main()
