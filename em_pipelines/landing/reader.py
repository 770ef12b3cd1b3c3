"""Finds the files to land below the paths that were given, and reads them as lines or documents of UTF-8, never holding
more of a line than its limit.

Unpacks gzip, takes off byte order marks, recodes UTF-16. Knows nothing of formats, nor of what is in a ZIP
(`containers`).
"""

import codecs
import errno
import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, cast

from em_pipelines.errors import UsageError
from em_pipelines.landing.reasons import Reason, RuleError
from em_pipelines.landing.settings import LandingSettings

HEAD_BYTES = 64 * 1024
BINARY_LETTER_BYTES = 4096
_CHUNK_BYTES = 256 * 1024
_GZIP_MAGIC = b"\x1f\x8b"
_ZIP_MAGICS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")  # the first header, that of an empty one, that of a part
_ALLOWED_CONTROLS = frozenset(b"\t\n\x0b\x0c\r\x1b")
_CONTROL_SHARE = 0.05  # of the head; text with colour codes of terminals stays below


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its end, numbered from 1; with a reason, what could be kept of one that cannot be read."""

    number: int
    raw: bytes
    reason: Reason | None = None
    detail: str = ""


class InputFile:
    """One file to land. Everything that cannot be read at all raises RuleError with what is to be kept of it."""

    def __init__(self, path: Path, settings: LandingSettings, data: bytes | None = None) -> None:
        """`data` stands in for the content of the file, which then need not exist."""
        self.path = path
        self.settings = settings
        self._data = data

    @property
    def is_zip(self) -> bool:
        """Whether it begins as a ZIP does, as documents of offices do, too; False where it cannot be read."""
        try:
            with self._open_stored() as stream:
                return stream.read(4) in _ZIP_MAGICS
        except OSError:
            return False

    @cached_property
    def head(self) -> bytes:
        """The first 64 KiB as UTF-8. Raises RuleError for files that are empty, binary, broken or unreadable."""
        try:
            with self._open() as stream:
                head = stream.read(HEAD_BYTES)
                if not head.strip() and not any(c.strip() for c in iter(lambda: stream.read(_CHUNK_BYTES), b"")):
                    raise RuleError(
                        Reason.EMPTY_FILE, f"{self.path.name} holds nothing but white space", raw=head[:100]
                    )
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            raise self._unreadable(error, 1) from error
        if _is_binary(head):
            raise RuleError(
                Reason.BINARY_FILE,
                f"{self.path.name} is no text; expected JSON or CSV in UTF-8",
                raw=head[:BINARY_LETTER_BYTES],
            )
        return head

    def check(self) -> None:
        """Raises RuleError where the file cannot be read at all, whatever its format: see `head`."""
        _ = self.head

    def lines(self, *, keep_blank: bool = False) -> Iterator[Line]:
        """The lines, blank ones only if asked for. A file that breaks off ends with a line that says so."""
        number, limit = 0, self.settings.max_line_bytes
        try:
            with self._open() as stream:
                while raw := stream.readline(limit + 1):
                    number += 1
                    if len(raw) > limit and not raw.endswith(b"\n"):
                        yield self._too_long(stream, raw, number)
                    elif keep_blank or not raw.isspace():
                        yield Line(number, raw.rstrip(b"\r\n"))
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            wrong = self._unreadable(error, number + 1)
            yield Line(wrong.line_number, b"", wrong.reason, wrong.detail)

    def chunks(self) -> Iterator[bytes]:
        """The whole file as UTF-8, some of it at a time. Raises RuleError where it cannot be read on."""
        try:
            with self._open() as stream:
                yield from iter(lambda: stream.read(_CHUNK_BYTES), b"")
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            raise self._unreadable(error, 1) from error

    def document(self) -> bytes:
        """The whole file as UTF-8. Raises RuleError where it cannot be read or is larger than a document may be."""
        limit = self.settings.max_document_bytes
        try:
            with self._open() as stream:
                data = stream.read(limit + 1)
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            raise self._unreadable(error, 1) from error
        if len(data) > limit:
            raise RuleError(
                Reason.DOCUMENT_TOO_LARGE,
                f"{self.path.name} holds more than {limit} bytes in one document; split it or raise max_document_bytes",
                raw=data[: self.settings.max_letter_bytes],
            )
        return data

    def _too_long(self, stream: BinaryIO, beginning: bytes, number: int) -> Line:
        length, limit = len(beginning), self.settings.max_line_bytes
        while chunk := stream.readline(_CHUNK_BYTES):
            length += len(chunk)
            if chunk.endswith(b"\n"):
                break
        detail = f"line {number} of {self.path.name} has {length} bytes, more than the {limit} allowed"
        return Line(number, beginning[: self.settings.max_letter_bytes], Reason.LINE_TOO_LONG, detail)

    def _open(self) -> BinaryIO:
        stream = self._open_bytes()
        try:
            start = stream.read(4)
            stream.seek(0)
            if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                return io.BufferedReader(_FromUtf16(stream))
            if start.startswith(codecs.BOM_UTF8):
                stream.seek(len(codecs.BOM_UTF8))
        except BaseException:
            stream.close()
            raise
        return stream

    def _open_bytes(self) -> BinaryIO:
        stream = self._open_stored()
        if self._data is not None or (self.path.suffix != ".gz" and stream.peek(2)[:2] != _GZIP_MAGIC):
            return stream
        packed = gzip.GzipFile(fileobj=stream, mode="rb")
        packed.myfileobj = cast("io.FileIO", stream)  # closed with it
        return cast("BinaryIO", packed)

    def _open_stored(self) -> io.BufferedReader:
        """The bytes as they are stored."""
        if self._data is not None:
            return cast("io.BufferedReader", io.BytesIO(self._data))
        # Without waiting for whoever may write to a FIFO that has taken the file's place.
        return open(self.path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))

    def _unreadable(self, error: Exception, line_number: int) -> RuleError:
        if isinstance(error, gzip.BadGzipFile | EOFError | zlib.error):
            reason, detail = Reason.BROKEN_GZIP, f"{self.path.name} cannot be unpacked: {error}"
        elif isinstance(error, UnicodeDecodeError):
            reason, detail = Reason.NOT_UTF8, f"{self.path.name} begins as UTF-16 and is not: {error.reason}"
        else:
            reason, detail = Reason.UNREADABLE_FILE, f"{self.path.name} cannot be read: {error}"
        return RuleError(reason, detail, line_number=line_number)


class _FromUtf16(io.RawIOBase):
    """A stream of UTF-8 over a stream of UTF-16 with a byte order mark."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._decoder = codecs.getincrementaldecoder("utf-16")()
        self._pending = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        while not self._pending:
            chunk = self._source.read(_CHUNK_BYTES)
            self._pending = self._decoder.decode(chunk, final=not chunk).encode()
            if not chunk:
                break
        taken = self._pending[: len(buffer)]
        self._pending = self._pending[len(taken) :]
        buffer[: len(taken)] = taken
        return len(taken)

    def close(self) -> None:
        self._source.close()
        super().close()


def _is_binary(head: bytes) -> bool:
    if b"\x00" in head:
        return True
    controls = sum(1 for byte in head[:BINARY_LETTER_BYTES] if byte < 32 and byte not in _ALLOWED_CONTROLS)
    return controls > _CONTROL_SHARE * min(len(head), BINARY_LETTER_BYTES)


_UNFINISHED = (".tmp", ".part")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to land. `folder_user` is the first sub-folder below the directory it was found in.

    `wrong` is why it is not to be opened, and in which words: it is a finding, and the others land. Of what was not
    named itself but found in a directory or ZIP, `root` is that, `inside` the path below it (with /), and `siblings`
    are the names beside it, then those beside its folder, and so on up to the root. A member of a ZIP has the path
    ZIP!/MEMBER, the ZIP's name as `container`, the first folder in there as `inner_user`, and its `file` to read.
    """

    path: Path
    folder_user: str | None = None
    wrong: tuple[Reason, str] | None = None
    root: Path | None = None
    inside: str = ""
    siblings: tuple[frozenset[str], ...] = ()
    container: str = ""
    inner_user: str | None = None
    file: InputFile | None = None


def shown(path: Path) -> str:
    """A path as text: what of its name is no UTF-8 is written as escapes."""
    return str(path).encode("utf-8", "backslashreplace").decode()


def find_files(paths: Sequence[Path], within: Path | None = None) -> tuple[list[FoundFile], list[str]]:
    """The files below the paths, each once, directories in sorted order; and notes on what was passed over.

    In directories hidden and unfinished files (*.tmp, *.part) are left out silently, and links that lead out of the
    directory are not followed. A path that is named is followed wherever it leads, but
    for one `within` a folder, which it may not leave. Raises UsageError where a path does not exist, before anything
    has been read.
    """
    for path in paths:
        if not _exists(path) and not (within and path.is_symlink()):
            raise UsageError(f"landing {shown(path)}: no such file or directory; check the path")
    found: dict[Path, FoundFile] = {}
    notes = []
    for path in paths:
        is_folder = within is None and path.is_dir()
        for file in _below(path) if is_folder else [FoundFile(path, wrong=_wrong(path, within))]:
            if file.wrong:
                notes.append(f"{shown(file.path)} was left out: {file.wrong[1]}")
                found.setdefault(file.path.absolute(), file)
            else:
                found.setdefault(file.path.resolve(), file)
    return list(found.values()), notes


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name that is too long, a folder that may not be looked into
        return False


def _below(root: Path) -> Iterator[FoundFile]:
    closed: list[OSError] = []
    names_in: dict[tuple[str, ...], tuple[frozenset[str], ...]] = {}
    for folder, folders, names in os.walk(root, onerror=closed.append):
        entries = sorted(f for f in folders if not f.startswith("."))
        folders[:] = entries
        here = Path(folder)
        inner = here.relative_to(root).parts
        user = inner[0] if inner else None
        siblings = names_in[inner] = (frozenset(names), *names_in.get(inner[:-1], ()))
        for name in entries:
            if (here / name).is_symlink() and (wrong := _wrong(here / name, root)):
                yield FoundFile(here / name, None, wrong)
        for name in sorted(names):
            if not name.startswith(".") and not name.endswith(_UNFINISHED):
                wrong = _wrong(here / name, root) or _wrong_name((*inner, name))
                inside = "/".join((*inner, name))
                yield FoundFile(here / name, None if wrong else user, wrong, root, inside, siblings)
    for error in closed:
        yield FoundFile(Path(error.filename), None, (Reason.UNREADABLE_FILE, f"it cannot be listed: {error.strerror}"))


def _wrong_name(parts: Sequence[str]) -> tuple[Reason, str] | None:
    try:
        "/".join(parts).encode()
    except UnicodeEncodeError:
        return Reason.NAME_NOT_UTF8, "its name, or that of its folder, is no UTF-8; rename it and land it again"
    return None


_KINDS = {stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}


def _wrong(path: Path, root: Path | None) -> tuple[Reason, str] | None:
    """Why a path is not to be opened; None for a file, and for a folder that a link inside the root names again."""
    try:
        mode = path.stat().st_mode
        if root and path.is_symlink():
            target = path.resolve(strict=True)
            if not target.is_relative_to(root.resolve()):
                return Reason.LINK_NOT_FOLLOWED, "it is a link that leads out of the folder; copy what it names"
            if path.parent.resolve().is_relative_to(target):
                return Reason.LINK_NOT_FOLLOWED, "it is a link to a folder that holds it; remove it"
    except (OSError, RuntimeError) as error:
        if path.is_symlink():
            why = "leads to itself" if _is_loop(error) else "leads nowhere"
            return Reason.LINK_NOT_FOLLOWED, f"it is a link that {why}; remove it"
        return Reason.UNREADABLE_FILE, f"it cannot be looked at: {getattr(error, 'strerror', error)}"
    kind = _KINDS.get(stat.S_IFMT(mode))
    return (Reason.NO_REGULAR_FILE, f"it is {kind}, and a file is wanted") if kind else None


def _is_loop(error: Exception) -> bool:
    return isinstance(error, RuntimeError) or getattr(error, "errno", None) == errno.ELOOP
