"""What a landing did, in numbers that add up."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from em_pipelines.schema.table import Record


@dataclass(slots=True)
class Counts:
    """What has been taken so far; landed and duplicates are known only after a flush."""

    n_rows: int = 0
    n_landed: int = 0
    n_duplicates: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    remarks: dict[str, None] = field(default_factory=dict)
    n_erased: int = 0
    n_requests: int = 0
    holds_erased: bool = False
    days: set[date] = field(default_factory=set)
    n_read_otherwise: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class UserReport:
    """What has landed of one user: messages, conversations that they are of, and when the first and last was said (as
    landed, in UTC)."""

    n_messages: int
    n_conversations: int
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class FileReport:
    """What was read of one file: its name as in dead letters, its format, and how many rows it holds. `user_id` is
    whose it was taken to be because it lies in a folder of that name."""

    file: str
    format: str
    n_rows: int
    user_id: str | None = None


@dataclass(frozen=True, slots=True)
class LandingReport:
    """One landing: n_rows = n_landed + n_duplicates + n_refused + n_erased + n_requests.

    `n_dead_letters` counts by reason all that was refused, also what stood refused before; `n_new_dead_letters` of
    them are new, and `first_letters` are the first of each reason, as landed. `n_skipped` counts by name what means
    nothing here (summaries, hidden messages). `days` are the UTC days that got new records; `files` are those read,
    as named; `n_passed_over` counts by kind files that hold no messages (images, side files of exports); `users` is
    what has landed by user, `read` what was read by file, `n_nobodys` how many messages of which file were refused
    because nothing says whose they are, each file one dead letter; `speakers` who wrote how much in chats that do not
    say who of them is the user; `notes` are sentences for people. `n_untrusted`
    counts by format the conversations that something untrusted has landed in, `n_read_otherwise` the duplicates that
    stand as they were read first (trusted, untrusted, in a time zone) and were read otherwise now. `n_erased` is what
    was forgotten before and stays away, `n_requests` what asks for something to be forgotten; `holds_erased` says
    that the files hold what may not be kept, so that no copy of them may be. `n_landed_by_kind` counts by kind what
    has landed, of feedback by its type.
    """

    files: tuple[str, ...] = ()
    n_rows: int = 0
    n_landed: int = 0
    n_duplicates: int = 0
    n_skipped: Mapping[str, int] = field(default_factory=dict)
    n_dead_letters: Mapping[str, int] = field(default_factory=dict)
    n_new_dead_letters: int = 0
    n_erased: int = 0
    n_requests: int = 0
    holds_erased: bool = False
    days: frozenset[date] = frozenset()
    n_passed_over: Mapping[str, int] = field(default_factory=dict)
    users: Mapping[str, UserReport] = field(default_factory=dict)
    read: tuple[FileReport, ...] = ()
    n_nobodys: Mapping[str, int] = field(default_factory=dict)
    speakers: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    n_untrusted: Mapping[str, int] = field(default_factory=dict)
    first_letters: tuple[Record, ...] = ()
    n_read_otherwise: Mapping[str, int] = field(default_factory=dict)
    n_landed_by_kind: Mapping[str, int] = field(default_factory=dict)

    @property
    def n_refused(self) -> int:
        """Refused input of all reasons."""
        return sum(self.n_dead_letters.values())

    @property
    def n_ignored(self) -> int:
        """Input that means nothing here, of all kinds."""
        return sum(self.n_skipped.values())
