"""Notes: Markdown with or without front matter, and plain text. A block of text is a message of the user.

    ---
    date: 2026-03-02
    tags: [garden]
    privacy: private
    ---
    # Allotment

    I planted two quince trees.

What the messages say is read as ever, but waits for a review. A message is known by the version of its note and by the
line that it begins in, so a note that is landed again adds nothing, and one that was edited lands anew.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

import yaml

from em_pipelines.landing.formats.base import Fields, Format, Item, Parsed, Rejected, Sample, Source, iso_or_none
from em_pipelines.landing.formats.seeds import check_user
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import Reason, RuleError
from em_pipelines.language.values import iso_instant
from em_pipelines.schema.vocabulary import PrivacyLevel

PRIVACY = {
    "public": PrivacyLevel.PUBLIC,
    "personal": PrivacyLevel.PERSONAL,
    "private": PrivacyLevel.PII,
}
"""What a note says of itself → the least level of what it says (specification, 1.2)."""
SUFFIXES = (".md", ".markdown", ".mdown", ".txt")
_MARKDOWN = (".md", ".markdown", ".mdown")
_FENCE = re.compile(r"\A---[ \t]*\n(?P<head>.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_DATES = ("date", "created", "created_at", "datum", "updated", "modified")
_SOURCES = ("source", "url", "clipped_from")
_DAY = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_WIKI = re.compile(r"!?\[\[(?P<page>[^\]|#^]*)(?:[#^][^\]|]*)?(?:\|(?P<shown>[^\]]*))?\]\]")
_TASK = re.compile(r"^\[[ xX/-]\]\s+")
_TAGS = re.compile(r"[,\s]+")
_HASH_CHARACTERS = 8


def sniff(sample: Sample) -> bool:
    """Whether a file begins with front matter, or is called like a note and is no JSON that somebody called so."""
    text = sample.text.lstrip()
    if (fence := _FENCE.match(sample.text)) and ":" in (fence["head"] or ""):
        return True
    return sample.name.removesuffix(".gz").lower().endswith(SUFFIXES) and bool(text) and text[0] not in "{["


def convert(file: InputFile, source: Source) -> Iterator[Item]:
    """Yields a message a block, and what tells that a note was imported. Raises RuleError for a note that cannot be
    read as a whole."""
    check_user(file, source)
    data = file.document()
    raw = data[: file.settings.max_line_bytes]
    try:
        text = data.decode().replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        detail = f"byte {error.start} is not UTF-8; convert the note to UTF-8"
        raise RuleError(Reason.NOT_UTF8, detail, raw=raw) from error
    fence = _FENCE.match(text)
    head = _head(fence["head"] or "", raw) if fence else {}
    if "as_of" in head and ("user" in head or str(head.get("id", "")).startswith("ent_")):
        detail = "it is a note of memory's own export; what it says is known, or comes back with `em import`"
        raise RuleError(Reason.UNKNOWN_FORMAT, detail, raw=raw)
    note = _Note(source.name, text, head, source)
    said_at = _said_at(note, file, raw)
    shared = _shared(note, said_at, raw)
    first = text[: fence.end()].count("\n") if fence else 0
    body = text[fence.end() :] if fence else text
    is_plain = not source.name.removesuffix(".gz").lower().endswith(_MARKDOWN) and source.name.lower().endswith(".txt")
    blocks = list(_paragraphs(body) if is_plain else _blocks(body))
    if not blocks:
        yield Rejected(1, Reason.EMPTY_FILE, f"{source.name} holds no text beside its front matter", raw)
        return
    yield _marker(shared, source)
    for line, content in blocks:
        yield Parsed(first + line, "interactions", {**shared, "turn_number": first + line, "content": content})


@dataclass(frozen=True, slots=True)
class _Note:
    """A note: its file's name, its text, its front matter, and whose it is."""

    name: str
    text: str
    head: Fields
    source: Source


def _head(said: str, raw: bytes) -> Fields:
    """The front matter. Raises RuleError where it cannot be read: it may say that the note is private."""
    try:
        found = yaml.safe_load(said)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or type(error).__name__
        detail = f"the front matter is no YAML: {problem}"
        raise RuleError(Reason.INVALID_YAML, detail, raw=raw, line_number=mark.line + 2 if mark else 1) from error
    return {str(key).casefold(): value for key, value in found.items()} if isinstance(found, dict) else {}


def _said_at(note: _Note, file: InputFile, raw: bytes) -> datetime:
    """When a note was written: by its front matter, its name, its file, or else now."""
    now = note.source.landed_at
    assert now is not None  # whoever lands says when
    for name in _DATES:
        if note.head.get(name) is not None:
            found = _instant(note.head[name])
            if found is None:
                detail = f"{name}: expected a date like 2026-03-02, found {str(note.head[name])!r:.60}"
                raise RuleError(Reason.MISSING_TIMESTAMP, detail, raw=raw)
            return found
    if (match := _DAY.search(note.name)) and (found := _instant(match.group())) is not None and found <= now:
        return found
    try:
        changed_at = datetime.fromtimestamp(file.path.stat().st_mtime, UTC)
    except OSError:
        return now
    return min(changed_at, now)


def _instant(said: Any) -> datetime | None:
    """A moment as front matter has it; of a day its noon, so that it stays that day nearly everywhere."""
    if isinstance(said, datetime):
        return said if said.tzinfo else said.replace(tzinfo=UTC)
    if isinstance(said, date):
        return datetime.combine(said, time(12), UTC)
    try:
        found = datetime.fromisoformat(str(said).strip())
    except ValueError:
        return None
    if len(str(said).strip()) <= len("2026-03-02"):
        return found.replace(hour=12, tzinfo=UTC)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _shared(note: _Note, said_at: datetime, raw: bytes) -> Fields:
    """What all messages of a note share."""
    version = hashlib.sha256(note.text.encode()).hexdigest()[:_HASH_CHARACTERS]
    said = next((note.head[name] for name in ("privacy", "visibility") if note.head.get(name) is not None), None)
    wanted = str(said if said is not None else note.source.privacy or "personal").strip().casefold()
    if wanted not in PRIVACY:
        detail = f"privacy: expected one of {', '.join(PRIVACY)}, found {wanted!r:.40}"
        raise RuleError(Reason.INVALID_FIELD, detail, raw=raw)
    is_clipped = any(re.match(r"(?i)https?://", str(note.head.get(name, ""))) for name in _SOURCES)
    return {
        "user_id": note.source.user(),
        "session_id": f"{note.name}#{version}",
        "role": "user",
        "timestamp": iso_instant(said_at),
        "trust": "untrusted" if is_clipped else "trusted",
        "tags": _tags(note.head.get("tags")),
        "note_privacy": PRIVACY[wanted].value,
        "source_format": "markdown",
    }


def _tags(said: Any) -> list[str]:
    words = said if isinstance(said, list) else _TAGS.split(said) if isinstance(said, str) else []
    return [tag[:64] for word in words if (tag := str(word).strip().lstrip("#"))][:32]


def _marker(shared: Fields, source: Source) -> Parsed:
    said = {
        "user_id": shared["user_id"],
        "type": "import",
        "timestamp": iso_or_none(source.landed_at),
        "session_id": shared["session_id"],
        "day": shared["timestamp"][:10],
        "file": source.name,
    }
    return Parsed(1, "feedback", said)


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Blocks of a plain text, parted by blank lines, each with the number of its first line."""
    begun: list[str] = []
    first = 1
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        if line.strip():
            first = first if begun else number
            begun.append(line.strip())
        elif begun:
            yield first, "\n".join(begun)
            begun = []


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Headings, paragraphs, items of lists and rows of tables, in words, each with the number of its first line. Code,
    HTML and pictures are left out; what is quoted keeps its mark, for it is somebody else's."""
    from markdown_it import MarkdownIt  # noqa: PLC0415  (only who lands notes waits for it)

    depth, row_line = 0, 1
    row: list[str] | None = None
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
        if token.type in ("blockquote_open", "blockquote_close"):
            depth += token.nesting
        elif token.type == "tr_open":
            row, row_line = [], (token.map or [0])[0] + 1
        elif token.type == "tr_close":
            if row and any(row):
                yield row_line, ", ".join(cell for cell in row if cell)
            row = None
        elif token.type == "inline":
            said = _words(token.children or [])
            if row is not None:
                row.append(said)
            elif said:
                yield (token.map or [0])[0] + 1, "\n".join(f"{'> ' * depth}{line}" for line in said.split("\n"))


def _words(children: list[Any]) -> str:
    """The words of a block: of links what is shown, of emphasis what is stressed, no pictures, no HTML."""
    parts = []
    for child in children:
        if child.type in ("text", "code_inline"):
            parts.append(f"`{child.content}`" if child.type == "code_inline" else child.content)
        elif child.type in ("softbreak", "hardbreak"):
            parts.append("\n")
    said = _WIKI.sub(_shown, "".join(parts))
    return _TASK.sub("", said).strip()


def _shown(match: re.Match[str]) -> str:
    if match.group().startswith("!"):
        return ""
    return (match["shown"] or match["page"]).strip()


FORMAT = Format("markdown", sniff, convert, reads_prose=True)
