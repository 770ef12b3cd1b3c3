"""The book of requests: those that wait or are at work, and the certificates of those that are done.

HOME/record/pending/ID.json       a request, until it is carried out
HOME/record/certificates/ID.json  what was done about it, without anything that was erased

An id is a salted hash of what is asked, so a request that is landed again is recognised, whoever lands it.
"""

from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from em_pipelines.atomic import write_atomically
from em_pipelines.erasure.names import key_of
from em_pipelines.erasure.scopes import Request, Scope, ScopeKind, as_document, of_document
from em_pipelines.errors import CorruptTableError
from em_pipelines.landing.fields import iso_instant
from em_pipelines.salting import Salt

PENDING = "pending"
CERTIFICATES = "certificates"
ID_DIGITS = 20


class RequestBook:
    """Requests and certificates of one home. Whoever changes it holds the home's landing lock."""

    def __init__(self, record: Path, salt: Salt) -> None:
        self.pending_folder = record / PENDING
        self.certificates_folder = record / CERTIFICATES
        self._salt = salt

    def request(self, scope: Scope, cutoff: datetime, actor: str) -> Request:
        """The request for a scope; equal requests have equal ids."""
        target = key_of(scope.target) if scope.kind is ScopeKind.ENTITY else scope.target
        asked = self._salt.hash("request", scope.kind, scope.user_id, target, iso_instant(cutoff))
        return Request(f"erase_{asked[:ID_DIGITS]}", scope, cutoff, actor)

    def is_known(self, request: Request) -> bool:
        """Whether it waits already or has been carried out."""
        name = f"{request.request_id}.json"
        return (self.pending_folder / name).exists() or (self.certificates_folder / name).exists()

    def is_pending(self, request: Request) -> bool:
        """Whether it waits still."""
        return (self.pending_folder / f"{request.request_id}.json").exists()

    def put(self, request: Request) -> None:
        """Keeps a request, or what is now known of it: durable when this returns."""
        path = self.pending_folder / f"{request.request_id}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.parent.chmod(0o700)
        write_atomically(path, orjson.dumps(as_document(request), option=orjson.OPT_SORT_KEYS))

    def pending(self) -> list[Request]:
        """Requests that are not carried out, in the order in which they were asked.

        Raises CorruptTableError for a file that is none: a request is never passed over.
        """
        found = []
        for path in sorted(self.pending_folder.glob("[!.]*.json")):
            try:
                found.append(of_document(orjson.loads(path.read_bytes())))
            except FileNotFoundError:  # carried out a moment ago
                continue
            except (ValueError, KeyError, TypeError) as error:
                raise CorruptTableError(
                    f"reading {path}: it is no request ({type(error).__name__}); move it away and ask again"
                ) from error
        return sorted(found, key=lambda r: (r.cutoff, r.request_id))

    def close(self, request: Request, certificate: dict[str, Any]) -> None:
        """Writes the certificate, then lets go of the request; a crash in between leaves both, which is well."""
        path = self.certificates_folder / f"{request.request_id}.json"
        write_atomically(path, orjson.dumps(certificate, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n")
        self.drop(request)

    def drop(self, request: Request) -> None:
        """Lets go of a request."""
        (self.pending_folder / f"{request.request_id}.json").unlink(missing_ok=True)

    def certificate(self, request_id: str) -> dict[str, Any] | None:
        """The certificate of a request that is done."""
        path = self.certificates_folder / f"{request_id}.json"
        return orjson.loads(path.read_bytes()) if path.exists() else None
