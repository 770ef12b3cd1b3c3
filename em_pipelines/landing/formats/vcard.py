"""vCard 2.1, 3.0 and 4.0: address books as telephones, Apple, Google and Outlook export them, many cards a file.

    BEGIN:VCARD
    VERSION:3.0
    FN:Dana Marin
    BDAY:--0412
    END:VCARD

Lines are unfolded, decoded and taken apart by vobject. A card that cannot be read is refused alone, and what cannot be
read of a card does not cost the rest of it.
"""

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO

from em_pipelines.landing.formats.base import Format, Ignored, Item, Rejected, Sample, Source, instant_of
from em_pipelines.landing.formats.contacts import Address, Contact, Entry, Labelled, items_of
from em_pipelines.landing.formats.seeds import check_user
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import Reason

_BEGIN, _END = re.compile(rb"(?i)^\s*BEGIN\s*:\s*VCARD\s*$"), re.compile(rb"(?i)^\s*END\s*:\s*VCARD\s*$")
_AGENT = re.compile(rb"(?i)^\s*AGENT\b[^:]*:\s*$")
_CHARSET = re.compile(rb"(?i)CHARSET=\"?([A-Za-z0-9_.-]{1,40})")
_NOT_KEPT = frozenset({"PHOTO", "LOGO", "SOUND", "KEY", "AGENT", "BEGIN", "END", "VERSION", "PRODID", "UID", "LABEL"})
_OTHERS = {
    "X-SPOUSE": "spouse", "X-MS-SPOUSE": "spouse", "X-EVOLUTION-SPOUSE": "spouse",
    "X-KADDRESSBOOK-X-SPOUSESNAME": "spouse", "X-MANAGER": "manager", "X-MS-MANAGER": "manager",
    "X-EVOLUTION-MANAGER": "manager", "X-CHILD": "child", "X-MS-CHILD": "child", "X-ASSISTANT": "assistant",
}  # fmt: skip
"""Properties of some programs that name a related person."""
_GROUPS = ("group", "location", "device", "application")
_NO_LABELS = ("", "pref")
_NO_SPLIT = "\0"


def sniff(sample: Sample) -> bool:
    """Whether a card begins in the first lines."""
    return any(_BEGIN.match(line.encode("utf-8", "replace")) for line in sample.text.splitlines()[:20])


def convert(file: InputFile, source: Source) -> Iterator[Item]:
    """Yields the facts of each card. Raises RuleError where the file cannot be read or nobody's it is."""
    user_id = check_user(file, source)
    cards = [_read(card) for card in _cards(file.document())]
    names = {card.uid: card.contact.name for card in cards if isinstance(card, _Card) and card.uid}
    for card in cards:
        if isinstance(card, Rejected):
            yield card
        elif card.is_group:
            yield Ignored(card.line)
        else:
            _name_related(card.contact, names)
            yield from items_of(Entry(card.contact, card.line, card.raw), source, user_id)


@dataclass(frozen=True, slots=True)
class _Card:
    """A card that could be read. `uid` is by which others name it."""

    line: int
    raw: bytes
    contact: Contact
    uid: str
    is_group: bool


@dataclass(frozen=True, slots=True)
class _Line:
    """A content line: upper-case name, group, parameters by upper-case name, and its value, still escaped."""

    name: str
    group: str
    params: dict[str, list[str]]
    value: str

    @property
    def types(self) -> list[str]:
        """What the value is to whoever has it, in small letters: `home`, `cell`."""
        return [part.strip().casefold() for value in self.params.get("TYPE", []) for part in value.split(",")]

    @property
    def text(self) -> str:
        """The value as one text."""
        return _parts(self.value, _NO_SPLIT)[0]

    @property
    def fields(self) -> list[str]:
        """The parts of a structured value, lists within one joined."""
        from vobject.vcard import splitFields  # noqa: PLC0415  (its half a second is for those who land cards)

        return [", ".join(part) if isinstance(part, list) else part for part in splitFields(self.value)]


def _cards(data: bytes) -> Iterator[tuple[int, bytes] | Rejected]:
    """The cards of a file with the number of their first line; what a card is begun or ended in comes refused."""
    begun: list[bytes] = []
    first, depth, before = 1, 0, b""
    for number, line in enumerate(data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"), start=1):
        if _BEGIN.match(line):
            if depth and not _AGENT.match(before):
                yield Rejected(first, Reason.INVALID_CARD, "the card has no END:VCARD", b"\n".join(begun) + b"\n")
                depth = 0
            if not depth:
                begun, first = [], number
            depth += 1
        if depth:
            begun.append(line)
            depth -= bool(_END.match(line))
            if not depth:
                yield first, b"\n".join(begun) + b"\n"
        elif line.strip():
            yield Rejected(number, Reason.INVALID_CARD, "the line stands outside of any card", line + b"\n")
        before = line
    if depth:
        yield Rejected(first, Reason.INVALID_CARD, "the card has no END:VCARD", b"\n".join(begun) + b"\n")


def _read(card: tuple[int, bytes] | Rejected) -> _Card | Rejected:
    if isinstance(card, Rejected):
        return card
    number, raw = card
    try:
        text = _decoded(raw)
    except (UnicodeDecodeError, LookupError):
        detail = "the card is not UTF-8 and names no charset that it is in; export it as UTF-8"
        return Rejected(number, Reason.NOT_UTF8, detail, raw)
    contact = Contact()
    lines = list(_lines(text, contact))
    for line in lines:
        _READERS.get(line.name, _read_other)(line, contact)
    _name_organization(contact, lines)
    _label_related(contact, lines)
    kinds = [line.value.strip().casefold() for line in lines if line.name in {"KIND", "X-ADDRESSBOOKSERVER-KIND"}]
    contact.is_organization |= "org" in kinds
    uid = next((line.text.strip() for line in lines if line.name == "UID"), "")
    return _Card(number, raw, contact, uid, any(kind in _GROUPS for kind in kinds))


def _decoded(raw: bytes) -> str:
    """A card as text: UTF-8, or the one charset that its lines name. Raises UnicodeDecodeError, LookupError."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        named = _CHARSET.search(raw)
        if named is None:
            raise
        return raw.decode(named[1].decode())


def _lines(text: str, contact: Contact) -> Iterator[_Line]:
    """The content lines of a card; each that cannot be read is a problem of its own."""
    from vobject.base import ParseError, getLogicalLines, textLineToContentLine  # noqa: PLC0415

    for logical, number in getLogicalLines(StringIO(text), allowQP=True):
        name = re.split("[;:]", logical, maxsplit=1)[0].rpartition(".")[2].strip().upper()
        if name in _NOT_KEPT - {"UID"} or not logical.strip():
            continue
        try:
            found = textLineToContentLine(logical.strip("\n"), number)
        except (ParseError, LookupError, ValueError) as error:  # UnicodeDecodeError is a ValueError
            contact.problems.append(f"line {number} of the card cannot be read: {type(error).__name__} at {name[:40]}")
            continue
        params = {key: list(values) for key, values in found.params.items()}
        bare = params.setdefault("TYPE", [])
        bare += [
            value for value in found.singletonparams if value.upper() not in {"QUOTED-PRINTABLE", "8BIT", "BASE64"}
        ]
        yield _Line(found.name, (found.group or "").casefold(), params, found.value)


def _parts(value: str, separator: str) -> list[str]:
    from vobject.icalendar import stringToTextValues  # noqa: PLC0415

    parts: list[str] = stringToTextValues(value, listSeparator=separator)
    return parts or [""]


def _name(line: _Line, contact: Contact) -> None:
    contact.name = contact.name or line.text.strip()


def _name_of_parts(line: _Line) -> str:
    """A name in its parts: family, given, additional, before and after; in the East the family comes first."""
    family, given, more, before, after = [part.strip() for part in (line.fields + [""] * 5)[:5]]
    is_eastern = bool(family) and all(c >= "\u2e80" for c in family + given)
    parts = [family, given] if is_eastern else [before, given, more, family, after]
    return ("" if is_eastern else " ").join(part for part in parts if part)


def _organization(line: _Line, contact: Contact) -> None:
    contact.organization = contact.organization or (line.fields or [""])[0].strip()


def _title(line: _Line, contact: Contact) -> None:
    contact.title = contact.title or line.text.strip()


def _birthday(line: _Line, contact: Contact) -> None:
    """Where Apple leaves out the year it writes 1604 and says so."""
    said = line.text.strip()
    omitted = (line.params.get("X-APPLE-OMIT-YEAR") or [""])[0]
    is_without = bool(omitted) and said.startswith(omitted)
    contact.birthday = f"--{said[len(omitted) :].lstrip('-')}" if is_without else said


def _anniversary(line: _Line, contact: Contact) -> None:
    contact.anniversary = contact.anniversary or line.text.strip()


def _nickname(line: _Line, contact: Contact) -> None:
    contact.nickname = contact.nickname or _parts(line.value, ",")[0].strip()


def _note(line: _Line, contact: Contact) -> None:
    contact.note = contact.note or line.text.strip()


def _email(line: _Line, contact: Contact) -> None:
    contact.emails.append(Labelled(" ".join(line.types), line.text.strip().removeprefix("mailto:")))


def _phone(line: _Line, contact: Contact) -> None:
    number, _, extension = line.text.strip().removeprefix("tel:").partition(";ext=")
    contact.phones.append(Labelled(" ".join(line.types), f"{number} ext. {extension}" if extension else number))


def _website(line: _Line, contact: Contact) -> None:
    contact.websites.append(line.text.strip())


def _address(line: _Line, contact: Contact) -> None:
    """Post box, extended, street, town, region, code, country."""
    parts = [part.strip() for part in (line.fields + [""] * 7)[:7]]
    box, extended, street, town, region, code, country = parts
    whole = ", ".join(part for part in (box, extended, street, f"{code} {town}".strip(), region, country) if part)
    if whole:
        contact.addresses.append(Address(whole.replace("\n", ", "), town, "work" in line.types))


def _groups(line: _Line, contact: Contact) -> None:
    contact.groups += _parts(line.value, ",")


def _related(line: _Line, contact: Contact) -> None:
    said = [label for label in line.types if label not in _NO_LABELS]
    contact.related.append(Labelled(said[0] if said else line.group, line.text.strip()))


def _revision(line: _Line, contact: Contact) -> None:
    contact.dated = instant_of(line.value.strip())


def _shown_as(line: _Line, contact: Contact) -> None:
    contact.is_organization = line.value.strip().casefold() == "company"


def _read_other(line: _Line, contact: Contact) -> None:
    if line.name in _OTHERS:
        contact.related.append(Labelled(_OTHERS[line.name], line.text.strip()))


_READERS = {
    "FN": _name, "ORG": _organization, "TITLE": _title, "ROLE": _title, "BDAY": _birthday,
    "ANNIVERSARY": _anniversary, "X-ANNIVERSARY": _anniversary, "X-EVOLUTION-ANNIVERSARY": _anniversary,
    "X-MS-ANNIVERSARY": _anniversary, "X-KADDRESSBOOK-X-ANNIVERSARY": _anniversary, "NICKNAME": _nickname,
    "NOTE": _note, "EMAIL": _email, "TEL": _phone, "URL": _website, "ADR": _address, "CATEGORIES": _groups,
    "RELATED": _related, "X-ABRELATEDNAMES": _related, "REV": _revision, "X-ABSHOWAS": _shown_as,
}  # fmt: skip


def _name_organization(contact: Contact, lines: list[_Line]) -> None:
    """The name of a card without FN, and whether it is an organization's: no name but that of its organization."""
    said = next((_name_of_parts(line) for line in lines if line.name == "N"), "")
    contact.name = contact.name or said
    is_named = bool(said) and said != contact.organization
    contact.is_organization |= (
        bool(contact.organization) and contact.name in ("", contact.organization) and not is_named
    )


def _label_related(contact: Contact, lines: list[_Line]) -> None:
    """Apple gives a label in a line of its own that shares a group with what it labels."""
    labels = {line.group: line.text for line in lines if line.name == "X-ABLABEL" and line.group}
    contact.related = [Labelled(labels.get(other.label, other.label), other.value) for other in contact.related]
    for line in lines:
        is_date = line.name == "X-ABDATE" and "anniversary" in labels.get(line.group, "").casefold()
        if is_date and not contact.anniversary:
            contact.anniversary = line.text.strip()


def _name_related(contact: Contact, names: dict[str, str]) -> None:
    """Whom a card names by the id of another card gets the name of that; other addresses name nobody."""
    by_id = {key.removeprefix("urn:uuid:").casefold(): name for key, name in names.items()}
    related = []
    for other in contact.related:
        key = other.value.removeprefix("urn:uuid:").casefold()
        if key in by_id:
            related.append(Labelled(other.label, by_id[key]))
        elif not re.match(r"(?i)[a-z][a-z0-9+.-]{1,20}:\S+$", other.value):
            related.append(other)
    contact.related = related


logging.getLogger("vobject").addHandler(logging.NullHandler())
FORMAT = Format("vcard", sniff, convert)
