"""What models took, from the file of their answers: tokens, durations and errors of every call, whichever task it was
for. Read without writing, so that nobody waits for it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from em_pipelines.errors import CorruptTableError
from em_pipelines.serving.metrics.samples import Sample, of_histogram
from em_pipelines.storage.histograms import BUCKETS_MS, Histogram

BUSY_SECONDS = 5
_BUCKET = " ".join(f"WHEN latency_ms <= {end} THEN {n}" for n, end in enumerate(BUCKETS_MS))
_ASKED = f"""
SELECT model, task, CASE {_BUCKET} ELSE {len(BUCKETS_MS)} END AS bucket, count(*), sum(latency_ms),
    sum(prompt_tokens + completion_tokens)
FROM calls WHERE NOT is_cache_hit GROUP BY model, task, bucket
"""
_FAILED = "SELECT model, error_type, count(*) FROM calls WHERE error_type IS NOT NULL GROUP BY model, error_type"


def calls(path: Path) -> Iterator[Sample]:
    """The samples of em_llm_*; raises CorruptTableError for a file that is none."""
    asked, failed = _read(path)
    tokens: dict[tuple[str, str], int] = {}
    durations: dict[tuple[str, str], Histogram] = {}
    for model, task, bucket, n, sum_ms, n_tokens in asked:
        histogram = durations.setdefault((model, task), Histogram())
        histogram.counts[bucket] += n
        histogram.sum_ms += sum_ms
        tokens[model, task] = tokens.get((model, task), 0) + n_tokens
    for (model, task), n_tokens in tokens.items():
        yield Sample("em_llm_tokens_used", {"model": model, "task": task}, n_tokens)
    for (model, task), histogram in durations.items():
        yield from of_histogram("em_llm_latency_ms", {"model": model, "task": task}, histogram)
    for model, error_type, n in failed:
        yield Sample("em_llm_errors", {"model": model, "error_type": error_type}, n)


def batches(path: Path) -> tuple[int, str | None]:
    """Questions that wait for a batch or are in one, and since when the oldest batch is out, in ISO 8601; 0 and None
    where there is no such file."""
    if not path.exists():
        return 0, None
    ((n,),) = _query(path, "SELECT count(*) FROM batch_requests")
    ((since,),) = _query(path, "SELECT min(made_at) FROM batches WHERE status <> 'ended'")
    return n, since


def _read(path: Path) -> tuple[list[tuple[str, str, int, int, float, int]], list[tuple[str, str, int]]]:
    return _query(path, _ASKED), _query(path, _FAILED)


def _query(path: Path, sql: str) -> list[tuple]:  # type: ignore[type-arg]
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)) as opened:
            return opened.execute(sql).fetchall()
    except sqlite3.DatabaseError as error:
        raise CorruptTableError(
            f"reading {path}: {error}; move the file away: its answers are asked for, and paid for, again"
        ) from error
