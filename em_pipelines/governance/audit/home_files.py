"""Every file of a data directory that no other inspection reads: by kind it is checked, or counted as not checkable.

Notes and records are parsed, databases read to their end, snapshots compared with their digests. What people put there,
and pages that nobody reads back, cannot be checked. Add a kind here when a new file gets a place in the data directory.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import orjson
import yaml

from em_pipelines.governance.audit.dagster_files import ASIDE, configuration_flaw, database_flaw
from em_pipelines.serving.snapshot_file import digest_flaws

CHECKED_ELSEWHERE = (
    "log/*/*/*.jsonl", "log/manifest.jsonl", "log/.salt.check", "lake/*/*.parquet", "packs/*/*", "memory/*",
    "record/ledger.*", "record/log.head", "record/salt", "record/salt.check", "record/tokens.jsonl",
    "record/consolidation.jsonl", "record/offers/*", "record/graph.json", "dagster/*.db", f"dagster/*{ASIDE}*",
)  # fmt: skip
"""By the inspections of the log, the partitions and so on; `*` stands for folders, too."""
NOT_CHECKABLE = ("inbox/*", "quality/*", "reports/*", "locks/*", "tmp/*", "*.lock", "*-wal", "*-shm", "*/.*.tmp")
"""What people put there, pages, and files that hold nothing."""
_SHA_256 = re.compile(rb"[0-9a-f]{64}")
ANEW = "delete it: the next `em run` writes it anew"
FROM_BACKUP = "put it back from a backup"


@dataclass(frozen=True, slots=True)
class FileFlaw:
    """A file that is damaged: its path in the data directory, what was found and what to do."""

    path: str
    found: str
    advice: str


@dataclass(frozen=True, slots=True)
class FilesFound:
    """Damaged files, how many are sound, and by top folder how many cannot be checked."""

    flaws: tuple[FileFlaw, ...]
    n_sound: int
    not_checkable: Counter[str]

    @property
    def left(self) -> str:
        """Where files lie that cannot be checked, to stand behind a sentence."""
        places = ", ".join(f"{n} in {name}" for name, n in sorted(self.not_checkable.items()))
        return f"; cannot be checked: {places}" if places else ""


def inspect_files(home: Path) -> FilesFound:
    """Inspects every file that no other inspection reads. Changes nothing."""
    flaws, n_sound, not_checkable = [], 0, Counter[str]()
    for path in sorted(one for one in home.rglob("*") if one.is_file() and not one.is_symlink()):
        name = path.relative_to(home).as_posix()
        if _is_any(name, CHECKED_ELSEWHERE):
            continue
        check = None if _is_any(name, NOT_CHECKABLE) else _check_of(name)
        if check is None:
            not_checkable[name.partition("/")[0]] += 1
        elif found := check(path):
            flaws.append(FileFlaw(name, found, _advice(name)))
        else:
            n_sound += 1
    snapshots = home / "snapshots"
    flaws += [
        FileFlaw(f"snapshots/{name}", found, _advice(f"snapshots/{name}")) for name, found in digest_flaws(snapshots)
    ]
    return FilesFound(tuple(flaws), n_sound, not_checkable)


def _check_of(name: str) -> Callable[[Path], str | None] | None:
    """What tells whether a file is damaged; None where nothing does."""
    if name == "dagster/dagster.yaml":
        return configuration_flaw
    checks = {
        ".json": _json_flaw, ".jsonl": _lines_flaw, ".yaml": _yaml_flaw, ".yml": _yaml_flaw, ".db": database_flaw,
        ".sqlite": database_flaw,
    }  # fmt: skip
    return checks.get(Path(name).suffix)


def _advice(name: str) -> str:
    top = name.partition("/")[0]
    if top == "record":
        return FROM_BACKUP
    if name.endswith(".duckdb"):
        return f"delete it, then `em snapshot --date {Path(name).stem}`"
    if top in {"llm", "evaluations"}:
        return f"{FROM_BACKUP}, or delete it: what it holds is asked or measured again"
    return "put right what people wrote there" if "/" not in name and not name.endswith(".json") else ANEW


def _is_any(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


def _json_flaw(path: Path) -> str | None:
    """Of a document alone, or of one with its SHA-256 on the line behind it."""
    data = path.read_bytes()
    document, _, check = data.partition(b"\n")
    if _SHA_256.fullmatch(check):
        return None if hashlib.sha256(document).hexdigest().encode() == check else "its check value does not fit"
    return next(_unread([data]), None)


def _lines_flaw(path: Path) -> str | None:
    return next(_unread([line for line in path.read_bytes().split(b"\n") if line]), None)


def _unread(texts: list[bytes]) -> Iterator[str]:
    for number, text in enumerate(texts, start=1):
        try:
            orjson.loads(text)
        except ValueError:
            yield f"it is no JSON (line {number})" if len(texts) > 1 else "it is no JSON"


def _yaml_flaw(path: Path) -> str | None:
    try:
        yaml.safe_load(path.read_bytes())
    except (yaml.YAMLError, ValueError):
        return "it is no YAML"
    return None
