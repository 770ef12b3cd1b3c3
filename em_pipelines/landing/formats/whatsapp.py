"""Chats that WhatsApp has exported: `_chat.txt` of an iPhone, `WhatsApp Chat with NAME.txt` of Android.

    [05/03/2026, 18:20:11] Nora: text
    05/03/2026, 18:20 - Nora: text

The file is read twice: first for who speaks and in which order its dates are written, then for the messages. It names
no time zone: times are those of `landing.time_zone`. Lines of the program and messages that were taken back are passed
over. Line numbers are of the line with which a message begins.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from zoneinfo import ZoneInfo

from em_pipelines.landing.formats.base import Format, Ignored, Item, Rejected, Remark, Sample, Source, dated, slug
from em_pipelines.landing.formats.chats import Chat, question, user_among, whose, without_zone
from em_pipelines.landing.formats.local_clock import LocalClock
from em_pipelines.landing.formats.whatsapp_lines import (
    Dates,
    Entry,
    content_of,
    entries,
    entry_of,
    is_taken_back_by_user,
    tells_a_group,
)
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import Reason, RuleError, Skip
from em_pipelines.landing.settings import DateOrder

_NAME = "whatsapp"
_LINES_LOOKED_AT = 5
_FILE_NAME = re.compile(
    r"(?i)^(?:whatsapp[ -]?chat|chat (?:de |do )?whatsapp|discussion whatsapp|conversa do whatsapp|whatsapp)"
    r"\s*(?:[-–]|with|mit|con|avec|com|met|med|z|ile|с|dengan)?\s+(?P<name>.+?)(?: \(\d+\))?$"
)


def sniff(sample: Sample) -> bool:
    """Whether one of the first lines begins a message."""
    lines = [line for line in sample.text.splitlines() if line.strip()][:_LINES_LOOKED_AT]
    return any(entry_of(1, line) for line in lines)


@dataclass(slots=True)
class _Survey:
    """What the whole file tells."""

    counts: Counter[str] = field(default_factory=Counter)
    dates: Dates = field(default_factory=Dates)
    users: set[str] = field(default_factory=set)
    """Who has taken back a message on this phone."""
    speaking_for_group: dict[str, None] = field(default_factory=dict)
    """Names under which an iPhone writes what it says itself: that of a group, too."""
    is_group: bool = False
    n_entries: int = 0

    def take(self, entry: Entry) -> None:
        self.n_entries += 1
        self.dates.take(entry)
        if entry.speaker is None:
            self.is_group |= tells_a_group(entry.text)
            return
        content = content_of(entry.text, is_iphone=entry.style == "iphone")
        if content is Skip.SYSTEM_LINE:
            self.speaking_for_group.setdefault(entry.speaker)
            self.is_group |= tells_a_group(entry.text)
            return
        self.counts[entry.speaker] += 1
        if is_taken_back_by_user(entry.text):
            self.users.add(entry.speaker)

    @property
    def group(self) -> str | None:
        """The name of the group, where an iPhone tells it: nobody speaks under it."""
        return next((name for name in self.speaking_for_group if name not in self.counts), None)


def convert(file: InputFile, source: Source) -> Iterator[Item]:
    """Yields the messages in order. Raises RuleError where nothing tells how dates are written."""
    survey = _surveyed(file, source)
    chat = _chat(file, source, survey)
    order, is_certain = survey.dates.order()
    order = file.settings.date_order or order
    if order is None:
        detail = (
            f"{source.name} writes dates as {survey.dates.sample}, and each of them can be read with the day or the "
            "month first; say which with --date-order dmy or mdy"
        )
        raise RuleError(Reason.INVALID_FIELD, detail, raw=file.head[: file.settings.max_letter_bytes])
    yield from _remarks(file, source, survey.dates, order, is_certain or file.settings.date_order is not None)
    if survey.counts and not chat.users:
        yield question(source.name, survey.counts)
    clock, user_id = LocalClock(ZoneInfo(file.settings.time_zone)), whose(chat.users, source)
    for found in entries(file):
        if isinstance(found, int):
            yield Ignored(found, Skip.PREAMBLE)
        elif isinstance(found, Rejected):
            yield found
        else:
            yield _item(found, chat, user_id, order, clock)


def _surveyed(file: InputFile, source: Source) -> _Survey:
    """What the whole file tells. Raises RuleError for one without messages."""
    survey = _Survey()
    for found in entries(file):
        if isinstance(found, Entry):
            survey.take(found)
    if not survey.n_entries:
        detail = f"{source.name}: no line begins with a time and a speaker, as in WhatsApp's chats"
        raise RuleError(Reason.MISSING_FIELD, detail, raw=file.head[: file.settings.max_letter_bytes])
    return survey


def _item(entry: Entry, chat: Chat, user_id: str | None, order: DateOrder, clock: LocalClock) -> Item:
    sent_at = entry.sent_at(order)
    at = clock.at(sent_at) if sent_at else None
    place = chat.count(at)
    if entry.speaker is None:
        return Ignored(entry.number, Skip.SYSTEM_LINE)
    content = content_of(entry.text, is_iphone=entry.style == "iphone")
    if isinstance(content, Skip):
        return Ignored(entry.number, content)
    fields = {
        "user_id": user_id,
        **chat.message(place, entry.speaker, content, at),
    }
    written = entry.separator.join(entry.parts)
    return dated(entry.number, fields, f"{written} is no date in the order {order}, in which the others are written")


def _remarks(file: InputFile, source: Source, dates: Dates, order: DateOrder, is_certain: bool) -> Iterator[Remark]:
    if not is_certain:
        named = {"dmy": "day/month/year", "mdy": "month/day/year", "ymd": "year/month/day"}[order]
        yield Remark(
            f"{source.name}: its dates, such as {dates.sample}, are ambiguous; they were read as {named} for their "
            "form. --date-order gives another, and has to when it lands first"
        )
    if dates.has_unknown_halves:
        listed = ", ".join(sorted(dates.unknown_halves))
        yield Remark(
            f"{source.name}: {listed} beside its times are not known; the times were taken for those of 24 hours"
        )
    if "time_zone" not in file.settings.model_fields_set:
        yield without_zone(source.name)


def _chat(file: InputFile, source: Source, survey: _Survey) -> Chat:
    """The chat: who of those who speak is the user, and what it is called after."""
    title = _title(file, source) or survey.group
    users = _users(file, source, survey, title)
    others = tuple(sorted(survey.counts.keys() - users))
    is_group = survey.is_group or len(others) > (1 if users else 2)
    name = title if is_group or not others else others[0]
    ordered = tuple(sorted(users, key=lambda name: (-survey.counts[name], name)))
    return Chat(_NAME, name or source.name.partition(".")[0], ordered, is_group, others)


def _users(file: InputFile, source: Source, survey: _Survey, title: str | None) -> frozenset[str]:
    """The user's names: as the caller says; who took back a message on this phone; in a chat of two the one that it is
    not called after."""
    found = user_among(survey.counts, file.settings.speakers, source) or frozenset(survey.users)
    if found or not title or survey.is_group or len(survey.counts) > 2:
        return found
    others = frozenset(name for name in survey.counts if slug(name) == slug(title))
    return frozenset(survey.counts) - others if others else found


def _title(file: InputFile, source: Source) -> str | None:
    """What the chat is called after: the file, or the folder or ZIP that it came in."""
    places = [PurePath(source.name), *(PurePath(part) for part in file.path.parts[-3:-1][::-1])]
    for place in places:
        stem = place.name.removesuffix(".gz").removesuffix("!").removesuffix(".zip").removesuffix(".txt")
        if found := _FILE_NAME.match(stem):
            return found["name"].strip()
    return None


FORMAT = Format(_NAME, sniff, convert, reads_prose=True, has_speakers=True, is_named_after_file=True)
