"""Address books in CSV, as Google Contacts and Outlook export them: a header, one entry a row.

    First Name,Last Name,Birthday,E-mail 1 - Label,E-mail 1 - Value
    Dana,Marin,1988-04-12,* Home,dana@example.org

Columns are known by their names (seed_words.yaml). In 04/05/1988 nothing says which is the month, unless another date
of the same file does; such a date is refused, and the rest of its entry lands.
"""

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from io import StringIO

from em_pipelines.landing.formats.base import Format, Item, Rejected, Sample, Source
from em_pipelines.landing.formats.contacts import Address, Contact, Entry, Labelled, items_of
from em_pipelines.landing.formats.seeds import check_user, words
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import Reason, RuleError

_NUMBERED = re.compile(
    r"(?P<what>e-?mail|phone|address|organization|website|relation|event) (?P<number>\d+) - (?P<part>[a-z ]+)"
)
_NAMES = ("name", "given", "family")
_MESSAGES = {"content", "text", "message", "body"}
_SEVERAL = " ::: "
"""What Google puts between values of one cell."""
_SLASHED = re.compile(r"(\d{1,2})[/.-](\d{1,2})[/.-](\d{4})")
_NO_DATE = re.compile(r"0+[/.-]0+[/.-]0+")
_DELIMITERS = ",;\t"
Cells = dict[str, list[str]]
"""What a column holds → the values of a row."""


def sniff(sample: Sample) -> bool:
    """Whether the first line is a header of an address book: it names people, and a way to reach them or a birthday."""
    text = sample.text.lstrip()
    if not text or text[0] in "{[":
        return False
    header = text.splitlines()[0]
    names = [name.strip().casefold() for name in next(csv.reader([header], delimiter=_delimiter(header)), [])]
    held = {_held(name) for name in names} - {""}
    is_book = bool(held & set(_NAMES)) and bool(held - {*_NAMES, "prefix", "middle", "suffix", "note"})
    return is_book and not _MESSAGES & set(names)


def convert(file: InputFile, source: Source) -> Iterator[Item]:
    """Yields the facts of each row. Raises RuleError where the file cannot be read or nobody's it is."""
    user_id = check_user(file, source)
    data = file.document()
    try:
        text = data.decode().replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        detail = f"byte {error.start} is not UTF-8; save the address book as CSV in UTF-8"
        raise RuleError(Reason.NOT_UTF8, detail, raw=data[: file.settings.max_letter_bytes]) from error
    rows = list(_rows(text))
    is_month_first = _is_month_first(row.cells for row in rows if isinstance(row, _Row))
    for row in rows:
        if isinstance(row, Rejected):
            yield row
        else:
            yield from items_of(Entry(_contact(row.cells, is_month_first), row.line, row.raw), source, user_id)


class _Row:
    """A row by what its columns hold, with its first line and, below the header, its own text."""

    def __init__(self, line: int, header: str, own: str, cells: Cells) -> None:
        self.line = line
        self.cells = cells
        self.raw = f"{header}\n{own}\n".encode()


def _rows(text: str) -> Iterator[_Row | Rejected]:
    lines = text.split("\n")
    header = lines[0]
    reader = csv.reader(StringIO(text, newline=""), delimiter=_delimiter(header), strict=True)
    held = _columns_of(reader, header)
    while True:
        first = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            own = "\n".join(lines[first - 1 : reader.line_num])
            raw = f"{header}\n{own}\n".encode()
            yield Rejected(first, Reason.INVALID_CSV, f"the row cannot be read: {error}", raw)
            continue
        if any(cell.strip() for cell in row):
            yield _Row(first, header, "\n".join(lines[first - 1 : reader.line_num]), _cells(held, row))


def _cells(held: list[str], row: list[str]) -> Cells:
    cells: Cells = defaultdict(list)
    for what, cell in zip(held, row, strict=False):
        if what and cell.strip():
            cells[what] += [value.strip() for value in cell.split(_SEVERAL) if value.strip()]
    return cells


def _columns_of(reader: Iterator[list[str]], header: str) -> list[str]:
    """What the columns of a file hold. Raises RuleError for a header that cannot be read, or that names nobody."""
    raw = header.encode()
    try:
        names = next(reader, [])
    except csv.Error as error:
        raise RuleError(Reason.INVALID_CSV, f"the header cannot be read: {error}", raw=raw) from error
    held = [_held(name.strip().casefold()) for name in names]
    if not {*_NAMES, "organization", "organization/1/name"} & set(held):
        detail = f"no column for a name among {', '.join(names)[:200]}; call one Name"
        raise RuleError(Reason.MISSING_FIELD, detail, raw=raw)
    return held


@cache
def _columns() -> dict[str, str]:
    """Name of a column → what it holds."""
    return {name: what for what, names in words()["columns"].items() for name in names}


def _held(name: str) -> str:
    """What a column of this name holds; empty where that is not kept. Numbered ones keep their number and part."""
    if match := _NUMBERED.fullmatch(name):
        what = match["what"].replace("-", "")
        return f"{what}/{match['number']}/{match['part'].replace('type', 'label')}"
    return _columns().get(name, "")


def _delimiter(header: str) -> str:
    return max(_DELIMITERS, key=header.count)


def _contact(cells: Cells, is_month_first: bool | None) -> Contact:
    contact = Contact(
        name=_name(cells),
        organization=_first(cells, "organization") or _first(cells, "organization/1/name"),
        title=_first(cells, "title") or _first(cells, "organization/1/title"),
        nickname=_first(cells, "nickname"),
        note=_first(cells, "note"),
        groups=cells.get("groups", []),
        websites=[*cells.get("website", []), *_values(cells, "website")],
    )
    contact.birthday = _date(_first(cells, "birthday"), is_month_first, contact)
    contact.anniversary = _date(_anniversary(cells), is_month_first, contact)
    contact.emails = [*_plain(cells, "email", ""), *_labelled(cells, "email")]
    contact.phones = [
        *(value for key, label in (("mobile phone", "mobile"), ("phone", ""), ("work phone", "work"))
          for value in _plain(cells, key, label)),
        *_labelled(cells, "phone"),
    ]  # fmt: skip
    contact.addresses = [*_outlook_addresses(cells), *_google_addresses(cells)]
    named = [value for key in ("spouse", "child", "manager", "assistant") for value in _plain(cells, key, key)]
    contact.related = [*named, *_labelled(cells, "relation")]
    return contact


def _name(cells: Cells) -> str:
    parts = [_first(cells, part) for part in ("prefix", "given", "middle", "family", "suffix")]
    given, family = parts[1], parts[3]
    if given and family and _is_eastern(given + family):
        return family + given
    said = " ".join(part for part in parts if part) if given or family else ""
    return said or _first(cells, "name")


def _is_eastern(name: str) -> bool:
    """Whether it is in a script of the East, where the family comes first."""
    return all(c >= "\u2e80" for c in name)


def _first(cells: Cells, what: str) -> str:
    return (cells.get(what) or [""])[0]


def _numbers(cells: Cells, what: str) -> list[str]:
    return sorted({key.split("/")[1] for key in cells if key.startswith(f"{what}/")}, key=int)


def _values(cells: Cells, what: str) -> list[str]:
    return [value for number in _numbers(cells, what) for value in cells.get(f"{what}/{number}/value", [])]


def _labelled(cells: Cells, what: str) -> list[Labelled]:
    return [
        Labelled(_first(cells, f"{what}/{number}/label").lstrip("* "), value)
        for number in _numbers(cells, what)
        for value in cells.get(f"{what}/{number}/value", [])
    ]


def _plain(cells: Cells, what: str, label: str) -> list[Labelled]:
    return [Labelled(label, value) for value in cells.get(what, [])]


def _anniversary(cells: Cells) -> str:
    said = [event.value for event in _labelled(cells, "event") if event.label.casefold() == "anniversary"]
    return _first(cells, "anniversary") or (said[0] if said else "")


def _outlook_addresses(cells: Cells) -> Iterator[Address]:
    for kind in ("home", "work"):
        street, code, town, region, country = (
            _first(cells, f"{kind} {part}") for part in ("street", "code", "town", "region", "country")
        )
        yield from _address([street, f"{code} {town}".strip(), region, country], town, kind == "work")


def _google_addresses(cells: Cells) -> Iterator[Address]:
    for number in _numbers(cells, "address"):
        box, street, code, town, region, country, label = (
            _first(cells, f"address/{number}/{part}")
            for part in ("po box", "street", "postal code", "city", "region", "country", "label")
        )
        yield from _address([box, street, f"{code} {town}".strip(), region, country], town, "work" in label.casefold())


def _address(parts: list[str], town: str, is_work: bool) -> Iterator[Address]:
    whole = ", ".join(part.replace("\n", ", ") for part in parts if part)
    if whole:
        yield Address(whole, town, is_work)


def _is_month_first(rows: Iterable[Cells]) -> bool | None:
    """Whether 04/05/1988 is the 5th of April here; None where no date of the file says so."""
    found: set[bool] = set()
    for cells in rows:
        for said in (_first(cells, "birthday"), _anniversary(cells)):
            match = _SLASHED.fullmatch(said)
            if match and "." not in said:
                found |= {True} if int(match[2]) > 12 else {False} if int(match[1]) > 12 else set()
    return found.pop() if len(found) == 1 else None


def _date(said: str, is_month_first: bool | None, contact: Contact) -> str:
    """A date as ISO; one that means none is empty, and one that could mean two is a problem."""
    match = _SLASHED.fullmatch(said)
    if match is None:
        return "" if _NO_DATE.fullmatch(said) else said
    first, second, year = match.groups()
    is_by_itself_day_first = "." in said or int(first) > 12
    is_plain = is_by_itself_day_first or int(second) > 12 or first == second
    if is_month_first is None and not is_plain:
        contact.problems.append(f"{said} can be two days; write it as YYYY-MM-DD")
        return ""
    is_day_first = is_by_itself_day_first or is_month_first is False
    day, month = (first, second) if is_day_first else (second, first)
    return f"{year}-{int(month):02}-{int(day):02}"


FORMAT = Format("contacts-csv", sniff, convert)
