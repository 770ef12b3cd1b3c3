"""What a landing did, in numbers that add up."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date


@dataclass(frozen=True, slots=True)
class LandingReport:
    """One landing: n_rows = n_landed + n_duplicates + n_refused + n_erased + n_requests.

    `n_dead_letters` counts by reason all that was refused, also what stood refused before; `n_new_dead_letters` of
    them are new. `n_skipped` counts by name what means nothing here (summaries, hidden messages). `days` are the UTC
    days that got new records; `files` are those read, as named; `n_passed_over` counts by kind files that hold no
    messages (images, side files of exports); `notes` are sentences for people. `n_erased` is what was forgotten before
    and stays away, `n_requests` what asks for something to be forgotten; `holds_erased` says that the files hold what
    may not be kept, so that no copy of them may be.
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
    notes: tuple[str, ...] = ()

    @property
    def n_refused(self) -> int:
        """Refused input of all reasons."""
        return sum(self.n_dead_letters.values())

    @property
    def n_ignored(self) -> int:
        """Input that means nothing here, of all kinds."""
        return sum(self.n_skipped.values())
