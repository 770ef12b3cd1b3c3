"""Hashes that only this home can make: names of what must be recognised and may not be kept.

A plain hash of a name can be guessed by trying names; with a random salt that never leaves the home it says nothing
elsewhere. Ledger and erasure remember people and things by these alone. A lost salt makes them unrecognisable, so it
belongs into every backup of the home.
"""

import hmac
import os
import secrets
from functools import cached_property
from hashlib import sha256
from pathlib import Path

SALT_BYTES = 32


class Salt:
    """The salt of one home, made at its first use: 32 random bytes in a file that only its owner can read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def hash(self, *parts: str) -> str:
        """HMAC-SHA-256 over the parts, 64 hex digits; ("ab", "c") and ("a", "bc") differ."""
        data = b"".join(b"%d:%s" % (len(p), p) for p in (part.encode("utf-8", "surrogatepass") for part in parts))
        return hmac.new(self._key, data, sha256).hexdigest()

    @cached_property
    def _key(self) -> bytes:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._path.with_name(f".{self._path.name}.{secrets.token_hex(4)}.{os.getpid()}.tmp")
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as handle:
                handle.write(secrets.token_bytes(SALT_BYTES))
                handle.flush()
                os.fsync(handle.fileno())
            # Linking fails where another process was first, whose salt then is ours as well.
            os.link(temporary, self._path)
        except FileExistsError:
            pass
        finally:
            temporary.unlink(missing_ok=True)
        return self._path.read_bytes()
