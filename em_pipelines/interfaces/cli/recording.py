"""Commands on the record itself: whether the ledger was edited, and mending a home."""

import re
from typing import TYPE_CHECKING, Annotated

import typer

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.cli.console import (
    Defaults,
    Exit,
    HomeOption,
    JsonOption,
    copyable,
    fail,
    open_existing,
    out,
    print_json,
    print_table,
)
from em_pipelines.language.counting import counted

if TYPE_CHECKING:
    from em_pipelines.governance.audit.repair import Repair
    from em_pipelines.storage.ledger import Problem

BY_HAND = "none: by hand"


def verify_ledger(
    expected: Annotated[
        str | None,
        typer.Option("--expect", metavar="HASH", help="A last hash that was kept elsewhere.", show_default=False),
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Look for any edit of the ledger of what people did: changed, removed, swapped, inserted or cut off entries.

    It is also held against what the newest snapshot and the certificates of erasures know of it, and with --expect
    against a hash that it printed once.

    Example: em verify-ledger
    """
    from em_pipelines.governance.audit.ledger_witnesses import ledger_problems
    from em_pipelines.storage.ledger import Problem

    _check_hash(expected)
    opened = open_existing(home)
    problems = ledger_problems(opened)
    if expected is not None and opened.ledger.place_of(expected) is None:
        problems.append(
            Problem(None, "it never ended with the expected hash: entries were removed, or it is another ledger")
        )
    entries = [] if problems else opened.ledger.entries()
    last = entries[-1].hash if entries else None
    if as_json:
        found = [{"line": problem.line, "found": problem.found} for problem in problems]
        print_json({"is_sound": not problems, "n_entries": len(entries), "last_hash": last, "problems": found})
    elif not problems:
        out().print(
            f"{counted(len(entries), 'entry')}, nothing shows an edit; last hash {last or 'none'}", soft_wrap=True
        )
    if problems:
        first = problems[0]
        fail(
            f"verifying the ledger: {_where(first)}: {first.found}; find out who edited {opened.record}, and restore "
            "it from a backup",
            Exit.FINDING,
        )


def _where(problem: "Problem") -> str:
    return f"line {problem.line}" if problem.line else "the head"


def _check_hash(expected: str | None) -> None:
    from em_pipelines.errors import UsageError

    if expected is not None and not re.fullmatch("[0-9a-f]{64}", expected):
        raise UsageError("--expect: found no hash; give 64 hex digits in small letters, as `em verify-ledger` prints")


def repair(
    is_applied: Annotated[bool, typer.Option("--apply", help="Do it. Without, it is only proposed.")] = False,
    is_loss_accepted: Annotated[
        bool, typer.Option("--accept-loss", help="With --apply: go on without what the landed log has lost.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Propose how to mend a home, and with --apply do it: what is damaged is made again from the log.

    Example: em repair --apply
    """
    from em_pipelines.governance.audit.repair import Repair, accept, propose
    from em_pipelines.governance.audit.repair import apply as apply_plan

    opened = open_existing(home)
    if is_loss_accepted and not is_applied:
        raise UsageError("repairing: --accept-loss says what --apply may do; give both, or neither to look")
    n_lost = accept(opened) if is_loss_accepted else 0
    plan = propose(opened, Defaults.reset_runs)
    done = apply_plan(opened, plan, Defaults.reset_runs) if is_applied and plan.mends else Repair(left=[*plan.mends])
    if n_lost:
        done.done.insert(0, f"accepted the loss of {counted(n_lost, 'part')} of the landed log")
    if as_json:
        left = [{"subject": m.subject, "found": m.found, "mend": copyable(m.mend) or None} for m in done.left]
        print_json({"is_applied": is_applied, "done": done.done, "left": left})
    else:
        _show(done)
    if done.left:
        first = done.left[0]
        what = "is left" if is_applied else "would be mended with --apply" if first.mend else "has to be mended by hand"
        fail(f"repairing: {counted(len(done.left), 'finding')}; {first.subject}: {first.found}, {what}", Exit.FINDING)


def _show(repair: "Repair") -> None:
    for line in repair.done:
        out().print(line, soft_wrap=True)
    if not repair.left:
        out().print("Nothing is left to mend.")
        return
    rows = [(m.subject, m.found, copyable(m.mend) or BY_HAND) for m in repair.left]
    print_table("Repair", ("subject", "found", "mend"), rows)
