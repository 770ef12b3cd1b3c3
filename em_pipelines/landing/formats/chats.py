"""Chats among people, whatever program they come from: which of those who speak is the user, and what a message of a
chat is made of.

All of them speak in the role of user. What the user says is about the user, what others say about themselves. A day of
a chat, by the clock of the export, is a session; messages are numbered in it as they come, those that are not landed
counted with the others. So a longer export of the same chat gives the same numbers, even where it begins later.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

from em_pipelines.landing.formats.base import Fields, Remark, Source, iso_or_none, slug
from em_pipelines.landing.formats.local_clock import repeated_minutes
from em_pipelines.landing.records import MAX_ID_CHARACTERS
from em_pipelines.schema.vocabulary import USER

_MAX_NAMES_SHOWN = 8
_MAX_SLUG_CHARACTERS = 120


def named(said: str, names: Iterable[str]) -> frozenset[str]:
    """Which of the names is meant: those spelled so, else the only one that has all of its words; else none."""
    wanted, slugs = slug(said), {name: slug(name) for name in names}
    same = frozenset(name for name, own in slugs.items() if own == wanted)
    parts = set(wanted.split("-"))
    within = frozenset(name for name, own in slugs.items() if parts <= set(own.split("-")))
    return same or (within if len(within) == 1 else frozenset())


def user_among(names: Iterable[str], speakers: Iterable[str], source: Source) -> frozenset[str]:
    """Which of those who speak are the user, as the caller says: by name, else by user id or folder. Several are one
    person who has changed the name."""
    known = tuple(names)
    said = frozenset(name for speaker in speakers for name in named(speaker, known))
    for whose in (source.user_id, source.folder_user):
        if not said and whose:
            said = named(whose, known)
    return said


def question(what: str, counts: Mapping[str, int]) -> Remark:
    """What asks which of those who speak is the user. Until somebody says, the messages are nobody's."""
    most = Counter(counts).most_common(_MAX_NAMES_SHOWN)
    listed = ", ".join(f"{name} ({n})" for name, n in most)
    more = f" and {len(counts) - len(most)} more" if len(counts) > len(most) else ""
    return Remark(
        f"{what} was written by {listed}{more}, and nothing says who of them is the user: land it again with "
        "--speaker NAME",
        dict(counts),
    )


def without_zone(what: str) -> Remark:
    """What is said of times that were taken for UTC."""
    return Remark(
        f"{what} names no time zone: its times were taken for UTC; --time-zone names another, and has to when it lands "
        "first"
    )


def whose(users: Sequence[str], source: Source) -> str | None:
    """The user of a chat: the caller's word, the folder's, else the name. Nobody where it is not known who of those who
    speak is the user: the others' words would become the user's."""
    return (source.user_id or source.folder_user or slug(users[0])) if users else None


TURNS_A_MINUTE = 1000
"""More than anybody sends: ten people who type without a pause send a hundred."""
_ROOM_OF_LAST_MINUTE = 100
_SECOND_TURN = -1
"""Under which the numbers of an hour that comes again are counted, beside minutes of the day."""


@dataclass(slots=True)
class Chat:
    """One chat while it is read. `users` are the names under which the user writes, the first of them the one that
    counts; `platform` and `name` make the ids of its sessions."""

    platform: str
    name: str
    users: tuple[str, ...]
    is_group: bool
    others: tuple[str, ...] = ()
    _turns: Counter[tuple[str, int]] = field(default_factory=Counter)
    _present: dict[str, dict[str, None]] = field(default_factory=dict)

    def count(self, at: datetime | None) -> tuple[str, int]:
        """Counts one more entry at a time, landed or not: the session of its day and its number in there, a thousand
        numbers a minute. So an export that begins in the middle of a day gives a message the number that a longer one
        gives it."""
        session = f"{self.session_prefix}/{at.date().isoformat() if at else 'undated'}"
        if at and at.fold and isinstance(at.tzinfo, ZoneInfo):
            return session, self._number_of_second_turn(session, at, at.tzinfo)
        minute = at.hour * 60 + at.minute if at else 0
        turn, self._turns[session, minute] = self._turns[session, minute], self._turns[session, minute] + 1
        return session, minute * TURNS_A_MINUTE + turn

    def _number_of_second_turn(self, session: str, at: datetime, zone: ZoneInfo) -> int:
        """The number of an entry of the hour that comes twice, when it comes again: behind those of its first turn, and
        before what follows it, whose numbers are by the minute as on any day."""
        first, last = repeated_minutes(at, zone)
        room = (TURNS_A_MINUTE - _ROOM_OF_LAST_MINUTE) // (last - first + 1)
        place = _ROOM_OF_LAST_MINUTE + (at.hour * 60 + at.minute - first) * room
        turn = max(place, self._turns[session, _SECOND_TURN])
        self._turns[session, _SECOND_TURN] = turn + 1
        return last * TURNS_A_MINUTE + turn

    def message(
        self, place: tuple[str, int], speaker: str, content: str, at: datetime | None, subject: str | None = None
    ) -> Fields:
        """The fields of an entry at the place that `count` gave it. In a group, present are the user and who has spoken
        that day: who else reads along no export tells, and a longer one may not change what was said before."""
        session, turn = place
        is_user = speaker in self.users
        speaker = self.users[0] if is_user else speaker[:MAX_ID_CHARACTERS]
        present = self._present.setdefault(session, dict.fromkeys(self.users[:1]))
        present.setdefault(speaker)
        return {
            "session_id": session,
            "turn_number": turn,
            "role": "user",
            "content": content,
            "timestamp": iso_or_none(at),
            "speaker": speaker,
            "subject": subject or (USER if is_user else speaker),
            "channel": "group" if self.is_group else "text",
            "participants": [*present] if self.is_group else [*self.users[:1], *self.others],
            "source_format": self.platform,
        }

    @property
    def session_prefix(self) -> str:
        """What the ids of its sessions begin with."""
        return f"{self.platform}/{slug(self.name)[:_MAX_SLUG_CHARACTERS]}"
