"""`em probes`, `em starters` and `em why-probe`: what memory would like to ask or to say, when, and why not now."""

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Annotated, Any
from zoneinfo import ZoneInfo

import typer

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.cli.console import (
    Exit,
    HomeOption,
    JsonOption,
    UserOption,
    end_if_unknown,
    fail,
    open_existing,
    out,
    print_json,
    print_table,
    tell,
)
from em_pipelines.language.counting import counted

if TYPE_CHECKING:
    from em_pipelines.interfaces.agents.probes import Asks, Kind
    from em_pipelines.pipeline import Pipeline

ContextOption = Annotated[
    str | None, typer.Option("--context", help="What the conversation is about; any if left out.", show_default=False)
]
MOST_DAYS = 366
ANY = 20
"""Of what may be said now no more is looked for: the limits end it long before."""


def probes(
    user: UserOption,
    context: ContextOption = None,
    is_preview: Annotated[bool, typer.Option("--preview", help="Show what would be asked in the days ahead.")] = False,
    days: Annotated[int, typer.Option("--days", min=1, max=MOST_DAYS, help="Of a preview.")] = 14,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what memory would ask somebody now, with why and what they gain; and of the rest, why not now.

    Nothing is noted: looking is not asking. A preview is a calendar of the days ahead, for somebody who talks in every
    hour and answers nothing.

    Example: em probes --user mirela --preview --days 14
    """
    opened = open_existing(home)
    end_if_unknown(opened, user)
    if is_preview:
        _preview(opened, user, context, days, as_json=as_json)
        return
    _show(opened, "probes", user, context, as_json=as_json)


def starters(
    user: UserOption, context: ContextOption = None, home: HomeOption = None, as_json: JsonOption = False
) -> None:
    """Show with what memory would open a conversation now; and of the rest, why not now. Nothing is noted.

    Example: em starters --user mirela
    """
    opened = open_existing(home)
    end_if_unknown(opened, user)
    _show(opened, "starters", user, context, as_json=as_json)


def why_probe(
    wanted: Annotated[str, typer.Argument(metavar="ID", help="Id of a probe or a starter, or the beginning of one.")],
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show why memory would ask or say something: the gap, the facts it rests on, what was decided and what came of it.

    Example: em why-probe prb_0a1b2c3d
    """
    from em_pipelines.lifecycle.proactive.explained import explained

    if not wanted.strip():
        raise UsageError("explaining a probe: no id given; `em probes --user NAME` lists the ids there are")
    opened = open_existing(home)
    found = explained(opened, wanted.strip(), datetime.now(UTC))
    if found is None:
        fail(
            f"explaining {wanted:.80}: nothing that waits has that id; what was answered, corrected or forgotten is "
            "gone. `em probes --user NAME` and `em starters --user NAME` list the ids there are",
            Exit.FINDING,
        )
    if as_json:
        print_json(found)
        return
    _explain(found)


def _show(home: "Pipeline", kind: "Kind", user: str, context: str | None, *, as_json: bool) -> None:
    from em_pipelines.interfaces.agents.probes import asks
    from em_pipelines.lifecycle.proactive.delivery import Situation
    from em_pipelines.lifecycle.proactive.offering import time_zone_of

    found = asks(home, kind, user, Situation(datetime.now(UTC), context=context), ANY, is_noted=False)
    if as_json:
        kept_back = [{"id": one.target, "why_not": one.why_not, "until": one.until} for one in found.kept_back]
        print_json({kind: found.rows, "kept_back": kept_back, "reason": found.why_none, "until": found.until})
        return
    key = f"{kind[:-1]}_id"
    what = "may be asked" if kind == "probes" else "may be said"
    rows: list[tuple[Any, ...]] = [
        (row[key], row["kind"], row["text"], row.get("benefit") or _occasion(row), f"{row['value']:.2f}")
        for row in found.rows
    ]
    if rows:
        fourth = "gains" if kind == "probes" else "day"
        print_table(f"{counted(len(rows), kind[:-1])} {what} now", ("id", "kind", "text", fourth, "value"), rows,
                    right=("value",))  # fmt: skip
    else:
        tell(f"Nothing {what} now: {_reason(found)}.")
    if found.kept_back:
        zone = ZoneInfo(time_zone_of(home, user))
        kept: list[tuple[Any, ...]] = [
            (one.target, found.waiting[one.target]["text"], one.why_not, _when(one.until, zone))
            for one in found.kept_back
        ]
        print_table(f"{len(kept)} not now", ("id", "text", "why not", "until"), kept)


def _occasion(row: dict[str, Any]) -> str:
    return str(row.get("occasion_on") or "")


def _reason(found: "Asks") -> str:
    return str(found.why_none).replace("_", " ")


def _when(at: datetime | None, zone: ZoneInfo) -> str:
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M}" if at else ""


def _preview(home: "Pipeline", user: str, context: str | None, n_days: int, *, as_json: bool) -> None:
    from em_pipelines.lifecycle.proactive.delivery import Situation
    from em_pipelines.lifecycle.proactive.offering import OPEN, history, situation_of
    from em_pipelines.lifecycle.proactive.preview import preview
    from em_pipelines.retrieval.tellable_asks import may_be_told
    from em_pipelines.schema.table import rows_of
    from em_pipelines.schema.tables.outgoing import PROBES

    now = datetime.now(UTC)
    situation = situation_of(home, user, Situation(now, context=context))
    day = home.store.lake.latest(PROBES, date.max)
    is_told = may_be_told(home, user, PROBES, None)
    rows = rows_of(home.store.lake.find(PROBES, day, "user_id", [user])) if day else ()
    waiting = [row for row in rows if row["status"] in OPEN and is_told(row)]
    found = preview(waiting, situation, history(home, user, now), home.settings.proactive, n_days)
    zone = ZoneInfo(situation.time_zone)
    if as_json:
        asked = [
            {"at": one.at.astimezone(zone), **{name: one.row[name] for name in ("probe_id", "kind", "text", "benefit")}}
            for one in found
        ]
        print_json({"time_zone": situation.time_zone, "days": n_days, "waiting": len(waiting), "calendar": asked})
        return
    if not found:
        tell(f"Nothing would be asked of {user} within {counted(n_days, 'day')}; "
             f"{counted(len(waiting), 'question')} waiting.")  # fmt: skip
        return
    calendar: list[tuple[Any, ...]] = [
        (f"{one.at.astimezone(zone):%a %Y-%m-%d}", f"{one.at.astimezone(zone):%H:%M}", one.row["text"],
         one.row["benefit"], one.row["probe_id"])
        for one in found
    ]  # fmt: skip
    print_table(
        f"what would be asked within {counted(n_days, 'day')} ({situation.time_zone}), at the earliest",
        ("day", "from", "text", "gains", "id"),
        calendar,
    )


def _explain(found: dict[str, Any]) -> None:
    row = found["row"]
    lines = [f"{found['id']}  {row['kind']}, {row['status']}", f"  {row['text']}"]
    lines += [f"  {name}: {row[name]}" for name in ("gap", "benefit", "occasion_on") if row.get(name)]
    lines.append(f"  worth {row['value']:.2f}, since {row['generated_at']:%Y-%m-%d %H:%M} UTC, "
                 f"until {row['expires_at']:%Y-%m-%d %H:%M} UTC")  # fmt: skip
    lines.append(f"  where it fits: {', '.join(row['context_tags']) or 'anywhere'}")
    lines.append(f"  came of: `em trace {row['correlation_id']}`")
    lines += [f"  rests on: {one['fact']} (`em why {one['edge_id']}`)" for one in found["facts"]]
    lines.append("what was decided:")
    lines += [f"  {one['at']:%Y-%m-%d %H:%M} UTC  {one['said']}" for one in found["decisions"]] or ["  nothing yet"]
    lines.append("what came of it:")
    lines += [f"  {one['at']:%Y-%m-%d %H:%M} UTC  {one['said']}" for one in found["outcomes"]] or ["  nothing yet"]
    for line in lines:
        out().print(line, markup=False, highlight=False)
