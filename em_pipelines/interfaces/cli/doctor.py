"""`em doctor`: whether a home is sound, what is wrong with it and what to do."""

from em_pipelines.interfaces.cli.console import (
    Exit,
    HomeOption,
    JsonOption,
    copyable,
    fail,
    open_home,
    print_json,
    print_table,
)
from em_pipelines.language.counting import counted


def doctor(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Look for whatever is wrong with a home and say what to do about it. Changes nothing.

    Example: em doctor
    """
    from em_pipelines.governance.audit.soundness import diagnose

    found = diagnose(open_home(home))
    if as_json:
        print_json(
            [{"subject": d.subject, "ok": d.is_well, "found": d.found, "advice": copyable(d.advice)} for d in found]
        )
    else:
        print_table(
            "Doctor",
            ("", "looked at", "found", "what to do"),
            [("ok" if d.is_well else "!!", d.subject, d.found, copyable(d.advice)) for d in found],
        )
    ill = [d for d in found if not d.is_well]
    if ill:
        then = f"; {ill[0].advice}" if ill[0].advice else ""
        fail(f"{counted(len(ill), 'finding')}, first {ill[0].subject}: {ill[0].found}{then}", Exit.FINDING)
