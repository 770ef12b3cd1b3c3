"""Takes out of a home what it holds of one user, in one of three forms, and enters that into the ledger.

Holds the landing lock while it reads: nothing is half landed and nothing half forgotten meanwhile.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import BinaryIO

from em_pipelines.errors import ErasureIncompleteError, UnknownUserError, UsageError
from em_pipelines.language.counting import counted
from em_pipelines.serving.export.exported_facts import Memory, days_said, memory_of
from em_pipelines.serving.export.formats import ExportFormat
from em_pipelines.serving.export.graphml import write_graphml
from em_pipelines.serving.export.json_export import write_json
from em_pipelines.serving.export.notes import notes_of
from em_pipelines.serving.export.output import check_place, to_file, to_stream
from em_pipelines.serving.export.portable_home import PortableHome
from em_pipelines.serving.export.records import records_of
from em_pipelines.serving.export.vault import to_vault
from em_pipelines.serving.facts import FactQuery, KeptAs, known
from em_pipelines.storage.ledger_entries import Act

EXPORT = "export"
"""The action in the ledger."""
Counts = dict[str, int]


@dataclass(frozen=True, slots=True)
class Exported:
    """What went out: of whom, as of which day, in which form, how many things of each kind, and where to."""

    user_id: str
    as_of: date
    format: ExportFormat
    counts: Counts
    path: Path | None = None


def export(home: PortableHome, user_id: str, format_: ExportFormat, as_of: date, to: Path | BinaryIO) -> Exported:
    """Writes everything of the user to a place, or to a stream that is open.

    Raises UsageError for a user of whom nothing is held and for a place that will not do, ErasureIncompleteError while
    a request of the user to be forgotten waits, and LockedError where another process keeps landing for too long.
    """
    path = to if isinstance(to, Path) else None
    if path is not None:
        check_place(path, home.path)
    if format_ is ExportFormat.MARKDOWN:
        if path is None:
            raise UsageError("exporting as markdown: a vault is a folder; name it with --output")
        return Exported(user_id, as_of, format_, _export_vault(home, user_id, as_of, path), path)
    sink = to_file(to) if isinstance(to, Path) else to_stream(to, home.path / "tmp")
    with sink as handle:
        with _held(home, user_id):
            counts = _WRITERS[format_](home, memory_in(home, user_id, as_of), handle)
        _enter(home, user_id, format_, counts)
    return Exported(user_id, as_of, format_, counts, path)


def _export_vault(home: PortableHome, user_id: str, as_of: date, output: Path) -> Counts:
    with to_vault(output, user_id) as notes:
        with _held(home, user_id):
            memory = memory_in(home, user_id, as_of)
            _check_known(home, memory)
        notes.update(notes_of(memory))
        counts = {"notes": len(notes), "entities": len(memory.entities), "facts": len(memory.facts)}
        _enter(home, user_id, ExportFormat.MARKDOWN, counts)
    return counts


def memory_in(home: PortableHome, user_id: str, as_of: date) -> Memory:
    """What a home knows of a user at the end of a day, with feedback that no run has folded yet."""
    query = FactQuery(user_id, as_of, kept_as=KeptAs.BOTH)
    held = known(home.store, query, home.settings.decay, home.waiting(user_id, as_of))
    return memory_of(user_id, as_of, held, days_said(home.store.log, user_id))


@contextmanager
def _held(home: PortableHome, user_id: str) -> Iterator[None]:
    """Holds the landing lock; raises ErasureIncompleteError while something of the user is to be forgotten."""
    with home.lock("landing"):
        if n_waiting := sum(request.scope.user_id == user_id for request in home.book.pending()):
            raise ErasureIncompleteError(
                f"exporting: {counted(n_waiting, 'request')} to forget something of {user_id!r:.80} "
                f"{'waits' if n_waiting == 1 else 'wait'}; "
                "`em run` carries them out, export then"
            )
        yield


def _enter(home: PortableHome, user_id: str, format_: ExportFormat, counts: Counts) -> None:
    """Before the export can be seen: one that fails in between is entered as well, never one seen that is not."""
    now = datetime.now(UTC)
    home.ledger.append(Act(EXPORT, user_id, format_.value, now, count=sum(counts.values())))


def _write_json(home: PortableHome, memory: Memory, handle: BinaryIO) -> Counts:
    _check_known(home, memory)
    records = records_of(home.store.log, memory.user_id, home.path)
    counts = write_json(handle, records, memory, home.steering)
    return counts | {"entities": len(memory.entities), "facts": len(memory.facts)}


def _write_graphml(home: PortableHome, memory: Memory, handle: BinaryIO) -> Counts:
    _check_known(home, memory)
    return write_graphml(handle, memory)


def _check_known(home: PortableHome, memory: Memory) -> None:
    """Raises UsageError for a user of whom nothing is held."""
    user_id = memory.user_id
    if not memory.entities and next(records_of(home.store.log, user_id, home.path), None) is None:
        raise UnknownUserError(
            f"exporting: nothing is held of anybody called {user_id!r:.80}; see `em users` for who is remembered"
        )


_WRITERS: dict[ExportFormat, Callable[[PortableHome, Memory, BinaryIO], Counts]] = {
    ExportFormat.JSON: _write_json,
    ExportFormat.GRAPHML: _write_graphml,
}
