"""One user with 100,000 turns: making the pack, opening it, and asking it. Vectors of turns are drawn at random; those
of questions are made by the built-in encoder."""

import random
import resource
import tempfile
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa

from em_pipelines.language.sentence_labels import N_NUMBERS, TextVectors
from em_pipelines.retrieval.documents import SCHEMA
from em_pipelines.retrieval.pack import Pack
from em_pipelines.retrieval.scoring import Vectors
from em_pipelines.retrieval.search import Search, search
from em_pipelines.retrieval.settings import RetrievalSettings
from em_pipelines.retrieval.writing import PackOptions, write

N_TURNS = 100_000
N_WORDS = 30_000
WORDS_A_TURN = 22
TURNS_A_SESSION = 20
N_QUESTIONS = 200
START = datetime(2024, 1, 1, tzinfo=UTC)
ENCODER = TextVectors()


def main(n_turns: int = N_TURNS) -> None:
    """Makes a log of invented words, spread as words are in speech, and prints seconds, percentiles and memory."""
    rng = random.Random(7)
    words = ["".join(rng.choices("abcdefghilmnoprstuvw", k=rng.randint(3, 9))) for _ in range(N_WORDS)]
    shares = 1 / np.arange(1, N_WORDS + 1)
    drawn = np.random.default_rng(7).choice(N_WORDS, size=(n_turns, WORDS_A_TURN), p=shares / shares.sum())
    texts = [" ".join(words[n] for n in row) + "." for row in drawn]
    with tempfile.TemporaryDirectory(prefix="em-packs-") as folder:
        path, settings = Path(folder, "pack"), RetrievalSettings()
        started = time.perf_counter()
        drawn_at = np.random.default_rng(8).normal(size=(n_turns, N_NUMBERS)).astype(np.float32)
        rows = drawn_at / np.linalg.norm(drawn_at, axis=1, keepdims=True)
        write(path, _documents(texts), PackOptions(settings.topics), vectors=Vectors(ENCODER.name, rows, True))
        print(f"pack of {n_turns:,} turns made in {time.perf_counter() - started:.1f} s (at most 60)")
        started = time.perf_counter()
        pack = Pack(path)
        _ask(pack, texts[0], settings)
        print(f"opened and first asked in {(time.perf_counter() - started) * 1e3:.0f} ms (at most 200)")
        taken = sorted(_ask(pack, " ".join(rng.choice(texts).split()[:8]), settings) for _ in range(N_QUESTIONS))
    p50, p99 = (taken[int(len(taken) * share)] * 1e3 for share in (0.5, 0.99))
    print(f"search p50 {p50:.1f} ms of processor (at most 10), p99 {p99:.1f} ms (at most 25)")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB (at most 2)")


def _documents(texts: list[str]) -> pa.Table:
    rows = [
        {
            "kind": "message", "session_id": f"s{n // TURNS_A_SESSION}", "turn_number": n % TURNS_A_SESSION,
            "edge_id": None, "text": text, "speaker": ("Ida", "Piet")[n % 2], "role": "user",
            "said_at": START + timedelta(minutes=10 * n), "confidence": 1.0, "tags": [], "domain": None,
        }
        for n, text in enumerate(texts)
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def _ask(pack: Pack, text: str, settings: RetrievalSettings) -> float:
    started = time.process_time()
    search(pack, Search(f"When did Ida say {text}?", 10, date(2026, 1, 1)), settings, ENCODER)
    return time.process_time() - started


if __name__ == "__main__":
    main()
