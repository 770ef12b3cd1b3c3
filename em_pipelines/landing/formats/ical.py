"""iCalendar (RFC 5545): calendars as Google, Apple, Outlook and others export them.

    BEGIN:VEVENT
    DTSTART;TZID=Europe/Vienna:20261201T180000
    RRULE:FREQ=WEEKLY
    SUMMARY:Choir
    END:VEVENT

Read by icalendar, recurrence by recurring-ical-events. An event is taken with its time zones and with what was changed
of single occurrences, all else left aside, so that one that cannot be read is refused alone. Days are those of the
event's own clock.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cache
from itertools import islice
from typing import Any

from em_pipelines.landing.formats.base import Format, Ignored, Item, Rejected, Sample, Source
from em_pipelines.landing.formats.seeds import PERSON, PLACE, Fact, Place, check_user, one_line, seed, subject_of, words
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import Reason, RuleError
from em_pipelines.schema.vocabulary import USER, EntityType, PrivacyLevel

CALENDAR = "calendar"
DAYS_BACK = 365
"""How old a past event may be: older ones would have faded before they are known."""
DAYS_AHEAD = 366
MAX_OCCURRENCES = 6
"""Of a series, how many dates ahead are looked for; as many as a statement has room for."""
_BEGIN, _END = re.compile(r"(?i)^BEGIN:\s*([A-Z-]+)\s*$"), re.compile(r"(?i)^END:\s*([A-Z-]+)\s*$")
_PROPERTY = re.compile(r"(?i)^(UID|RECURRENCE-ID)\b[^:]*:(.*)$")
_UNBOUNDED = re.compile(r"(?im)^(?:RRULE|EXRULE)[^:]*:.*(?:FREQ=(?:SECONDLY|MINUTELY|HOURLY)|BYSECOND|BYMINUTE)")
CONTAINER, EVENT = "VCALENDAR", "VEVENT"
_KEPT = ("VTIMEZONE", EVENT)
_DATES = ("DTSTART", "DTEND", "DURATION", "RRULE", "RDATE", "EXDATE", "RECURRENCE-ID")
_EVENT = EntityType.EVENT.value
_PRIVATE = ("PRIVATE", "CONFIDENTIAL")
_FREQUENCIES = {"DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}
_WEEKDAYS = {"MO": "Monday", "TU": "Tuesday", "WE": "Wednesday", "TH": "Thursday", "FR": "Friday", "SA": "Saturday",
             "SU": "Sunday"}  # fmt: skip


def sniff(sample: Sample) -> bool:
    """Whether a calendar begins in the first lines."""
    return any(line.strip().upper() == "BEGIN:VCALENDAR" for line in sample.text.splitlines()[:20])


def convert(file: InputFile, source: Source) -> Iterator[Item]:
    """Yields the facts of each event. Raises RuleError where the file cannot be read or nobody's it is."""
    user_id = check_user(file, source)
    data = file.document()
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        detail = f"byte {error.start} is not UTF-8; export the calendar as UTF-8"
        raise RuleError(Reason.NOT_UTF8, detail, raw=data[: file.settings.max_letter_bytes]) from error
    parts = _parts(text)
    for line in parts.ignored:
        yield Ignored(line)
    for broken in parts.broken:
        yield Rejected(broken.line, Reason.INVALID_EVENT, f"the {broken.name} has no END", parts.document([broken]))
    assert source.landed_at is not None  # whoever lands says when
    read: list[_Event] = []
    for group in parts.events:
        found = _read(group, parts, source.landed_at.date())
        if isinstance(found, _Event):
            read.append(found)
        else:
            yield found
    for event in _told_apart(read):
        place = Place(event.line, CALENDAR, event.changed_at, event.privacy_floor)
        yield from (seed(source, place, fact) for fact in _facts(event, user_id))


@dataclass(frozen=True, slots=True)
class _Component:
    """A component of a calendar as it stands there: its name, its first line, its lines."""

    name: str
    line: int
    lines: tuple[str, ...]

    def value(self, name: str) -> str:
        """The first value of a property that stands in it, unfolded; empty where there is none."""
        matches = (_PROPERTY.match(line) for line in _unfolded(self.lines))
        return next((m[2].strip() for m in matches if m and m[1].upper() == name), "")


@dataclass(slots=True)
class _Parts:
    """A calendar in its components; events in groups of one UID."""

    header: list[str] = field(default_factory=list)
    zones: list[_Component] = field(default_factory=list)
    events: list[list[_Component]] = field(default_factory=list)
    broken: list[_Component] = field(default_factory=list)
    ignored: list[int] = field(default_factory=list)

    def document(self, components: list[_Component]) -> bytes:
        """A calendar of these components alone, with their time zones."""
        text = "\n".join(line for part in components for line in part.lines)
        zones = [zone for zone in self.zones if any(name and name in text for name in _zone_names(zone))]
        lines = [*self.header, *(line for part in [*zones, *components] for line in part.lines)]
        return "\r\n".join(["BEGIN:VCALENDAR", *lines, "END:VCALENDAR", ""]).encode()


@dataclass(slots=True)
class _Event:
    """An event, or a series of them: `days` are those of its next dates, or the last one of a past event."""

    line: int
    title: str
    days: list[date]
    is_past: bool
    clock: str = ""
    until: date | None = None
    recurrence: str = ""
    place: str = ""
    people: tuple[str, ...] = ()
    changed_at: datetime | None = None
    privacy_floor: str | None = None


class _Splitter:
    """Takes a calendar apart line by line."""

    def __init__(self) -> None:
        self.parts = _Parts()
        self._by_uid: dict[str, list[_Component]] = defaultdict(list)
        self._open: list[str] = []
        self._lines: list[str] = []
        self._first = 0

    def take(self, number: int, line: str) -> None:
        """Takes the next line, numbered from 1."""
        begins, ends = _BEGIN.match(line), _END.match(line)
        if begins:
            self._begin(begins[1].upper(), number)
        if self._open:
            self._lines.append(line)
        elif line.upper().startswith("X-WR-TIMEZONE"):
            self.parts.header.append(line)
        if ends and self._open:
            self._end(ends[1].upper())

    def close(self) -> _Parts:
        """The components; one that was begun and never ended is broken."""
        self._break()
        self.parts.events = list(self._by_uid.values())
        return self.parts

    def _begin(self, name: str, number: int) -> None:
        if name in _KEPT:
            self._break()  # none of these stands in another
        if name == CONTAINER:
            return
        if not self._open:
            self._lines, self._first = [], number
        self._open.append(name)

    def _end(self, name: str) -> None:
        if name == CONTAINER:
            self._lines.pop()
            self._break()
        elif name == self._open[-1]:
            self._open.pop()
            if not self._open:
                self._put(_Component(name, self._first, tuple(self._lines)))

    def _break(self) -> None:
        """Sets aside what is begun and cannot be ended any more."""
        if self._open:
            self.parts.broken.append(_Component(self._open[0], self._first, tuple(self._lines)))
            self._open = []

    def _put(self, component: _Component) -> None:
        if component.name == "VTIMEZONE":
            self.parts.zones.append(component)
        elif component.name == EVENT:
            self._by_uid[component.value("UID") or f"line {component.line}"].append(component)
        else:
            self.parts.ignored.append(component.line)


def _parts(text: str) -> _Parts:
    splitter = _Splitter()
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1):
        splitter.take(number, line)
    return splitter.close()


def _unfolded(lines: tuple[str, ...]) -> list[str]:
    return re.sub(r"\n[ \t]", "", "\n".join(lines)).split("\n")


def _zone_names(zone: _Component) -> list[str]:
    return [line.partition(":")[2].strip() for line in _unfolded(zone.lines) if line.upper().startswith("TZID")]


def _read(group: list[_Component], parts: _Parts, today: date) -> "_Event | Item":
    """The event of a group; or why it is none, or refused."""
    from icalendar import Calendar  # noqa: PLC0415  (only who lands a calendar waits for it)

    raw, line = parts.document(group), group[0].line
    if _UNBOUNDED.search("\n".join(part for component in group for part in _unfolded(component.lines))):
        detail = "it recurs every hour or oftener; no event of a calendar is kept so"
        return Rejected(line, Reason.INVALID_EVENT, detail, raw)
    try:
        calendar = Calendar.from_ical(raw)
        events = list(calendar.walk("VEVENT"))
        _check(events)
        return _event(line, calendar, events, today)
    except Exception as error:  # whatever two libraries and RFC 5545 can fall over: an event is refused, never a file
        detail = f"the event cannot be read: {type(error).__name__}: {one_line(str(error), 160)}"
        return Rejected(line, Reason.INVALID_EVENT, detail, raw)


def _check(events: list[Any]) -> None:
    """Raises ValueError for what the library passed over because it could not be read."""
    wrong = [str(name) for event in events for name, _ in event.errors if str(name) in _DATES]
    if wrong:
        raise ValueError(f"{wrong[0]} is not what RFC 5545 asks for")
    if not any("DTSTART" in event for event in events):
        raise ValueError("it has no DTSTART")


def _event(line: int, calendar: Any, events: list[Any], today: date) -> "_Event | Item":
    main = next((event for event in events if "RECURRENCE-ID" not in event), events[0])
    title = one_line(str(main.get("SUMMARY", "")))
    if not title or title.casefold() in words()["empty_titles"] or _is_cancelled(main):
        return Ignored(line)
    started = main["DTSTART"].dt if "DTSTART" in main else None
    if _name_born(title) and isinstance(started, date) and not isinstance(started, datetime):
        return _Event(
            line, title, [started], is_past=True, changed_at=_changed_at(main)
        )  # whenever it comes round next
    series = any(name in main for name in ("RRULE", "RDATE"))
    dates = _dates(calendar, today, is_series=series)
    if not dates:
        return Ignored(line)
    starts = [_day(occurrence["DTSTART"].dt) for occurrence in dates]
    first = dates[0]
    return _Event(
        line=line,
        title=one_line(str(first.get("SUMMARY", title))) or title,
        days=starts,
        is_past=_last_day(first) < today,
        clock=_clock(first["DTSTART"].dt),
        until=_last_day(first),
        recurrence=_told_rule(main) if series else "",
        place=one_line(str(first.get("LOCATION", ""))),
        people=tuple(_people(first)),
        changed_at=_changed_at(main),
        privacy_floor=PrivacyLevel.PII.value if str(main.get("CLASS", "")).upper() in _PRIVATE else None,
    )


def _is_cancelled(event: Any) -> bool:
    return str(event.get("STATUS", "")).upper() == "CANCELLED"


def _dates(calendar: Any, today: date, *, is_series: bool) -> list[Any]:
    """The next occurrences within the window, or else the last one of those that are past; cancelled ones left out."""
    import recurring_ical_events  # noqa: PLC0415

    query = recurring_ical_events.of(calendar)
    ahead = [e for e in query.between(today, today + timedelta(days=DAYS_AHEAD)) if not _is_cancelled(e)]
    ahead.sort(key=lambda e: (_day(e["DTSTART"].dt), _clock(e["DTSTART"].dt)))
    if ahead:
        return list(islice(ahead, MAX_OCCURRENCES if is_series else 1))
    back = [e for e in query.between(today - timedelta(days=DAYS_BACK), today) if not _is_cancelled(e)]
    return [max(back, key=lambda e: _day(e["DTSTART"].dt))] if back else []


def _day(moment: date | datetime) -> date:
    return moment.date() if isinstance(moment, datetime) else moment


def _clock(moment: date | datetime) -> str:
    return f"{moment:%H:%M}" if isinstance(moment, datetime) else ""


def _last_day(event: Any) -> date:
    """The last day of an event: its end is the first moment, or the first day, after it."""
    start, end = event["DTSTART"].dt, event["DTEND"].dt if "DTEND" in event else event["DTSTART"].dt
    if isinstance(end, datetime):
        return _day(end - timedelta(microseconds=1)) if end > start else _day(start)
    return max(_day(start), _day(end) - timedelta(days=1))


def _changed_at(event: Any) -> datetime | None:
    for name in ("LAST-MODIFIED", "CREATED"):
        moment = event[name].dt if name in event else None
        if isinstance(moment, datetime) and moment.tzinfo:
            return moment
    return None


def _people(event: Any) -> Iterator[str]:
    """The names of those who were asked to come; addresses are no names."""
    asked = event.get("ATTENDEE", [])
    for one in asked if isinstance(asked, list) else [asked]:
        name = one_line(str(one.params.get("CN", "")))
        if name and "@" not in name and str(one.params.get("CUTYPE", "")).upper() not in ("RESOURCE", "ROOM"):
            yield name


def _told_rule(event: Any) -> str:
    """The rule of a series in words: every 2 weeks on Tuesday, Thursday; empty where it is one of single dates."""
    rule = event.get("RRULE")
    if rule is None or isinstance(rule, list):
        return ""
    unit = _FREQUENCIES.get(str((rule.get("FREQ") or [""])[0]), "")
    every = int((rule.get("INTERVAL") or [1])[0])
    said = f"every {unit}" if every == 1 else f"every {every} {unit}s"
    days = [_WEEKDAYS[str(day)[-2:]] for day in rule.get("BYDAY") or [] if str(day)[-2:] in _WEEKDAYS]
    is_plain = unit == "week" and days
    until = (rule.get("UNTIL") or [None])[0]
    return f"{said}{' on ' + ', '.join(days) if is_plain else ''}{f' until {_day(until)}' if until else ''}"


def _told_apart(events: list[_Event]) -> Iterator[_Event]:
    """Events of one title on several days get their day as well: two visits to the dentist are two events."""
    by_title: dict[str, set[date]] = defaultdict(set)
    for event in events:
        if event.title:
            by_title[event.title.casefold()].add(event.days[0])
    for event in events:
        if len(by_title[event.title.casefold()]) > 1 and not _born(event):
            event.title = f"{event.title} on {event.days[0]}"
        yield event


def _born(event: _Event) -> str:
    """Whose birthday it is; empty where it is none. A party has its hour, a birthday is all of a day."""
    return "" if event.clock else _name_born(event.title)


def _name_born(title: str) -> str:
    return next((match["name"].strip() for p in _birthday_titles() if (match := p.fullmatch(title))), "")


@cache
def _birthday_titles() -> list[re.Pattern[str]]:
    return [
        re.compile(
            r"(?i)(?:\W{0,4}\s)?" + re.escape(title).replace("NAME", r"(?P<name>\S.{0,80}?)") + r"(?:\s\W{0,4})?"
        )
        for title in words()["birthdays"]
    ]


def _facts(event: _Event, user_id: str) -> Iterator[Fact]:
    if name := _born(event):
        born = subject_of(name, user_id)
        yield Fact(born, "has_birthday", f"{event.days[0]:%m-%d}", {"subject_type": PERSON})
        return
    kind = {"subject_type": _EVENT, "statement": _statement(event)}
    if event.is_past:
        yield Fact(event.title, "happened_on", event.days[0].isoformat(), kind)
    else:
        yield Fact(event.title, "scheduled_for", event.days[0].isoformat(), kind)
    if event.recurrence and not event.is_past:
        yield Fact(event.title, "has_attribute", event.recurrence, {**kind, "attribute": "recurrence"})
    if event.place and not re.match(r"(?i)[a-z][a-z0-9+.-]{1,20}://", event.place):
        yield Fact(event.title, "located_in", event.place, {**kind, "object_type": PLACE})


def _statement(event: _Event) -> str:
    """The event in a sentence, with what a fact cannot hold: its time, its end, the next dates of a series, guests."""
    said = f"{event.title} {'was' if event.is_past else 'is'} on {_when(event)}"
    if event.recurrence and not event.is_past:
        said += f", {event.recurrence}"
    if event.people:
        said += f", with {', '.join(name for name in event.people[:4] if name != USER)}"
    if len(event.days) > 1:
        said += f"; then {', '.join(day.isoformat() for day in event.days[1:])}"
    return one_line(said, 160)


def _when(event: _Event) -> str:
    day = event.days[0]
    clock = f" at {event.clock}" if event.clock else ""
    until = f" to {event.until}" if event.until and event.until > day else ""
    return f"{day}{clock}{until}"


FORMAT = Format("ical", sniff, convert)
