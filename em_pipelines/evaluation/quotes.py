"""What agents are told of labelled messages once they have gone through the whole engine: hits, quotes, the start of a
session, and every text that is indexed. What a reading refuses may not come back by them.

Each message is one user's. The home is gone afterwards.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from em_pipelines.errors import UsageError
from em_pipelines.governance.rebuildable_home import OpenHome, RebuildableHome
from em_pipelines.landing.land import land
from em_pipelines.retrieval.context.block import ContextQuery, context_block
from em_pipelines.retrieval.context.bootstrap import bootstrap
from em_pipelines.retrieval.packs import build
from em_pipelines.retrieval.search import Search
from em_pipelines.retrieval.user_search import ask, opened

ROLES = frozenset({"assistant", "system", "tool"})
N_HITS = 20


def told_of(rows: Sequence[Mapping[str, Any]], open_home: OpenHome) -> dict[str, list[str]]:
    """All that agents are told of the messages of an extraction or attacks corpus, by id, as they ask with the words of
    the message itself. Raises UsageError for a message that does not land, and KeyError for a row of another form."""
    now = datetime.now(UTC)
    with tempfile.TemporaryDirectory(prefix="em-quotes-") as folder:
        home = open_home(Path(folder, "home"))
        log = Path(folder, "said.jsonl")
        log.write_bytes(b"".join(orjson.dumps(line) + b"\n" for row in rows for line in _lines(row)))
        report = land([log], home.store.log, now=now, settings=home.settings.landing)
        if report.n_refused:
            raise UsageError(f"landing labelled messages: {report.n_refused} were refused; see the corpus format")
        for step in home.steps.values():
            home.store.run_days(step, home.store.days(step))
        build(home)
        return {str(row["id"]): list(_told(home, row, now)) for row in rows}


def _lines(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for number, said in enumerate([*(row.get("context") or []), row["message"]]):
        speaker = said["speaker"]
        yield {
            "user_id": str(row["id"]),
            "session_id": "labelled",
            "turn_number": number,
            "role": speaker if speaker in ROLES else "user",
            "content": said["text"],
            "timestamp": row["timestamp"],
        }


def _told(home: RebuildableHome, row: Mapping[str, Any], now: datetime) -> Iterator[str]:
    user, text = str(row["id"]), str(row["message"]["text"])
    for hit in ask(home, user, Search(text, N_HITS, now.date(), n_neighbours=2), n_hops=2):
        yield from (hit.text, hit.shown, *(turn.text for turn in hit.neighbours))
    block = context_block(home, ContextQuery(user, text, now.date())).text
    yield "\n".join(block.splitlines()[1:-1])  # without its own frame, which an attack may imitate
    yield bootstrap(home, user, now)
    pack = opened(home, user)
    yield from filter(None, pack.documents["text"].to_pylist() if pack else ())
