"""ZIP files as they are sent: their members, one after the other, read as streams and never unpacked to disk.

Every member is a FoundFile called ZIP!/MEMBER, as in addresses of Java archives. What is not to be read (encrypted, a
path that leads out, a name that came before, a ZIP in a ZIP, a bomb) comes with the reason; the others are read.
Nothing here knows formats. Entered only where a file begins as a ZIP does.
"""

import io
import lzma
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import IO
from zipfile import BadZipFile, ZipFile, ZipInfo

from em_pipelines.landing.reader import FoundFile, InputFile
from em_pipelines.landing.reasons import Reason, RuleError
from em_pipelines.landing.settings import MIB, LandingSettings

SEPARATOR = "!/"
_OVERLAPS = (Reason.UNPACKS_TOO_FAR, "its bytes are those of other members, too, as in a bomb; pack the files anew")
OVERLAP_BYTES = 4096
SMALLEST_BOMB_BYTES = 100 * MIB
_ENCRYPTED, _NAME_IS_UTF8 = 0x1, 0x800  # bits of the flags (APPNOTE 4.4.4)
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_RESOURCE_FORKS = "__MACOSX"
_BROKEN = (BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, NotImplementedError, RuntimeError, ValueError)


class _BrokenMemberError(OSError):
    """A member cannot be unpacked, or not to its end."""


class Member(InputFile):
    """A file in a ZIP, read as it is unpacked."""

    def __init__(self, archive: ZipFile, info: ZipInfo, path: Path, settings: LandingSettings) -> None:
        """`path` is ZIP!/MEMBER; the archive stays open as long as anything is read of it."""
        super().__init__(path, settings)
        self._archive = archive
        self._info = info

    def _open_stored(self) -> io.BufferedReader:
        try:
            return io.BufferedReader(_Unpacked(self._archive.open(self._info)), 64 * 1024)
        except _BROKEN as error:
            raise _BrokenMemberError(f"{error}") from error

    def _unreadable(self, error: Exception, line_number: int) -> RuleError:
        if isinstance(error, _BrokenMemberError):
            detail = f"{self.path.name} cannot be unpacked: {error}; export or download the ZIP again"
            return RuleError(Reason.BROKEN_ZIP, detail, line_number=line_number)
        return super()._unreadable(error, line_number)


class _Unpacked(io.RawIOBase):
    """What is unpacked of a member; whatever is wrong with it is an OSError."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        try:
            data = self._source.read(len(buffer))
        except _BROKEN as error:
            raise _BrokenMemberError(f"{error}") from error
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._source.seek(offset, whence)

    def close(self) -> None:
        self._source.close()
        super().close()


def members(zip_file: FoundFile, settings: LandingSettings) -> Iterator[FoundFile]:
    """The members of a ZIP in its order, folders and resource forks of macOS left out.

    Raises RuleError where the table of contents cannot be read, or is empty. Members are to be read before the next is
    asked for.
    """
    path = zip_file.path
    try:
        archive = ZipFile(path)
    except _BROKEN as error:
        detail = f"{path.name} cannot be unpacked: {error}; it may have broken off: export or download it again"
        raise RuleError(Reason.BROKEN_ZIP, detail) from error
    with archive:
        names = [(info, _name(info)) for info in archive.infolist()]
        names = [(info, name) for info, name in names if not info.is_dir() and not name.endswith("/")]
        names = [(info, name) for info, name in names if name.split("/")[0] != _RESOURCE_FORKS]
        if not names:
            raise RuleError(Reason.EMPTY_FILE, f"{path.name} holds no files")
        below = _common_folder([name for _, name in names], path.stem)
        siblings = _siblings([name for _, name in names])
        seen: set[str] = set()
        overlapping = _overlapping(archive.infolist())
        for info, name in names:
            wrong = _wrong(info, name, seen, settings) or (_OVERLAPS if info.header_offset in overlapping else None)
            seen.add(name)
            own = Path(f"{path}{SEPARATOR}{name}")
            folders = PurePosixPath(name).relative_to(below).parts[:-1] if not wrong else ()
            inner = folders[0] if folders else None
            folder = name.split("/")[:-1]
            beside = tuple(siblings.get("/".join(folder[:n]), frozenset()) for n in range(len(folder), -1, -1))
            file = None if wrong else Member(archive, info, own, settings)
            yield FoundFile(own, zip_file.folder_user, wrong, path, name, beside, path.name, inner, file)


def _overlapping(infos: list[ZipInfo]) -> set[int]:
    """Where members begin whose bytes go on into the next: so a small ZIP unpacks to any size; no packer does it."""
    ordered = sorted(infos, key=lambda info: info.header_offset)
    return {
        one.header_offset
        for one, other in pairwise(ordered)
        if one.header_offset + one.compress_size > other.header_offset and one.compress_size
    }


def pieces(path: Path, settings: LandingSettings) -> Iterator[bytes]:
    """All that can be unpacked of a ZIP, some of it at a time, each with the end of what came before; names of members,
    too. Raises RuleError at the end, or at once, where anything could not be read."""
    wrong: RuleError | None = None
    for member in members(FoundFile(path), settings):
        yield member.inside.encode("utf-8", "replace")
        if member.wrong or member.file is None or member.file.is_zip:
            wrong = RuleError(*(member.wrong or (Reason.NESTED_ZIP, f"{member.inside} is a ZIP")))
            continue
        try:
            end = b""
            for chunk in member.file.chunks():
                yield end + chunk
                end = chunk[-OVERLAP_BYTES:]
        except RuleError as error:
            wrong = error
    if wrong:
        raise wrong


def _name(info: ZipInfo) -> str:
    """A member's name with slashes; UTF-8 that the ZIP does not say to be it is told from DOS names by being valid."""
    name = info.filename
    if not info.flag_bits & _NAME_IS_UTF8:
        with suppress(UnicodeError):
            name = name.encode("cp437").decode()
    return name.replace("\\", "/")


def _common_folder(names: list[str], stem: str) -> str:
    """The folder that was packed, where that is called as the ZIP is, and all lies in it; else the root."""
    return stem if names and all(name.startswith(f"{stem}/") for name in names) else "."


def _siblings(names: list[str]) -> dict[str, frozenset[str]]:
    """Folder → names in it."""
    found: dict[str, set[str]] = {}
    for name in names:
        folder, _, base = name.rpartition("/")
        found.setdefault(folder, set()).add(base)
    return {folder: frozenset(bases) for folder, bases in found.items()}


def _wrong(info: ZipInfo, name: str, seen: set[str], settings: LandingSettings) -> tuple[Reason, str] | None:
    """Why a member is not to be read, in a sentence; None where nothing speaks against it."""
    parts = name.split("/")
    ratio = info.file_size / max(1, info.compress_size)
    checks = (
        (
            name.startswith("/") or ".." in parts or ":" in parts[0],
            Reason.UNSAFE_MEMBER,
            "its name leads out of the ZIP; rename it in there, or unpack it and land that",
        ),
        (
            name in seen,
            Reason.DUPLICATE_MEMBER,
            "the ZIP holds another of this name, which was read; unpack this one and land it",
        ),
        (
            bool(info.flag_bits & _ENCRYPTED),
            Reason.ENCRYPTED_MEMBER,
            "it is encrypted; unpack it with its password and land what comes out",
        ),
        (
            stat.S_ISLNK(info.external_attr >> 16),
            Reason.LINK_NOT_FOLLOWED,
            "it is a link, and in a ZIP none is followed; pack what it names",
        ),
        (
            info.compress_type not in _METHODS,
            Reason.BROKEN_ZIP,
            f"it is packed by a method that is not known here ({info.compress_type}); unpack the ZIP and land that",
        ),
        (
            info.file_size > SMALLEST_BOMB_BYTES and ratio > settings.max_unpack_ratio,
            Reason.UNPACKS_TOO_FAR,
            f"it unpacks to {info.file_size:,} bytes, {ratio:,.0f} times its size, as a bomb does; if it is none, "
            "raise landing.max_unpack_ratio",
        ),
    )
    return next(((reason, why) for is_so, reason, why in checks if is_so), None)
