"""What a page is asked, by whom, and what it answers. Pages know nothing of HTTP."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

from em_pipelines.errors import PermanentError, UsageError
from em_pipelines.governance.token_scope import TokenScope
from em_pipelines.interfaces.memory import Memory
from em_pipelines.pipeline import Pipeline

FIRST_YEAR = 1000


class NotAllowedError(PermanentError):
    """Somebody asks for what their token does not open."""


class TooLongError(PermanentError):
    """A form that is longer than any of ours."""


class NotThereError(PermanentError):
    """What is asked for is not there, or not this person's."""


class NobodyError(NotThereError):
    """Nobody is remembered under the name."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who looks. Without a `user_id` it is who runs the home, on the machine itself."""

    user_id: str | None
    scope: TokenScope

    def check(self, needed: TokenScope, user_id: str | None) -> None:
        """Raises NotAllowedError for what is another's, or goes further than the token."""
        if self.user_id is not None and user_id != self.user_id:
            whose = f"the memory of {self.user_id}" if user_id is None else f"one user, and not {user_id!r:.80}"
            raise NotAllowedError(f"this token opens {whose} alone")
        if self.scope < needed:
            raise NotAllowedError(f"this token may {self.scope.label}; for that it takes one that may {needed.label}")


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: the home, who looks, and what is in the address (`args`) or was sent by a form (`form`)."""

    home: Pipeline
    visitor: Visitor
    args: Mapping[str, str]
    form: Mapping[str, str] = field(default_factory=dict)

    @property
    def user(self) -> str:
        """Whose memory it is about; raises UsageError where nobody is named."""
        user_id = self.form.get("user") or self.args.get("user") or self.visitor.user_id
        if not user_id:
            raise UsageError("opening a page: it is about one person, and none is named; choose one")
        return user_id

    @property
    def memory(self) -> Memory:
        """That person's memory, as the person speaks."""
        return Memory(self.home, self.user, actor="user", origin="ui")

    @property
    def today(self) -> date:
        """Today by UTC."""
        return datetime.now(UTC).date()

    def text(self, name: str) -> str:
        """A field of the form or the address, without spaces around it; empty where there is none."""
        return (self.form.get(name) or self.args.get(name) or "").strip()

    def day(self, name: str) -> date | None:
        """A field that holds a day; raises UsageError where it holds something else."""
        said = self.text(name)
        try:
            found = date.fromisoformat(said) if said else None
        except ValueError as error:
            raise UsageError(f"reading {name}: {said!r:.40} is no day; give YYYY-MM-DD") from error
        if found is not None and not FIRST_YEAR < found.year < date.max.year:  # days beside it are counted with
            raise UsageError(f"reading {name}: {said} is too far away; give a day of people's lives")
        return found

    def number(self, name: str, default: float, low: float, high: float) -> float:
        """A field that holds a number, kept within bounds; raises UsageError where it holds something else."""
        said = self.text(name)
        try:
            found = float(said) if said else default
        except ValueError as error:
            raise UsageError(f"reading {name}: {said!r:.40} is no number") from error
        return min(high, max(low, found)) if found == found else default  # noqa: PLR0124  (NaN is no bound)


@dataclass(frozen=True, slots=True)
class Page:
    """What is rendered: a template's name, and what it is given."""

    template: str
    shown: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Done:
    """Something was done: where to look now, and what is said there."""

    path: str
    args: Mapping[str, str]
    said: str
