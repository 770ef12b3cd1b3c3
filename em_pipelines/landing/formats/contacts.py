"""One contact of an address book, whatever its file, and the facts that it holds.

Names, birthdays, work, homes, relations, ways to reach somebody and a note are kept; pictures, keys, coordinates and
whatever else an address book may hold are not (docs/seeds.md).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime

from em_pipelines.landing.formats.base import Item, Parsed, Rejected, Source
from em_pipelines.landing.formats.seeds import (
    MAX_NOTE_CHARACTERS,
    ORGANIZATION,
    PERSON,
    PLACE,
    Fact,
    Place,
    day_of_birth,
    group_relation,
    one_line,
    relation_of,
    seed,
    subject_of,
)
from em_pipelines.landing.reasons import Reason
from em_pipelines.schema.vocabulary import USER

CONTACTS = "contacts"
_NO_NAME = re.compile(r"\S+@\S+\.\S+|[\W\d_]*")
"""What programs write where nobody gave a name: the address, or the number."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A value and what it is to whoever has it: `work` of a telephone number, `Mother` of a name."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Address:
    """An address: in one line, its town alone, and whether somebody works there."""

    whole: str
    town: str = ""
    is_work: bool = False


@dataclass(slots=True)
class Contact:
    """What an entry of an address book says, unescaped. `birthday` and `anniversary` are as they stand there."""

    name: str = ""
    is_organization: bool = False
    organization: str = ""
    title: str = ""
    birthday: str = ""
    anniversary: str = ""
    nickname: str = ""
    note: str = ""
    emails: list[Labelled] = field(default_factory=list)
    phones: list[Labelled] = field(default_factory=list)
    websites: list[str] = field(default_factory=list)
    addresses: list[Address] = field(default_factory=list)
    related: list[Labelled] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    dated: datetime | None = None
    problems: list[str] = field(default_factory=list)
    """What could not be read, in sentences."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A contact where it stands: its first line, and its own bytes as they can be read again."""

    contact: Contact
    line: int
    raw: bytes


def items_of(entry: Entry, source: Source, user_id: str) -> Iterator[Item]:
    """The facts of an entry, each a record, and one refusal that says all that could not be read of it."""
    contact = entry.contact
    if _NO_NAME.fullmatch(contact.name):
        contact.name = ""
    if not contact.name and not contact.organization:
        detail = "; ".join(["the entry names neither a person nor an organization", *contact.problems])
        yield Rejected(entry.line, Reason.INVALID_CARD, detail, entry.raw)
        return
    place = Place(entry.line, CONTACTS, contact.dated)
    facts = list(_facts(contact, user_id, _today(source)))
    seen: set[tuple[str, ...]] = set()
    for fact in facts:
        key = (fact.subject, fact.relation, fact.object, str(fact.more.get("attribute")))
        if fact.object and key not in seen:
            seen.add(key)
            yield _record(source, place, fact)
    if contact.problems:
        yield Rejected(entry.line, Reason.INVALID_CARD, "; ".join(contact.problems), entry.raw)


def _record(source: Source, place: Place, fact: Fact) -> Parsed:
    return seed(source, place, fact)


def _today(source: Source) -> date:
    assert source.landed_at is not None  # whoever lands says when
    return source.landed_at.date()


def _facts(contact: Contact, user_id: str, today: date) -> Iterator[Fact]:
    if contact.is_organization or not contact.name:
        yield from _facts_of_organization(contact)
        return
    name = subject_of(one_line(contact.name), user_id)
    person = {"subject_type": PERSON}
    if name != USER:
        relation = group_relation(contact.groups)
        yield Fact(USER, relation, name, {"object_type": PERSON})
    if contact.organization:
        yield Fact(name, "works_at", one_line(contact.organization), {**person, "object_type": ORGANIZATION})
    if contact.title:
        yield Fact(name, "works_as", one_line(contact.title), person)
    yield from _days(contact, name, today)
    for address in contact.addresses:
        if address.town and not address.is_work:
            yield Fact(name, "lives_in", one_line(address.town), {**person, "object_type": PLACE})
    yield from _related(contact, name, user_id)
    yield from (Fact(name, "has_attribute", value, {**person, "attribute": key}) for key, value in _attributes(contact))


def _facts_of_organization(contact: Contact) -> Iterator[Fact]:
    name = one_line(contact.organization or contact.name)
    kind = {"subject_type": ORGANIZATION}
    for address in contact.addresses:
        if address.town:
            yield Fact(name, "located_in", one_line(address.town), {**kind, "object_type": PLACE})
    yield from (Fact(name, "has_attribute", value, {**kind, "attribute": key}) for key, value in _attributes(contact))


def _days(contact: Contact, name: str, today: date) -> Iterator[Fact]:
    """Birthday and anniversary; what is no date is a problem of the entry."""
    for said, relation, more in (
        (contact.birthday, "has_birthday", {}),
        (contact.anniversary, "has_attribute", {"attribute": "anniversary"}),
    ):
        if not said:
            continue
        try:
            yield Fact(name, relation, day_of_birth(said, today), {"subject_type": PERSON, **more})
        except ValueError as error:
            contact.problems.append(f"{more.get('attribute', 'birthday')}: {error}")


def _related(contact: Contact, name: str, user_id: str) -> Iterator[Fact]:
    for other in contact.related:
        found = relation_of(other.label) or ("knows", False)
        ends = [name, subject_of(one_line(other.value), user_id)]
        if not ends[1] or ends[0] == ends[1]:
            continue
        relation, is_of_other = found
        subject, object_ = ends[::-1] if is_of_other else ends
        yield Fact(subject, relation, object_, {"subject_type": PERSON, "object_type": PERSON})


def _attributes(contact: Contact) -> Iterator[tuple[str, str]]:
    """Ways to reach somebody and what else is kept as it stands, by their keys: email, work phone, second website."""
    yield from _numbered(_keyed("email", contact.emails))
    yield from _numbered(_keyed("phone", contact.phones))
    yield from _numbered(("website", website) for website in contact.websites)
    yield from _numbered(("work address" if a.is_work else "address", one_line(a.whole)) for a in contact.addresses)
    if contact.nickname:
        yield "nickname", one_line(contact.nickname)
    if contact.note:
        yield "note", one_line(contact.note, MAX_NOTE_CHARACTERS)


_LABELS = {"cell": "mobile", "mobile": "mobile", "iphone": "mobile", "work": "work", "business": "work", "fax": "fax"}
"""Labels that are told in the key; home and whatever else there may be are not, for most people have one."""


def _keyed(key: str, values: list[Labelled]) -> Iterator[tuple[str, str]]:
    for value in values:
        words = value.label.casefold().replace(",", " ").split()
        label = next((_LABELS[word] for word in words if word in _LABELS), "")
        yield f"{label} {key}".strip(), one_line(value.value)


def _numbered(values: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """One value a key: the second of a kind is `email 2`."""
    count: dict[str, list[str]] = {}
    for key, value in values:
        known = count.setdefault(key, [])
        if value and value not in known:
            known.append(value)
            yield (key if len(known) == 1 else f"{key} {len(known)}"), value
