"""`em doctor`: whether a home is sound, what is wrong with it and what to do."""

from dataclasses import dataclass

from em_pipelines.commands.console import Exit, HomeOption, JsonOption, fail, open_home, print_json, print_table
from em_pipelines.errors import EmError
from em_pipelines.home import Home
from em_pipelines.landing.dead_letters import open_letters
from em_pipelines.serving.snapshot import is_current


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing looked at: how it is, and what to do where it is not well."""

    subject: str
    is_well: bool
    found: str
    advice: str = ""


def doctor(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Look for whatever is wrong with a home and say what to do about it. Changes nothing.

    Example: em doctor
    """
    found = diagnose(open_home(home))
    if as_json:
        print_json([{"subject": d.subject, "ok": d.is_well, "found": d.found, "advice": d.advice} for d in found])
    else:
        print_table(
            "Doctor",
            ("", "looked at", "found", "what to do"),
            [("ok" if d.is_well else "!!", d.subject, d.found, d.advice) for d in found],
        )
    ill = [d for d in found if not d.is_well]
    if ill:
        fail(f"{len(ill)} findings, first {ill[0].subject}: {ill[0].found}", Exit.FINDING)


def diagnose(home: Home) -> list[Diagnosis]:
    """Looks at the home: its log, partitions, days out of date, dead letters, snapshot and left-over files."""
    if not home.path.exists():
        return [Diagnosis("home", False, f"{home.path} does not exist", "land something: em run PATH")]
    return [_log(home), *_partitions(home), _dead_letters(home), _left_overs(home)]


def _log(home: Home) -> Diagnosis:
    n_records = n_days = 0
    try:
        for step in home.steps.values():
            if step.log_kind:
                for day in home.store.log.days(step.log_kind):
                    n_days += 1
                    n_records += sum(1 for _ in home.store.log.read(step.log_kind, day))
    except ValueError as error:
        return Diagnosis("landed log", False, f"a segment cannot be read: {error}", "restore HOME/log from a backup")
    return Diagnosis("landed log", True, f"{n_records} records in {n_days} days and kinds")


def _partitions(home: Home) -> list[Diagnosis]:
    """Reads every partition whole: a damaged one is found, wherever the damage is."""
    n_files, broken = 0, []
    for step in (*home.steps.values(), home.inference):
        for table in step.outputs:
            for day in home.store.lake.days(table):
                n_files += 1
                try:
                    home.store.lake.read(table, day)
                except EmError as error:
                    broken.append(str(error))
    if broken:
        return [Diagnosis("partitions", False, f"{len(broken)} damaged: {broken[0]}", "delete the file, then em run")]
    stale = {step.name: len(days) for step in home.steps.values() if (days := home.store.stale_days(step))}
    return [
        Diagnosis("partitions", True, f"{n_files} files are whole"),
        Diagnosis("days", not stale, f"out of date: {stale}" if stale else "all current", "em run" if stale else ""),
        _snapshot(home),
    ]


def _snapshot(home: Home) -> Diagnosis:
    if not home.is_inferred:
        return Diagnosis("snapshot", False, "inferred edges are older than the facts", "em run")
    if is_current(home.store, home.snapshots):
        return Diagnosis("snapshot", True, "current")
    return Diagnosis("snapshot", False, "missing or older than the facts", "em snapshot")


def _dead_letters(home: Home) -> Diagnosis:
    n_open = len(open_letters(home.store.log))
    return Diagnosis("dead letters", not n_open, f"{n_open} open", "em dead-letters list" if n_open else "")


def _left_overs(home: Home) -> Diagnosis:
    left = sorted(home.path.rglob(".*.tmp"))
    return Diagnosis(
        "left-over files",
        not left,
        f"{len(left)} temporary files of runs that were killed" if left else "none",
        f"delete them, like {left[0]}" if left else "",
    )
