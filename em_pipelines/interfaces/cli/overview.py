"""`em users` and `em status`: who is remembered, what is here, how fresh it is and what waits."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from em_pipelines.interfaces.cli.console import (
    Exit,
    HomeOption,
    JsonOption,
    copyable,
    end_if_unknown,
    fail,
    open_existing,
    out,
    print_json,
    print_table,
)
from em_pipelines.language.counting import counted

if TYPE_CHECKING:
    from em_pipelines.governance.audit.status import Status
    from em_pipelines.serving.users import Remembered, Stage

KILO = 1000
N_NAMED = 8
FIGURES = ("n_messages", "n_sessions", "first_day", "last_day", "n_facts", "n_waiting")
OneUserOption = Annotated[str | None, typer.Option("--user", help="Of one user alone.", show_default=False)]


def users(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """List who is remembered: messages, conversations, first and last day, facts, and messages that wait for a run.

    Facts are those that stood at the end of the newest day. While a run is at work, or after one that broke off,
    all that is as it was published before.

    Example: em users
    """
    from em_pipelines.governance.audit.status import remembered

    found = remembered(open_existing(home))
    if as_json:
        print_json([asdict(one) for one in found])
        return
    print_table(
        counted(len(found), "user"),
        ("user", "messages", "conversations", "first day", "last day", "facts", "waiting"),
        [(one.user_id, *_figures(one)) for one in found],
        right=("messages", "conversations", "facts", "waiting"),
    )


def status(user: OneUserOption = None, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Tell what is here, how fresh it is, what waits, and what to do next.

    What cannot be read is named, and the rest told all the same. Snapshot, index packs, days out of date and size are
    of the whole home, with --user, too.

    Example: em status --user mirela
    """
    from em_pipelines.governance.audit.status import status as look
    from em_pipelines.interfaces.cli.facts import faded_line

    opened = open_existing(home)
    if user is not None:
        end_if_unknown(opened, user)
    found = look(opened, user)
    if as_json:
        print_json(_document(found))
    else:
        for name, told in _lines(found):
            out().print(f"{name:12}  {told}", markup=False, soft_wrap=True)
        if found.users and not found.problems and (line := faded_line(opened, user)):
            out().print(f"{'faded':12}  {line}", markup=False, soft_wrap=True)
    if found.problems:
        more = f", and {len(found.problems) - 1} more" if found.problems[1:] else ""
        fail(f"{found.problems[0]}{more}", Exit.FINDING)


def _figures(one: "Remembered") -> tuple[object, ...]:
    return tuple(getattr(one, name) for name in FIGURES)


def _document(found: "Status") -> dict[str, Any]:
    days, shot = found.days, found.snapshot
    unread = found.users is None
    return {
        "home": str(found.home),
        "user": found.user,
        "users": _rows(found.users),
        "n_users": None if found.users is None else len(found.users),
        "n_messages": None if unread else found.n_messages,
        "n_unread_messages": None if unread else found.n_landed,
        "first_day": days and days[0].isoformat(),
        "last_day": days and days[1].isoformat(),
        "n_facts": None if unread else found.n_facts,
        "stages": _rows(found.stages),
        "snapshot": shot
        and {"as_of": shot.as_of.isoformat(), "published_at": shot.published_at.isoformat(timespec="seconds"),
             "age_seconds": _age_seconds(shot.published_at), "is_current": shot.is_current},
        "n_packs": found.n_packs,
        "n_probes": found.n_probes,
        "n_starters": found.n_starters,
        "n_dead_letters": found.n_dead_letters,
        "n_quarantined": found.n_quarantined,
        "n_pending_feedback": found.n_pending_feedback,
        "n_outdated_days": found.n_outdated_days,
        "n_waiting_for_model": found.n_waiting_for_model,
        "model_problems": found.model_problems,
        "n_imported_to_review": found.n_to_review,
        "n_requests_to_forget": found.n_requests,
        "is_at_work": found.is_at_work,
        "has_run_broken_off": found.has_run_broken_off,
        "has_landing_broken_off": found.has_landing_broken_off,
        "n_bytes": found.n_bytes,
        "problems": found.problems,
        "next_step": copyable(found.next_step),
    }  # fmt: skip


def _rows(found: "Sequence[Remembered | Stage] | None") -> list[dict[str, Any]] | None:
    return None if found is None else [asdict(one) for one in found]


def _lines(found: "Status") -> Iterator[tuple[str, str]]:
    """What people read: a line for each thing that is there, waits, or cannot be read."""
    yield "home", f"{found.home} ({_size(found.n_bytes or 0)})"
    yield from _under_way(found)
    if found.users is None:
        yield "users", "cannot be read"
    else:
        yield "users", _who(found)
        days = found.days
        span = f", {days[0]} to {days[1]}" if days else ""
        yield "messages", f"{counted(found.n_messages, 'message')}{span}"
        yield "facts", counted(found.n_facts, "fact")
    yield from _stages(found)
    yield "snapshot", _snapshot(found)
    yield "packs", _told(found.n_packs, "index pack")
    yield "to ask", f"{_told(found.n_probes, 'question')}, {_told(found.n_starters, 'opening')}"
    yield from _waiting(found)
    yield "next", copyable(found.next_step)


def _stages(found: "Status") -> Iterator[tuple[str, str]]:
    """How far memory has come with each; of many how many are how far."""
    told = found.stages or []
    if len(told) > N_NAMED:
        counts = Counter(one.stage for one in told)
        yield "stages", ", ".join(f"{n} {_words(stage)}" for stage, n in counts.most_common())
        return
    for n, one in enumerate(told):
        more = f"; until {_words(one.next_stage)}: {one.still_needed}" if one.next_stage else ""
        yield "" if n else "stages", f"{one.user_id}: {_words(one.stage)}{more}"


def _words(stage: str) -> str:
    return stage.replace("_", " ")


def _under_way(found: "Status") -> Iterator[tuple[str, str]]:
    if found.is_at_work:
        yield "run", "at work; figures are of what was published before"
    if found.has_run_broken_off:
        yield (
            "run",
            "broke off (interrupted, or failed); figures are of what was published before, the next run makes the rest",
        )
    if found.has_landing_broken_off:
        yield (
            "landing",
            "broke off (interrupted, or failed); what has landed is kept, the same files given again land the rest",
        )


def _waiting(found: "Status") -> Iterator[tuple[str, str]]:
    counts = (
        (found.n_landed, "message", "landed, no run has read them"),
        (found.n_outdated_days, "day", "out of date"),
        (found.n_pending_feedback, "correction or other feedback", "said since the last run"),
        (found.n_requests, "request", "to forget, the next run carries them out"),
        (found.n_dead_letters, "dead letter", "not landed"),
        (found.n_quarantined, "entry", "in quarantine"),
        (found.n_to_review, "imported fact", "for you to review"),
    )
    waits = [f"{_noun(n, noun)} ({what})" for n, noun, what in counts if n]
    languages = found.n_waiting_for_model or {}
    waits += [f"{counted(n, 'message')} for a model ({language})" for language, n in sorted(languages.items())]
    yield "waiting", "; ".join(waits) or "nothing"
    if found.model_problems:
        yield "model", found.model_problems[0]


def _noun(n: int, noun: str) -> str:
    return f"{counted(n, 'piece')} of feedback" if "feedback" in noun else counted(n, noun)


def _told(n: int | None, noun: str) -> str:
    return "cannot be read" if n is None else counted(n, noun)


def _who(found: "Status") -> str:
    names = [one.user_id for one in found.users or ()]
    return f"{len(names)}: {', '.join(names)}" if 0 < len(names) <= N_NAMED else f"{len(names)}"


def _snapshot(found: "Status") -> str:
    shot = found.snapshot
    if shot is None:
        return "cannot be read" if found.problems else "none"
    age = _age_seconds(shot.published_at)
    return f"of {shot.as_of}, written {_ago(age)}, {'current' if shot.is_current else 'older than the facts'}"


def _age_seconds(then: datetime) -> int:
    return max(0, int((datetime.now(UTC) - then).total_seconds()))


def _ago(seconds: int) -> str:
    for size, noun in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{counted(seconds // size, noun)} ago"
    return "just now"


def _size(n_bytes: int) -> str:
    amount, unit = float(n_bytes), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if amount < KILO:
            break
        amount, unit = amount / KILO, larger
    return f"{amount:.0f} {unit}" if unit in ("B", "kB") else f"{amount:.1f} {unit}"
