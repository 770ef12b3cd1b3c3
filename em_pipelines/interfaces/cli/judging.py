"""`em judge`: which facts to judge, what somebody says of one, and what that comes to."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.cli.console import (
    HomeOption,
    JsonOption,
    end_if_unknown,
    open_existing,
    out,
    print_json,
    print_table,
    tell,
)
from em_pipelines.language.counting import counted

if TYPE_CHECKING:
    from em_pipelines.governance.confidence_curve import Share
    from em_pipelines.governance.judging import Report
    from em_pipelines.pipeline import Pipeline

NEXT, REPORT = "next", "report"


def judge(
    wanted: Annotated[
        str | None,
        typer.Argument(metavar="[next|report|ID]", help="next, report, or the id of a fact or the beginning of one."),
    ] = None,
    verdict: Annotated[
        str | None, typer.Argument(metavar="[right|wrong|trivial]", help="What you say of that fact.")
    ] = None,
    user: Annotated[str | None, typer.Option("--user", help="Whose memory.", show_default=False)] = None,
    by: Annotated[str, typer.Option("--by", help="Who judges; kept as a hash.")] = "user",
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many facts to list.")] = 20,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Judge facts: list those to judge next, say of one that it is right, wrong or trivial, or see what that comes to.

    Example: em judge --user mirela
    """
    opened = open_existing(home)
    if wanted == REPORT:
        _report(opened, user, as_json=as_json)
    elif wanted in (None, NEXT):
        _list(opened, user, 1 if wanted else limit, as_json=as_json)
    else:
        _judge(opened, str(wanted), verdict, by, as_json=as_json)


def _list(home: "Pipeline", user: str | None, limit: int, *, as_json: bool) -> None:
    from em_pipelines.governance.judging import queue

    if user is None:
        raise UsageError("judging: nobody is named; say whose facts with --user NAME")
    end_if_unknown(home, user)
    found = queue(home, user, limit)
    if as_json:
        print_json([one.as_document() for one in found])
        return
    rows = [(one.edge_id, one.said, f"{one.confidence:.2f}", "sample" if one.is_sampled else "unsure") for one in found]
    print_table(
        f"{counted(len(rows), 'fact')} to judge", ("id", "fact", "confidence", "why"), rows, right=("confidence",)
    )
    if found:
        tell(f"`em judge {found[0].edge_id} right` says so of the first; wrong and trivial are the other words.")


def _judge(home: "Pipeline", wanted: str, verdict: str | None, by: str, *, as_json: bool) -> None:
    from em_pipelines.governance.judging import Verdict
    from em_pipelines.governance.judging import judge as note

    if verdict is None or verdict not in [*Verdict]:
        found = "no verdict is given" if verdict is None else f"{verdict!r:.40} is no verdict"
        raise UsageError(f"judging {wanted:.80}: {found}; say {', '.join(Verdict)}")
    said = note(home, wanted, Verdict(verdict), datetime.now(UTC), by)
    if as_json:
        print_json({"edge_id": said.edge_id, "verdict": said.verdict, "confidence": said.confidence})
    else:
        tell(f"{said.edge_id} is {said.verdict}.")


def _report(home: "Pipeline", user: str | None, *, as_json: bool) -> None:
    from em_pipelines.governance.judging import report

    if user is not None:
        end_if_unknown(home, user)
    found = report(home, user)
    if as_json:
        print_json(found.as_document())
    elif not found.n_judged:
        tell("nothing judged yet; `em judge --user NAME` lists what to judge")
    else:
        _show(found)


def _show(found: "Report") -> None:
    from em_pipelines.governance.confidence_curve import Share

    figures = ("judged", "right", "low", "high")
    shares = [
        ("sample", found.precision), ("sample: trivial", found.trivial), ("all", found.right),
        *found.by_relation.items(),
    ]  # fmt: skip
    print_table("Judged facts", ("of", *figures), [(name, *_cells(share)) for name, share in shares], right=figures)
    bands = [
        (f"{one.low:.1f} to {one.high:.1f}", *_cells(Share(one.n, round(one.n * one.right_share))))
        for one in found.bands
    ]
    print_table("By confidence", ("confidence", *figures), bands, right=figures)
    out().print(
        f"calibration error  {found.error:.3f}, by {counted(found.n_judges, 'judge')}", markup=False, soft_wrap=True
    )


def _cells(share: "Share") -> tuple[object, ...]:
    low, high = share.interval
    return share.n, f"{share.share:.2f}", f"{low:.2f}", f"{high:.2f}"
