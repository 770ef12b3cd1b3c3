"""Hashes that only this home can make: names of what must be recognised and may not be kept.

A plain hash of a name can be guessed by trying names; with a random salt that never leaves the home it says nothing
elsewhere. Ledger, tokens and erasure remember people and things by these alone. A lost salt makes them
unrecognisable, so it belongs into every backup of the home.

It is made once. Where anything is there that was made with it, a salt that is gone is lost and is not made anew, and
one that does not give the check value that was noted is another home's: with either, who was erased could land again.

A check value is 64 hex digits, of which those of two salts share some four. So a value that shares most of them with
the salt's own was made with it and is damaged itself, as is one that is no 64 hex digits: it is written anew.
"""

import errno
import hmac
import os
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from enum import Enum
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from em_pipelines.errors import SaltError
from em_pipelines.storage.files import make_folder, private, sync_folder, write_atomically

SALT_BYTES = 32
CHECK = "check of the salt"
SHARED_DIGITS = 32
"""Of 64: two check values of different salts share so many once in 10^20 times."""
_DIGITS = re.compile("[0-9a-f]{64}")
UNWRITABLE = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


class _Check(Enum):
    """What a file with a check value says of a salt."""

    MISSING = "missing"
    OWN = "own"
    DAMAGED = "damaged"
    FOREIGN = "foreign"


class Salt:
    """The salt of one home, made at its first use: 32 random bytes in a file that only its owner can read.

    A hash that it alone can make is noted beside it, in PATH.check, and with `bind` at `bound`: a file among what has
    to keep company with it. `hangs_on_it` are files and folders that show that there was a salt.
    """

    def __init__(self, path: Path, bound: Path | None = None, hangs_on_it: Sequence[Path] = ()) -> None:
        self._path = path
        self._check = path.with_name(f"{path.name}.check")
        self._bound = bound
        self._hangs_on_it = tuple(hangs_on_it)

    def hash(self, *parts: str) -> str:
        """HMAC-SHA-256 over the parts, 64 hex digits; ("ab", "c") and ("a", "bc") differ. Raises SaltError."""
        return _hash(self._key, *parts)

    def problem(self) -> str | None:
        """What is wrong with it, in words; None where nothing is. Changes nothing."""
        key = self._read()
        if key is None:
            left = next((path for path in (*self._checks, *self._hangs_on_it) if _is_there(path)), None)
            # Read again: another process may have made it, and then what hangs on it, since the first look.
            return None if left is None or self._read() else f"it is lost, and {left} was made with it"
        if len(key) != SALT_BYTES:
            return f"it has {len(key)} bytes instead of {SALT_BYTES}"
        foreign = next((path for path in self._checks if _state(path, key) is _Check.FOREIGN), None)
        return None if foreign is None else f"it is another home's, or was changed: {foreign} was made with another one"

    def damaged_checks(self) -> list[Path]:
        """The files whose check value is damaged while the salt is sound; none where `problem` says something."""
        key = None if self.problem() else self._read()
        return [] if key is None else [path for path in self._checks if _state(path, key) is _Check.DAMAGED]

    def mend_checks(self) -> list[Path]:
        """Writes the `damaged_checks` anew, and returns them."""
        damaged = self.damaged_checks()
        for path in damaged:
            write_atomically(path, _hash(self._key, CHECK).encode())
        return damaged

    def verify(self) -> None:
        """Raises SaltError where it is lost or another home's."""
        if problem := self.problem():
            raise SaltError(
                f"reading {self._path}: {problem}; put it back from a backup of this home, for without it nobody can "
                "tell what was erased or whose a token is"
            )

    def bind(self, *, is_far: bool = False) -> None:
        """Notes the check value beside the salt where it is not yet, and at `bound`, too, where `is_far`. For whoever
        writes what hangs on it. Raises SaltError."""
        value = _hash(self._key, CHECK).encode()
        for path in self._checks if is_far else (self._check,):
            if _text(path) is None:
                write_atomically(path, value)

    @property
    def _checks(self) -> tuple[Path, ...]:
        return (self._check, self._bound) if self._bound else (self._check,)

    @cached_property
    def _key(self) -> bytes:
        self.verify()
        key = self._read()
        return self._made() if key is None else key

    def _read(self) -> bytes | None:
        try:
            return self._path.read_bytes()
        except FileNotFoundError:
            return None

    def _made(self) -> bytes:
        """A new salt; of a home that cannot be written to one that is forgotten, since nothing can hang on it."""
        temporary = self._path.with_name(f".{self._path.name}.{secrets.token_hex(4)}.{os.getpid()}.tmp")
        try:
            make_folder(self._path.parent)
            with open(temporary, "xb", opener=private) as handle:
                handle.write(secrets.token_bytes(SALT_BYTES))
                handle.flush()
                os.fsync(handle.fileno())
            # Linking fails where another process was first, whose salt then is ours as well.
            with suppress(FileExistsError):
                os.link(temporary, self._path)
            sync_folder(self._path.parent)
        except OSError as error:
            if error.errno in UNWRITABLE:
                return secrets.token_bytes(SALT_BYTES)
            raise
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
        key = self._path.read_bytes()
        write_atomically(self._check, _hash(key, CHECK).encode())
        return key


def _hash(key: bytes, *parts: str) -> str:
    data = b"".join(b"%d:%s" % (len(p), p) for p in (part.encode("utf-8", "surrogatepass") for part in parts))
    return hmac.new(key, data, sha256).hexdigest()


def _state(path: Path, key: bytes) -> _Check:
    noted, own = _text(path), _hash(key, CHECK)
    if noted is None:
        return _Check.MISSING
    if noted == own:
        return _Check.OWN
    n_shared = sum(one == other for one, other in zip(noted, own, strict=False))
    is_damaged = n_shared >= SHARED_DIGITS or not _DIGITS.fullmatch(noted)
    return _Check.DAMAGED if is_damaged else _Check.FOREIGN


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except FileNotFoundError:
        return None


def _is_there(path: Path) -> bool:
    """Whether there is something in a file or folder."""
    try:
        return any(path.iterdir()) if path.is_dir() else path.stat().st_size > 0
    except FileNotFoundError:
        return False
