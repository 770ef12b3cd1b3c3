"""Whether the ledger is the one that others have seen: the newest snapshot, and the certificates of erasures.

A ledger that was removed together with its head, or put back as it once was, is whole in itself. Each witness knows how
many entries there were and the hash of the last; each certificate also has an entry of its own. What a witness knows
and the ledger does not hold was taken out of it.
"""

from collections.abc import Iterator
from typing import Any

import orjson

from em_pipelines.home import Home
from em_pipelines.serving.snapshot import noted_head
from em_pipelines.storage.ledger import Head, Problem
from em_pipelines.storage.ledger_entries import Entry


def ledger_problems(home: Home) -> list[Problem]:
    """Everything that shows an edit of the ledger, in itself or by what others know of it; empty where nothing does."""
    return home.ledger.verify() or [*_by_snapshot(home), *_by_certificates(home)]


def _by_snapshot(home: Home) -> Iterator[Problem]:
    noted = noted_head(home.snapshots)
    if noted and (problem := home.ledger.lacks(noted, "the newest snapshot")):
        yield problem


def _by_certificates(home: Home) -> Iterator[Problem]:
    """At most one: the others would say the same."""
    entries = home.ledger.entries()
    for name, certificate in _certificates(home):
        by = f"the certificate {name}"
        noted = _head_of(certificate)
        problem = home.ledger.lacks(noted, by) if noted else None
        if problem is None and not _is_entered(name, entries):
            problem = Problem(len(entries) + 1, f"{by} was entered, and no entry has it: it was removed")
        if problem:
            yield problem
            return


def _certificates(home: Home) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(home.book.certificates_folder.glob("[!.]*.json")):
        try:
            found = orjson.loads(path.read_bytes())
        except orjson.JSONDecodeError:
            found = None
        yield path.stem, found if isinstance(found, dict) else {}


def _head_of(certificate: dict[str, Any]) -> Head | None:
    """None of one that was made before heads were noted, or while the ledger's own was broken."""
    count, own = certificate.get("n_ledger_entries"), certificate.get("ledger_hash")
    return Head(count, own) if isinstance(count, int) and count >= 0 and isinstance(own, str) else None


def _is_entered(certificate_id: str, entries: list[Entry]) -> bool:
    return any(entry.certificate_id == certificate_id for entry in entries)
