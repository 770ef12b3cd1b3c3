"""What a command asks before it answers: whether the home is there, and whether anybody is called so.

An empty answer for a typing error looks like forgetting, so it is never the whole answer: a home or a user that is none
ends with a finding, and with the nearest name there is.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from em_pipelines.interfaces.cli.console import Defaults, Exit, fail, open_home

if TYPE_CHECKING:
    from em_pipelines.pipeline import Pipeline


def open_existing(home: Path | None, **overrides: Any) -> "Pipeline":
    """The home, as `open_home` finds it; ends the command with a finding where there is none."""
    opened = open_home(home, **overrides)
    if not opened.path.exists():
        fail(_no_home(opened.path, is_named=bool(home or Defaults.home)), Exit.FINDING)
    return opened


def _no_home(path: Path, *, is_named: bool) -> str:
    from em_pipelines.text.near_names import near

    beside = [one.name for one in path.absolute().parent.glob("*") if _is_home(one)]
    found = near(path.name, beside) if is_named else []
    meant = f"did you mean {str(path.parent / found[0])!r}? " if found else ""
    return f"opening the home: {path} does not exist; {meant}`em run PATH --home {path}` makes one"


def _is_home(path: Path) -> bool:
    return any((path / part).is_dir() for part in ("log", "lake", "record"))


def end_if_unknown(home: "Pipeline", user_id: str) -> None:
    """Ends the command with a finding where nobody is called so; nobody who was forgotten is named.

    Asked before work for one user, and after an answer that is empty.
    """
    from em_pipelines.serving.users import is_known, names
    from em_pipelines.text.near_names import hint

    if is_known(home.store, user_id) or _was_forgotten(home, user_id):
        return
    meant = hint(user_id, names(home.store)) or "`em users` lists who is remembered"
    fail(f"nobody called {user_id!r:.80} is remembered in {home.path}; {meant}", Exit.FINDING)


def end_if_unread(home: "Pipeline", user_id: str, doing: str) -> None:
    """For who has found nothing of a user: ends with a finding where nobody is called so; raises NotMadeError where
    what they said waits for a run."""
    from em_pipelines.serving.facts import check_made

    check_made(home.store, user_id, doing)
    end_if_unknown(home, user_id)


def _was_forgotten(home: "Pipeline", user_id: str) -> bool:
    """Whether all of a user was erased: an empty answer is right then, and no typing error."""
    from em_pipelines.storage.tombstones import USER

    return home.tombstones.covers(USER, user_id, said_at="")
