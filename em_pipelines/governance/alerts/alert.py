"""What an alert is: a rule that was broken, how bad it is, and what to do, in words that quote nobody."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad it is."""

    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        """Higher where it is worse."""
        return [*Severity].index(self)


@dataclass(frozen=True, slots=True)
class Alert:
    """What somebody should look at. `text` is what was found and `todo` what to do, a plain sentence each, without a
    word of any user; `about` tells alerts of one rule apart that may stand at once."""

    rule: str
    severity: Severity
    title: str
    text: str
    todo: str
    about: str = ""

    @property
    def key(self) -> str:
        """What makes two alerts the same one."""
        return f"{self.rule}: {self.about}" if self.about else self.rule


@dataclass(frozen=True, slots=True)
class Look:
    """What was found at one look. Of the rules in `asked` what was not found has ended; of all others nobody knows.
    `problems` are sentences on rules that could not be asked."""

    found: tuple[Alert, ...] = ()
    asked: frozenset[str] = frozenset()
    problems: tuple[str, ...] = ()
