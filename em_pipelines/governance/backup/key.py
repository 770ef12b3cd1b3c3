"""The key that authenticates the list of a backup: who can write to the folder and has no key can forge no list.

The code is HMAC-SHA-256 over the layout, the name and all files of the list, so neither a file nor the name, which says
which backup is the newest, can be changed. It does not show that a whole backup was deleted.
"""

import hmac
from hashlib import sha256
from pathlib import Path

from em_pipelines.errors import UsageError

LEAST_KEY_BYTES = 16
_PURPOSE = b"em_pipelines list of a backup"


def read_key(path: Path, *outside: Path) -> bytes:
    """The key in a file, without white space around it.

    Raises UsageError for a file that is not there, is too short, or lies in one of the folders `outside`: there it
    would be found or copied together with what it protects.
    """
    own = path.resolve()
    if inside := next((folder for folder in outside if own.is_relative_to(folder.resolve())), None):
        raise UsageError(f"reading the key of the backups: {path} lies in {inside}; keep it elsewhere")
    try:
        key = path.read_bytes().strip()
    except OSError as error:
        raise UsageError(
            f"reading the key of the backups: {path} cannot be read ({error.strerror}); give a file with --key-file"
        ) from error
    if len(key) < LEAST_KEY_BYTES:
        raise UsageError(
            f"reading the key of the backups: {path} holds {len(key)} bytes; put at least {LEAST_KEY_BYTES} random "
            "ones into it"
        )
    return key


def authentication_code(key: bytes, layout: int, name: str, digest: str) -> str:
    """64 hex digits for a list: its layout, the name of the backup and the digest of all its files."""
    parts = (_PURPOSE, str(layout).encode(), name.encode(), digest.encode())
    return hmac.new(key, b"\0".join(parts), sha256).hexdigest()


def is_authentic(code: object, key: bytes, layout: int, name: str, digest: str) -> bool:
    """Whether a code is that of a list, in constant time."""
    expected = authentication_code(key, layout, name, digest)
    return isinstance(code, str) and hmac.compare_digest(code.encode(), expected.encode())
