"""Chats that Telegram Desktop has exported as JSON: result.json of one chat, or of all.

    {"name": "Ivo", "type": "personal_chat", "id": 4312, "messages": [{"id": 7, "type": "message", "date": …,
      "date_unixtime": "1772734811", "from": "Nora", "from_id": "user99", "text": TEXT or [TEXT or {"type", "text"}]}]}
    {"personal_information": {"user_id": 99, …}, "chats": {"list": [CHAT, …]}, "left_chats": {"list": [CHAT, …]}}

Who the user is tells the personal information, and in a chat of two its number, which is the other's. A message's
number is its turn, so that exports of any part of a chat agree. What was forwarded, or written by a bot for somebody,
is a quotation in their message. What a channel says is in the role tool: no person says it. Line numbers are the
message's in its chat, from 1.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timezone
from typing import Any
from zoneinfo import ZoneInfo

from em_pipelines.landing.formats.base import (
    Fields,
    Format,
    Ignored,
    Item,
    Rejected,
    Sample,
    Source,
    dated,
    dumps,
    id_of,
    instant_of,
    quoted,
)
from em_pipelines.landing.formats.chats import Chat, question, user_among, whose, without_zone
from em_pipelines.landing.formats.local_clock import LocalClock
from em_pipelines.landing.formats.telegram_content import content_of
from em_pipelines.landing.formats.telegram_file import FoundChat, read_export
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import Reason, Skip
from em_pipelines.landing.records import MAX_ZONES_APART, ZONE_STEP

_NAME = "telegram"
_TYPES = (
    "personal_chat|bot_chat|saved_messages|replies|verification_codes|(?:private|public)_(?:group|supergroup|channel)"
)
_TYPE = re.compile(rf'"type"\s*:\s*"(?:{_TYPES})"')
_OF_TWO = ("personal_chat", "bot_chat", "saved_messages")
_GROUPS = ("private_group", "private_supergroup", "public_supergroup")
_OLDEST_NUMBER = 2**40
"""Added to numbers below zero, which messages have from before a group became a larger one."""

_Owner = tuple[str | None, str | None]
"""The id and the name of whose export it is, as messages show them; None where it does not say."""


def sniff(sample: Sample) -> bool:
    """Whether it is a document of a chat or of all of them."""
    if sample.text.lstrip()[:1] != "{":
        return False
    is_chat = sample.has("messages") and _TYPE.search(sample.text) is not None
    return is_chat or sample.has("about", "personal_information") or (sample.has("about", "chats", "list"))


def convert(file: InputFile, source: Source) -> Iterator[Item]:
    """Yields the messages of every chat in order. Raises RuleError where the document is broken as a whole."""
    export = read_export(file)
    owner = _owner(export.header.get("personal_information"))
    for number, found in enumerate(export.chats, start=1):
        if isinstance(found, Rejected):
            yield found
        elif not isinstance(found.header.get("messages", []), list):
            detail = f"chat {number}: messages: expected a list of messages"
            yield Rejected(number, Reason.MISSING_FIELD, detail, dumps(found.header))
        else:
            yield from _chat(found, owner, file, source)


def _owner(information: object) -> _Owner:
    if not isinstance(information, dict):
        return None, None
    names = [information.get(name) for name in ("first_name", "last_name")]
    number = id_of(information.get("user_id"))
    return number and f"user{number}", " ".join(name for name in names if isinstance(name, str) and name) or None


@dataclass(slots=True)
class _People:
    """Who speaks in a chat: by id the name that stands for them. Of two of one name the later has the id behind it."""

    names: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, found: FoundChat) -> "_People":
        """Those who speak in a chat."""
        people = cls()
        for message in found.messages():
            if not isinstance(message, dict) or message.get("type") == "service":
                continue
            if speaker := speaker_id(message):
                people.counts[speaker] += 1
                people.names[speaker] = people._name(speaker, message.get("from"))
        return people

    def _name(self, speaker: str, shown: object) -> str:
        known = self.names.get(speaker, speaker)
        name = shown.strip() if isinstance(shown, str) else ""
        if known != speaker or not name:
            return known
        return f"{name} ({speaker})" if name in self.names.values() else name

    def named(self, names: Collection[str]) -> tuple[str, ...]:
        """The ids of those who go by one of the names."""
        return tuple(speaker for speaker, name in self.names.items() if name in names)

    def all_but(self, *ids: str) -> tuple[str, ...]:
        """The ids of all others."""
        return tuple(speaker for speaker in self.names if speaker not in ids)


def speaker_id(message: Fields) -> str | None:
    """By which a speaker is known: the id, as older exports write it, too; else the name."""
    number = message.get("from_id")
    if isinstance(number, int) and not isinstance(number, bool):
        return f"user{number}"
    name = message.get("from")
    return id_of(number) or (name if isinstance(name, str) and name.strip() else None)


def _chat(found: FoundChat, owner: _Owner, file: InputFile, source: Source) -> Iterator[Item]:
    header, people = found.header, _People.of(found)
    users = _users(header, people, owner, file, source)
    if not users and people.names and not _is_channel(header):
        counts = {people.names[speaker]: n for speaker, n in people.counts.items()}
        yield question(f"{source.name}, chat {header.get('name')},", counts)
    names = tuple(people.names[speaker] for speaker in users if speaker in people.names)
    others = tuple(people.names[speaker] for speaker in people.all_but(*users) if not _is_channel_id(speaker))
    is_group = header.get("type") in _GROUPS or (header.get("type") not in _OF_TWO and len(others) > 1)
    name = id_of(header.get("id")) or str(header.get("name") or source.name)
    chat = Chat(_NAME, name, names or tuple(filter(None, owner[1:])), is_group, others)
    clock = LocalClock(ZoneInfo(file.settings.time_zone))
    reader = _Reader(chat, header, people, clock, whose(chat.users, source))
    for number, message in enumerate(found.messages(), start=1):
        yield message if isinstance(message, Rejected) else reader.item(number, message)
    if reader.has_no_zone and "time_zone" not in file.settings.model_fields_set:
        yield without_zone(source.name)


def _users(header: Fields, people: _People, owner: _Owner, file: InputFile, source: Source) -> tuple[str, ...]:
    """The ids under which the user speaks: the owner of the export; in a chat of two who is not the other; else whom
    the caller names."""
    kind, other = header.get("type"), f"user{id_of(header.get('id'))}"
    if owner[0]:
        return (owner[0],)
    if kind == "saved_messages":
        return people.all_but()
    if kind in _OF_TWO and other in people.names:
        return people.all_but(other)
    said = user_among(people.names.values(), file.settings.speakers, source)
    return people.named(said or [owner[1] or ""]) or _not_in_the_title(header, people)


def _not_in_the_title(header: Fields, people: _People) -> tuple[str, ...]:
    """Of a chat of two, who is not the one that it is called after."""
    others = people.named([str(header.get("name"))])
    is_of_two = header.get("type") in _OF_TWO and len(people.names) == 2
    return people.all_but(*others) if others and is_of_two else ()


def _is_channel(header: Fields) -> bool:
    return "channel" in str(header.get("type"))


def _is_channel_id(speaker: str) -> bool:
    return speaker.startswith("channel")


@dataclass(slots=True)
class _Reader:
    """Makes items of the messages of one chat."""

    chat: Chat
    header: Fields
    people: _People
    clock: LocalClock
    user_id: object
    has_no_zone: bool = False

    def item(self, number: int, message: Any) -> Item:
        """One message, or what else stands between them."""
        if not isinstance(message, dict):
            detail = f"message {number}: expected a JSON object, found {type(message).__name__}"
            return Rejected(number, Reason.NOT_AN_OBJECT, detail, dumps(message))
        speaker = speaker_id(message)
        if message.get("type") == "service" or (speaker is None and "action" in message):
            return Ignored(number, Skip.SYSTEM_LINE)
        content = self._content(message)
        if not content.strip():
            is_known = message.get("type", "message") == "message"
            return Ignored(number, Skip.EMPTY if is_known else Skip.UNKNOWN_CONTENT)
        at = self._sent_at(message)
        session = f"{self.chat.session_prefix}/{at.astimezone(UTC).date().isoformat() if at else 'undated'}"
        place = (session, _turn(message, number))
        fields = self.chat.message(place, self.people.names.get(speaker or "", "Deleted Account"), content, at)
        fields |= {"user_id": self.user_id, "source_id": id_of(message.get("id"))} | self._role(speaker or "")
        return dated(number, fields, f"message {number}: date_unixtime and date: expected a time; add one of them")

    def _role(self, speaker: str) -> Fields:
        """What a person says is in the role of user; what a bot or a channel says is not."""
        if _is_channel(self.header):
            return {"role": "tool", "subject": None, "trust": "untrusted"}
        if _is_channel_id(speaker):
            return {"role": "tool", "subject": None}
        if self.header.get("type") == "bot_chat" and self.people.names.get(speaker) not in self.chat.users:
            return {"role": "assistant", "subject": None, "agent_id": self.people.names.get(speaker)}
        return {}

    def _sent_at(self, message: Fields) -> datetime | None:
        exact = instant_of(message.get("date_unixtime"))
        written = message.get("date")
        if not isinstance(written, str):
            return exact
        try:
            found = datetime.fromisoformat(written)
        except ValueError:
            return exact
        if exact is not None:
            return _by_its_clock(exact, found)
        if found.tzinfo is None:
            self.has_no_zone = True
            found = self.clock.at(found)
        return found

    def _content(self, message: Fields) -> str:
        content = content_of(message)
        bot = message.get("via_bot")
        if "forwarded_from" in message and not self._is_own(message):
            whose = message["forwarded_from"]
            return f"[forwarded from {whose}]\n{quoted(content)}" if whose else f"[forwarded]\n{quoted(content)}"
        return f"[via {bot}]\n{quoted(content)}" if isinstance(bot, str) and content else content

    def _is_own(self, message: Fields) -> bool:
        """Whether somebody has forwarded what they have said themselves."""
        whose = message.get("forwarded_from_id")
        return bool(whose == message.get("from_id") if whose else message["forwarded_from"] == message.get("from"))


def _by_its_clock(exact: datetime, written: datetime) -> datetime:
    """A moment by the clock of the export, which shows how far it is from UTC."""
    ahead = written.replace(tzinfo=UTC) - exact.replace(microsecond=0)
    is_zone = abs(ahead) <= MAX_ZONES_APART / 2 and not ahead % ZONE_STEP
    return exact.astimezone(timezone(ahead)) if is_zone else exact


def _turn(message: Fields, number: int) -> Any:
    said = message.get("id")
    if not isinstance(said, int) or isinstance(said, bool):
        return number
    return said if said >= 0 else said + _OLDEST_NUMBER


FORMAT = Format(_NAME, sniff, convert, has_speakers=True)
