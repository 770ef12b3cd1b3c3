"""The lines of a chat that WhatsApp has exported: where a message begins, when it was sent, and what its text is.

    [05.03.26, 18:20:11] Nora: text            an iPhone
    3/5/26, 6:20 PM - Nora: text               Android
    3/5/26, 6:20 PM - Nora created the group   a line of the program

Dates and times are written as the phone's language does. What order the parts of a date have, only the whole file tells
(`Dates`). What WhatsApp itself says in words is data (data/whatsapp.yaml).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from em_pipelines.landing.formats.base import Rejected
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import Reason, Skip
from em_pipelines.landing.settings import DateOrder
from em_pipelines.language.values import read_yaml

BUDDHIST_ERA, FIRST_BUDDHIST_YEAR = 543, 2500
"""Years as phones in Thai write them."""
_MARK = "\u200e"
"""Stands before what the program of an iPhone has written."""
_INVISIBLE = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ufeff]")
_M = "[\u200e\u200f\u061c\u202a-\u202e\ufeff]{0,3}"
_BETWEEN = rf"{_M}(?:[./-]|\. |\s?[年월月년]\s?|\.{_M} ?){_M}"
_WHEN = (
    rf"(?P<a>\d{{1,4}})(?P<sep>{_BETWEEN})(?P<b>\d{{1,2}}){_BETWEEN}(?P<c>\d{{1,4}})[일日]?"
    rf"(?P<before>[^\d\[\]:]{{1,16}}?)(?P<hour>\d{{1,2}})[:.٫](?P<minute>\d\d)(?:[:.٫](?P<second>\d\d))?"
    rf"(?P<after>[^\d\[\]:]{{0,14}}?)"
)
_STYLES = {
    "iphone": re.compile(rf"{_M}\[{_M}{_WHEN}{_M}\]\s?(?P<rest>.*)", re.DOTALL),
    "android": re.compile(rf"{_M}{_WHEN}\s[-–]\s(?P<rest>.*)", re.DOTALL),
}
_SAID = re.compile(r"(?P<speaker>[^:\n]{1,200}?)\s?:(?:\s(?P<text>.*))?", re.DOTALL)
_UNSAVED = re.compile(r"^~\s")
"""Stands before names that people out of the address book gave themselves."""
_QUOTES = (("“", "”"), ("„", "“"), ("«", "»"), ('"', '"'))
_ATTACHED = re.compile(rf"{_M}<[^<>:\n]{{2,40}}: ?([^<>\n]+\.\w{{2,5}})>")
_FILE = re.compile(rf"(?P<mark>{_M})(?P<name>[^\n/]{{1,200}}\.\w{{2,5}}) \((?P<words>[^()\n]{{3,60}})\)")
_BRACKETED = re.compile(r"<[^<>\n]{3,60}>")
_TRAILING = re.compile(rf"\s?{_M}<{_M}(?P<words>[^<>\n]{{3,60}}){_M}>{_M}\s*\Z")


class _Words(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    before_noon: frozenset[str]
    after_noon: frozenset[str]
    deleted: frozenset[str]
    deleted_by_me: frozenset[str]
    edited: frozenset[str]
    attached: frozenset[str]
    omitted: dict[str, tuple[str, ...]]
    suffixes: dict[str, tuple[str, ...]]
    group: tuple[str, ...]


@cache
def words() -> _Words:
    """What WhatsApp says, from data/whatsapp.yaml."""
    path = Path(__file__).parents[1] / "data/whatsapp.yaml"
    return _Words.model_validate(read_yaml(path.read_text(encoding="utf-8")))


@dataclass(slots=True)
class Entry:
    """What begins with a time: a message with its speaker, or without one a line of the program.

    `parts` are the three numbers of the date as they stand there, `separator` what is between them, `clock` hour,
    minute and second, `half` the word for the half of the day.
    """

    number: int
    style: str
    parts: tuple[str, str, str]
    separator: str
    clock: tuple[int, int, int]
    half: str
    speaker: str | None
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All of its lines, as they stand in the file."""
        return "\n".join(self.lines)

    def sent_at(self, order: DateOrder) -> datetime | None:
        """The time on the phone's clock; None for a date that there is not."""
        year, month, day = (int(self.parts[order.index(part)]) for part in "ymd")
        year = year + 2000 if year < 100 else year - BUDDHIST_ERA if year > FIRST_BUDDHIST_YEAR else year
        hour, minute, second = self.clock
        half = words()
        if self.half in half.before_noon or self.half in half.after_noon:
            hour = hour % 12 + (12 if self.half in half.after_noon else 0)
        try:
            return datetime(year, month, day, hour, minute, second)  # noqa: DTZ001
        except ValueError:
            return None


def entry_of(number: int, line: str, style: str | None = None) -> Entry | None:
    """The entry that begins with a line, in one style or any; None where none does."""
    for name in (style,) if style else _STYLES:
        if found := _STYLES[name].fullmatch(line):
            break
    else:
        return None
    speaker, text = _speaker(found["rest"])
    half = re.sub(r"[\s.,،]", "", _INVISIBLE.sub("", found["after"] or found["before"])).casefold()
    clock = (int(found["hour"]), int(found["minute"]), int(found["second"] or 0))
    parts = (found["a"], found["b"], found["c"])
    return Entry(number, name, parts, _INVISIBLE.sub("", found["sep"]).strip(), clock, half, speaker, [text])


def _speaker(rest: str) -> tuple[str | None, str]:
    """Who speaks and what; nobody where it is a line of the program. A quotation mark that stays open before the colon
    belongs to such a line: the new subject of a group."""
    found = _SAID.fullmatch(rest)
    if not found or any(found["speaker"].count(a) > found["speaker"].count(b) for a, b in _QUOTES if a != b):
        return None, rest
    if found["speaker"].count('"') % 2:
        return None, rest
    name = _UNSAVED.sub("", _INVISIBLE.sub("", found["speaker"]).strip()).strip()
    return (name, found["text"] or "") if name else (None, rest)


def entries(file: InputFile) -> Iterator[Entry | Rejected | int]:
    """The entries in order with all of their lines, what cannot be read, and the number of a line before the first.

    The first entry says in which style the file is: what begins in the other was pasted into a message.
    """
    entry: Entry | None = None
    style: str | None = None
    n_bytes = 0
    for line in file.lines(keep_blank=True):
        if line.reason is not None:
            yield Rejected(line.number, line.reason, line.detail, line.raw)
            continue
        try:
            text = line.raw.decode()
        except UnicodeDecodeError as error:
            detail = f"byte {error.start} is not UTF-8; convert the file to UTF-8"
            yield Rejected(line.number, Reason.NOT_UTF8, detail, line.raw)
            continue
        begun = entry_of(line.number, text, style)
        if begun:
            if entry:
                yield entry
            entry, style, n_bytes = begun, begun.style, 0
        elif entry is None:
            if text.strip():
                yield line.number
        elif n_bytes + len(line.raw) > file.settings.max_line_bytes:
            detail = f"a message of more than {file.settings.max_line_bytes} bytes; the rest of it begins here"
            yield Rejected(line.number, Reason.LINE_TOO_LONG, detail, line.raw[: file.settings.max_letter_bytes])
        else:
            entry.lines.append(text)
            n_bytes += len(line.raw)
    if entry:
        yield entry


@dataclass(slots=True)
class Dates:
    """What a file tells of the order of its dates.

    Counted are the dates that there are not in an order, and those before the one before them: a chat is written in
    the order of time. `is_padded` and `is_american` are forms that tell where nothing else does (`order`).
    """

    impossible: dict[DateOrder, int] = field(default_factory=lambda: {"dmy": 0, "mdy": 0, "ymd": 0})
    backwards: dict[DateOrder, int] = field(default_factory=lambda: {"dmy": 0, "mdy": 0, "ymd": 0})
    sample: str = ""
    is_dotted: bool = False
    is_padded: bool = False
    is_american: bool = True
    unknown_halves: set[str] = field(default_factory=set)
    latest_hour: int = 0
    _latest: dict[DateOrder, datetime] = field(default_factory=dict)

    def take(self, entry: Entry) -> None:
        """Takes in the date of one more entry."""
        a, b, c = entry.parts
        self.sample = self.sample or entry.separator.join(entry.parts)
        self.is_dotted |= "." in entry.separator
        self.is_padded |= any(len(part) == 2 and int(part) < 10 for part in (a, b))
        if entry.half and entry.half not in words().before_noon | words().after_noon:
            self.unknown_halves.add(entry.half)
        self.latest_hour = max(self.latest_hour, entry.clock[0])
        self.is_american &= len(c) == 2 and entry.half in ("am", "pm")
        for order in self.impossible:
            self._take_in_order(order, entry)

    def _take_in_order(self, order: DateOrder, entry: Entry) -> None:
        """Takes in what the date is where it is read in an order."""
        day_or_month = entry.parts[2 if order == "ymd" else 0]
        at = entry.sent_at(order) if len(day_or_month) <= 2 else None  # four digits are of a year
        if at is None:
            self.impossible[order] += 1
            return
        self.backwards[order] += at < self._latest.get(order, at) - timedelta(days=1)
        self._latest[order] = at

    @property
    def has_unknown_halves(self) -> bool:
        """Whether times of twelve hours seem to be followed by words for the half of the day that are not known."""
        return len(self.unknown_halves) > 1 and self.latest_hour <= 12

    def order(self) -> tuple[DateOrder | None, bool]:
        """The order, and whether the file leaves no doubt of it; None where nothing tells.

        Where every date is one in both orders and the chat runs forward in both, its form decides, with doubt: dots
        are of languages that put the day first; of those that put the month first none pads with zeros, and American
        English writes two digits of the year and AM or PM (CLDR, short formats of dates).
        """
        left = self._fitting()
        if len(left) == 1:
            return left[0], True
        if self.is_dotted:
            return "dmy", True
        if self.is_padded:
            return "dmy", False
        return ("mdy", False) if self.is_american else (None, False)

    def _fitting(self) -> list[DateOrder]:
        """The orders in which the fewest dates are none, and of those the ones in which the chat runs back least."""
        left: list[DateOrder] = [o for o in self.impossible if self.impossible[o] == min(self.impossible.values())]
        if "ymd" in left and len(left) > 1:
            left.remove("ymd")
        fewest = min(self.backwards[order] for order in left)
        return [order for order in left if self.backwards[order] == fewest]


def content_of(text: str, *, is_iphone: bool) -> str | Skip:
    """What a message says, with a word in brackets for each thing that was sent along; or why it says nothing."""
    known = words()
    edited = _TRAILING.search(text)
    if edited and _plain(edited["words"]) in known.edited:
        text = text[: edited.start()]
    if _plain(text) in known.deleted | known.deleted_by_me:
        return Skip.DELETED
    first, _, caption = text.partition("\n")
    if found := _FILE.fullmatch(first.strip()):
        is_told = found["mark"] or " " not in found["name"] or _plain(found["words"]) in known.attached
        if is_told:  # and not a sentence that ends in the name of a file
            return f"{_named_file(found['name'])}\n{_visible(caption)}".strip()
    if kind := _omitted(first):
        return f"[{kind}]\n{_visible(caption)}".strip()
    said = _visible(_ATTACHED.sub(lambda found: _named_file(found[1]), text))
    if is_iphone and text.startswith(_MARK) and "\n" not in text and "://" not in text and said == _visible(text):
        return Skip.SYSTEM_LINE
    return said or Skip.EMPTY


def tells_a_group(text: str) -> bool:
    """Whether a line of the program speaks of a group."""
    plain = _plain(text)
    spaced = set(re.findall(r"\w+", plain))
    return any(word in spaced or (not word.isascii() and word in plain) for word in words().group)


def is_taken_back_by_user(text: str) -> bool:
    """Whether it says that the owner of the phone took a message back."""
    return _plain(text) in words().deleted_by_me


def _omitted(text: str) -> str | None:
    """What was not exported: by the phrase, also behind a document's name; by its brackets alone something or other."""
    plain = _plain(text).strip("<>")
    for kind, phrases in words().omitted.items():
        if plain in phrases or (_MARK in text and plain.endswith(phrases)):
            return kind
    visible = _visible(text)
    is_sentence = " " in visible or not visible.isascii()  # <joke> is somebody's
    return "attachment" if is_sentence and _BRACKETED.fullmatch(visible) and not _ATTACHED.fullmatch(text) else None


def _named_file(name: str) -> str:
    suffix = name.rpartition(".")[2].casefold()
    kind = next((kind for kind, known in words().suffixes.items() if suffix in known), None)
    return f"[{kind}]" if kind else f"[attachment: {_visible(name)}]"


def _plain(text: str) -> str:
    return " ".join(_INVISIBLE.sub("", text).split()).casefold().rstrip(".")


def _visible(text: str) -> str:
    return _INVISIBLE.sub("", text).strip()
