"""Finds a chat that has landed before under another name.

An export of WhatsApp holds no id of the chat: its sessions are named after the file, and the file is called after the
contact or the group. After a contact is saved or a group renamed, the same chat comes under another name. It is found
by its content: the same words in the same minutes, not only the user's own, for those may have gone to several people.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from em_pipelines.landing.formats.base import Item, Parsed, Remark
from em_pipelines.landing.formats.chats import TURNS_A_MINUTE
from em_pipelines.landing.intake import SessionIndex
from em_pipelines.schema.table import Record
from em_pipelines.schema.vocabulary import USER
from em_pipelines.storage.landed_log import LandedLog

MIN_SAME_MESSAGES = 2
MIN_SAME_SHARE = 0.5
"""Of the messages of the shorter telling, on the days that both have: some may be deleted, edited or masked."""
KIND = "interactions"
Said = tuple[str, int, str]
"""Day and minute by the clock of the export, and the words."""


@dataclass(frozen=True, slots=True)
class Renaming:
    """What the ids of a chat's sessions begin with in a file, and with what they have landed."""

    now: str
    landed: str

    def of(self, item: Item) -> Item:
        """A message in the session that its chat has landed in; anything else as it is."""
        if not isinstance(item, Parsed):
            return item
        prefix, _, day = str(item.fields.get("session_id")).rpartition("/")
        if prefix != self.now:
            return item
        return replace(item, fields={**item.fields, "session_id": f"{self.landed}/{day}"})


@dataclass(slots=True)
class _Telling:
    """The messages of one chat, from a file or from the log, by day."""

    by_day: dict[str, Counter[Said]] = field(default_factory=lambda: defaultdict(Counter))
    others: set[Said] = field(default_factory=set)
    """What somebody else than the user has said."""

    def add(self, message: Record) -> None:
        day = str(message["session_id"]).rpartition("/")[2]
        said = (day, message["turn_number"] // TURNS_A_MINUTE, message["content"])
        self.by_day[day][said] += 1
        if message["subject"] != USER:
            self.others.add(said)

    def is_same_chat(self, other: "_Telling") -> bool:
        """Whether two tellings are of one chat."""
        days = self.by_day.keys() & other.by_day.keys()
        same = [self.by_day[day] & other.by_day[day] for day in days]
        n_same = sum(counts.total() for counts in same)
        n_shorter = sum(min(self.by_day[day].total(), other.by_day[day].total()) for day in days)
        has_others = any(not self.others.isdisjoint(counts) for counts in same)
        return has_others and n_same >= MIN_SAME_MESSAGES and n_same >= MIN_SAME_SHARE * n_shorter


def as_landed(items: Iterable[Item], same_items: Iterable[Item], log: LandedLog, name: str) -> Iterator[Item]:
    """The items of a file, which are given twice, in the sessions that its chat has landed in before; as they are where
    it has not, or under the same name. `name` is the file's; all earlier files stand in the log."""
    if renaming := _renaming_of(same_items, log):
        yield Remark(f"{name} is a chat that has landed before as {renaming.landed}, and goes on there")
        yield from map(renaming.of, items)
    else:
        yield from items


def _renaming_of(items: Iterable[Item], log: LandedLog) -> Renaming | None:
    messages = [item.fields for item in items if isinstance(item, Parsed) and item.fields.get("user_id")]
    chats = {(m["user_id"], m["source_format"], m["session_id"].rpartition("/")[0]) for m in messages}
    if len(chats) != 1:
        return None
    ((user, source_format, prefix),) = chats
    # Known under its own name, as most that come again are: the log need not be read.
    if SessionIndex(log).days({(user, m["session_id"]) for m in messages}):
        return None
    landed = _landed_as(messages, log, user, source_format)
    return Renaming(prefix, landed) if landed is not None else None


def _landed_as(messages: Iterable[Record], log: LandedLog, user: str, source_format: str) -> str | None:
    """What the ids of the sessions begin with of a chat that has landed with the content of these messages."""
    told = _Telling()
    for message in messages:
        told.add(message)
    landed = _chats(_records_around(told.by_day, log), user, source_format)
    return next((one for one, telling in sorted(landed.items()) if told.is_same_chat(telling)), None)


def _chats(records: Iterable[Record], user_id: str, source_format: str) -> dict[str, _Telling]:
    """The chats of a user, by what the ids of their sessions begin with."""
    chats: dict[str, _Telling] = defaultdict(_Telling)
    for record in records:
        if record["user_id"] == user_id and record["source_format"] == source_format:
            chats[record["session_id"].rpartition("/")[0]].add(record)
    return chats


def _records_around(days: Iterable[str], log: LandedLog) -> Iterator[Record]:
    """All landed messages of some days: a day of a clock reaches into the UTC days before and after."""
    wanted = {date.fromisoformat(day) + timedelta(days=n) for day in days if day[:1].isdigit() for n in (-1, 0, 1)}
    for day in sorted(wanted.intersection(log.days(KIND))):
        yield from log.read(KIND, day)
