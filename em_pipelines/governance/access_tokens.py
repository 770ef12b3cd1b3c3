"""Tokens: who may speak for whose memory, and how far. One user and one scope each, in one domain or in all, until a
day; no token is kept.

HOME/record/tokens.jsonl has one line a token, readable by its owner alone: its id, whose it is, scope and times, and a
hash of the secret part that only this home can make. Numbers stand where words would do, so that no name that somebody
wants forgotten is ever met in it. Erasing a user removes their lines.

Each line is sealed whole, by the home's salt: of one that was edited, in whatever field, the token is refused, and no
other is. It stays where it is until somebody revokes it.
"""

import hmac
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
from filelock import FileLock, Timeout
from pydantic import TypeAdapter, ValidationError

from em_pipelines.errors import LockedError, UsageError
from em_pipelines.governance.token_scope import DEFAULT_DAYS, MAX_DAYS, TokenScope
from em_pipelines.landing.records import Identifier
from em_pipelines.language.masking import secret_kinds
from em_pipelines.language.name_matching import NameIndex
from em_pipelines.storage.files import make_folder, write_atomically
from em_pipelines.storage.ledger_entries import canonical
from em_pipelines.storage.salt import Salt

FILE = "tokens.jsonl"
SECRET_BYTES = 32
ID_BYTES = 6
MAX_DOMAIN_CHARACTERS = 256
_TOKEN = re.compile(r"emt_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_IDENTIFIER: TypeAdapter[str] = TypeAdapter(Identifier)


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of a token; times in UTC."""

    token_id: str
    user_id: str
    scope: TokenScope
    created_at: datetime
    expires_at: datetime
    domain: str | None = None
    """What was said in another is not told; None bounds nothing."""


def checked_domain(domain: str | None, scope: TokenScope) -> str | None:
    """The domain if messages could have it; raises UsageError, and for one with a scope that knows no domains."""
    if domain is None:
        return None
    if not domain.strip() or len(domain) > MAX_DOMAIN_CHARACTERS:
        raise UsageError(
            f"reading the domain: give the name that messages have, of 1 to {MAX_DOMAIN_CHARACTERS} characters"
        )
    if secret_kinds(domain):
        raise UsageError("reading the domain: it looks like a secret; name it otherwise")
    if scope is TokenScope.ADMIN:
        raise UsageError("bounding a token to a domain: admin erases, which reaches every domain; give read or write")
    return domain


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of the file: its bytes, its fields as far as there are any, and the token; None where it was edited."""

    raw: bytes
    fields: dict[str, Any]
    token: Token | None


def checked_user(user_id: str) -> str:
    """The user id if it could land; raises UsageError."""
    try:
        found = _IDENTIFIER.validate_python(user_id)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]["msg"]
        raise UsageError(f"reading the user id: {problem}; give the id that the logs have") from error
    if secret_kinds(found):
        raise UsageError("reading the user id: it looks like a secret; name the user otherwise")
    return found


class TokenBook:
    """The tokens of one home. Reading costs one look at the file while it stays as it was. Raises SaltError where none
    of them could be recognised."""

    def __init__(self, record: Path, salt: Salt) -> None:
        self._path = record / FILE
        self._salt = salt
        self._seen: tuple[tuple[int, int, int] | None, tuple[_Line, ...]] = (None, ())

    def create(
        self, user_id: str, scope: TokenScope, now: datetime, days: int = DEFAULT_DAYS, domain: str | None = None
    ) -> tuple[str, Token]:
        """A new token, which is shown now and never again, and what is kept of it.

        Raises UsageError for a user or domain that cannot be, or more days than 10 years.
        """
        if not 1 <= days <= MAX_DAYS:
            raise UsageError(f"making a token for {days} days: give 1 to {MAX_DAYS}")
        token_id, secret = secrets.token_hex(ID_BYTES), secrets.token_urlsafe(SECRET_BYTES)
        bound = checked_domain(domain, scope)
        made = Token(token_id, checked_user(user_id), scope, now, now + timedelta(days=days), bound)
        line = {
            "token_id": token_id,
            "user_id": made.user_id,
            "level": int(scope),
            "created": int(made.created_at.timestamp()),
            "expires": int(made.expires_at.timestamp()),
            "hash": self._hash(token_id, secret),
            **({"domain": bound} if bound else {}),
        }
        self._salt.bind()
        data = canonical({**line, "seal": self._seal(line)})
        with self._lock():
            self._write([*self._lines(), _Line(data, line, made)])
        return f"emt_{token_id}_{secret}", made

    def check(self, token: str, now: datetime) -> Token | None:
        """Whose token it is; None for one that is unknown, revoked, expired, edited or no token at all."""
        match = _TOKEN.fullmatch(token)
        token_id, secret = match.groups() if match else ("", "")
        line = next((line for line in self._lines() if line.token and line.token.token_id == token_id), None)
        # Compared even where there is nothing to compare with, so that the time taken tells nothing of ids.
        is_right = hmac.compare_digest(line.fields["hash"] if line else "0" * 64, self._hash(token_id, secret))
        found = line.token if line and is_right else None
        return found if found and now < found.expires_at else None

    def all(self, user_id: str | None = None) -> list[Token]:
        """The tokens, expired ones too, in the order in which they were made; of one user where one is named."""
        return [line.token for line in self._lines() if line.token and user_id in (None, line.token.user_id)]

    def edited(self) -> list[int]:
        """The lines, counted from 1, that this home has not written as they are: nobody is let in by them."""
        return [number for number, line in enumerate(self._lines(), start=1) if line.token is None]

    def revoke(self, token_id: str) -> Token | None:
        """Takes a token back, by its id or the beginning of one; raises UsageError for none, or several.

        Returns it; None for one whose line was edited, of which nothing can be believed.
        """
        with self._lock():
            found = [line for line in self._lines() if token_id and _id_of(line).startswith(token_id)]
            if len(found) != 1:
                raise UsageError(
                    f"revoking {token_id!r:.40}: {len(found) or 'no'} tokens have that id; see `em token list`"
                )
            self._write([line for line in self._lines() if line is not found[0]])
        return found[0].token

    def forget_user(self, user_id: str) -> int:
        """Revokes all tokens of a user and removes every trace of them; returns how many they were.

        A line that is no token goes as well: nobody can say whose it was.
        """
        return self._forget(lambda line: line.get("user_id", user_id) == user_id)

    def forget_domains(self, user_id: str, names: NameIndex) -> int:
        """The same of a user's tokens whose domain holds one of the names; nothing that was said is of it any more."""
        return self._forget(lambda line: line.get("user_id") == user_id and names.is_in(line.get("domain") or ""))

    def _forget(self, goes: Callable[[dict[str, Any]], bool]) -> int:
        if not self._path.exists():
            return 0
        with self._lock():
            lines = self._lines()
            left = [line for line in lines if not goes(line.fields)]
            if len(left) < len(lines):
                self._write(left)
        return len(lines) - len(left)

    def _seal(self, fields: dict[str, Any]) -> str:
        return self._salt.hash("token line", canonical(fields).decode())

    def _hash(self, token_id: str, secret: str) -> str:
        return self._salt.hash("token", token_id, secret)

    def _lines(self) -> tuple[_Line, ...]:
        try:
            stat = self._path.stat()
        except FileNotFoundError:
            return ()
        version = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
        if self._seen[0] != version:
            self._salt.verify()
            self._seen = (version, tuple(map(self._line, self._path.read_bytes().splitlines())))
        return self._seen[1]

    def _line(self, raw: bytes) -> _Line:
        try:
            fields = orjson.loads(raw)
            seal = fields.pop("seal", "")
            is_ours = isinstance(seal, str) and hmac.compare_digest(seal.encode(), self._seal(fields).encode())
            return _Line(raw, fields, _token(fields) if is_ours else None)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
            return _Line(raw, {}, None)

    def _write(self, lines: Sequence[_Line]) -> None:
        """Replaces the file, which nobody but who may use the home can read at any moment."""
        write_atomically(self._path, b"".join(line.raw + b"\n" for line in lines))

    @contextmanager
    def _lock(self) -> Iterator[None]:
        make_folder(self._path.parent)
        try:
            with FileLock(self._path.with_name("tokens.lock"), timeout=60):
                yield
        except Timeout as error:
            raise LockedError("changing tokens: another process has held them for 60 s; try again") from error


def _id_of(line: _Line) -> str:
    return str(line.fields.get("token_id", ""))


def _token(line: dict[str, Any]) -> Token:
    return Token(
        line["token_id"],
        line["user_id"],
        TokenScope(line["level"]),
        datetime.fromtimestamp(line["created"], UTC),
        datetime.fromtimestamp(line["expires"], UTC),
        _domain(line),
    )


def _domain(line: dict[str, Any]) -> str | None:
    """Raises TypeError for what is no domain: a line that says something else must not open everything."""
    found = line.get("domain")
    if "domain" in line and not (isinstance(found, str) and found):
        raise TypeError("domain")
    return found
