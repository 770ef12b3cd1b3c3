"""The certificate of an erasure: what was done, where it was looked for, and nothing of what was erased."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from em_pipelines.governance.erasure.rebuilding import Rebuilt
from em_pipelines.governance.erasure.rewriting import Done
from em_pipelines.landing.erasure_requests import Request
from em_pipelines.language.values import iso_instant
from em_pipelines.storage.salt import Salt

ERASED, NOTHING_FOUND = "erased", "nothing_found"


@dataclass(frozen=True, slots=True)
class Certificate:
    """One erasure that has ended. `user` and `target` are salted hashes; all counts are of records, files or rows."""

    certificate_id: str
    scope: str
    asked_at: str
    asked_by: str
    carried_out_at: str
    user: str
    target: str
    result: str
    n_records_removed: dict[str, int] = field(default_factory=dict)
    n_records_cut: dict[str, int] = field(default_factory=dict)
    n_partitions_made: int = 0
    n_partitions_deleted: int = 0
    n_snapshots: int = 0
    n_answers: int = 0
    n_inbox_files: int = 0
    n_other_files: int = 0
    places_searched: dict[str, int] = field(default_factory=dict)
    n_found_after: int = 0
    waits_for_a_run: list[str] = field(default_factory=list)
    waits_for_a_sync: bool = False
    """Whether there is a graph database, outside the home, that holds it until the next sync."""
    n_ledger_entries: int = 0
    ledger_hash: str | None = None
    """The ledger as it stood when this was entered: how many entries, and the hash of the last; None where it had been
    edited."""

    def as_document(self) -> dict[str, Any]:
        """The certificate as JSON-able dict."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True)
class CarriedOut:
    """What an erasure came to: what was taken out and made again, and in how many files of each place it was sought.

    `is_found` is False where nothing in memory or log fitted the request.
    """

    is_found: bool
    done: Done
    rebuilt: Rebuilt
    n_other_files: int
    n_searched: Counter[str]
    waits_for_a_sync: bool


def certificate_of(request: Request, work: CarriedOut, salt: Salt, now: datetime) -> Certificate:
    """The certificate of a request, once nothing of it was found."""
    scope, done, rebuilt = request.scope, work.done, work.rebuilt
    return Certificate(
        certificate_id=request.request_id,
        scope=scope.kind.value,
        asked_at=request.until,
        asked_by=request.actor,
        carried_out_at=iso_instant(now),
        user=salt.hash("user", scope.user_id),
        target=salt.hash("target", scope.kind, scope.user_id, scope.target),
        result=ERASED if work.is_found else NOTHING_FOUND,
        n_records_removed={kind: n for kind, n in sorted(done.n_removed.items()) if n},
        n_records_cut={kind: n for kind, n in sorted(done.n_cut.items()) if n},
        n_partitions_made=rebuilt.n_partitions,
        n_partitions_deleted=rebuilt.n_deleted,
        n_snapshots=rebuilt.n_snapshots,
        n_answers=rebuilt.n_answers,
        n_inbox_files=done.n_files,
        n_other_files=work.n_other_files,
        places_searched=dict(sorted(work.n_searched.items())),
        waits_for_a_run=sorted(rebuilt.failed),
        waits_for_a_sync=work.waits_for_a_sync,
    )
