"""What people decided about names: which are one thing, and which are not."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Decision:
    """A merge or a split of one user's names, in the order in which people made them.

    A merge says that `names` are one thing, read by the last of them. A split says that the first of `names` is a
    thing of its own: apart from the second, or, given alone, from everything it was one with. Names are as worded.
    """

    is_merge: bool
    user_id: str
    names: tuple[str, ...]
    timestamp: datetime
    feedback_id: str
    session_id: str
    correlation_id: str
