"""`em pool`: what recurs is given to others and taken from them, where that is switched on."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from em_pipelines.interfaces.cli.console import (
    Exit,
    HomeOption,
    JsonOption,
    UserOption,
    end_if_unknown,
    fail,
    open_existing,
    print_json,
    print_table,
    tell,
)
from em_pipelines.language.counting import counted

if TYPE_CHECKING:
    from em_pipelines.lifecycle.pool.books import SharedEntry
    from em_pipelines.lifecycle.pool.contributing import Exported
    from em_pipelines.lifecycle.pool.entry import Refused
    from em_pipelines.lifecycle.pool.receiving import Received
    from em_pipelines.pipeline import Pipeline

app = typer.Typer(
    no_args_is_help=True,
    help="What recurs, given to others and taken from them: export, import, fetch, list, withdraw.",
)
DomainOption = Annotated[
    str | None, typer.Option("--domain", help="Of one domain alone: coding, data, …", show_default=False)
]


@app.command()
def export(
    is_dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be given; write nothing.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give the pool what recurs for the users who agreed (pool.contributors), and take back what memory says no more.

    Example: em pool export --dry-run
    """
    from em_pipelines.lifecycle.pool.contributing import export as export_all

    opened = open_existing(home)
    done = export_all(opened, is_dry_run=is_dry_run)
    if as_json:
        print_json(_exported(done, is_dry_run=is_dry_run))
        return
    given = [(user, _told(one), one.domain, one.count) for user, made in done.offers.items() for one in made.given]
    title = f"{counted(len(given), 'contribution')}{' would be given' if is_dry_run else ''}"
    print_table(title, ("user", "what is told", "domain", "times"), given)
    kept = [(user, one.what, one.reason) for user, made in done.offers.items() for one in made.kept]
    print_table(f"{len(kept)} kept back", ("user", "experience", "why"), kept)
    if not opened.settings.pool.contributors:
        tell("Nobody has agreed: name users in pool.contributors of em.yaml.")
    if not is_dry_run:
        tell(f"{done.n_new} new in the pool, {done.n_withdrawn} withdrawn{_waiting(done.n_waiting)}")


@app.command(name="import")
def import_(
    folder: Annotated[str, typer.Argument(help="A pool: its folder, or an fsspec URL.")],
    user: UserOption,
    domain: DomainOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take in what another pool than the home's own holds, for one user.

    Example: em pool import ../team-pool --user mirela --domain coding
    """
    _receive(home, user, domain, folder, as_json=as_json)


@app.command()
def fetch(user: UserOption, domain: DomainOption = None, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Take in what the home's pool holds now, for one user; what it holds no more goes.

    It stands at 0.30, and nobody is told of it before the user's own data says the same.

    Example: em pool fetch --user mirela --domain coding
    """
    _receive(home, user, domain, None, as_json=as_json)


@app.command(name="list")
def list_entries(
    user: Annotated[str | None, typer.Option("--user", help="Of one user alone.", show_default=False)] = None,
    domain: DomainOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what was taken from pools, and with --user what that user has given.

    Example: em pool list --user mirela
    """
    from em_pipelines.lifecycle.pool.contributing import folder_of, given_by
    from em_pipelines.lifecycle.pool.receiving import check_domain

    opened = open_existing(home)
    folder_of(opened)
    check_domain(domain)
    taken = opened.pool_book.taken(user, domain)
    given = given_by(opened, user) if user else []
    if as_json:
        print_json({"taken": [_entry(one) for one in taken], "given": given})
        return
    _print_lists(taken, given if user else None)
    if user and not taken and not given:
        end_if_unknown(opened, user)


def _print_lists(taken: "list[SharedEntry]", given: list[str] | None) -> None:
    rows = [(one.user_id, one.entry_id, _told(one), one.domain, one.count, one.n_contributors) for one in taken]
    columns = ("user", "id", "what is told", "domain", "times", "contributors")
    print_table(f"{len(rows)} taken from pools", columns, rows, right=("contributors",))
    if given is not None:
        print_table(f"{len(given)} given", ("id",), [(one,) for one in given])


@app.command()
def withdraw(
    user: UserOption,
    entries: Annotated[list[str] | None, typer.Argument(help="Ids of entries; without any all of the user's.")] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take back what a user has given; what others gave to the same entries stays.

    The next export gives it again, unless the user is taken out of pool.contributors first.

    Example: em pool withdraw --user mirela
    """
    from em_pipelines.lifecycle.pool.contributing import withdraw as take_back

    opened = open_existing(home)
    n_withdrawn, n_waiting = take_back(opened, user, entries or ())
    if not n_withdrawn:
        end_if_unknown(opened, user)
    if as_json:
        print_json({"withdrawn": n_withdrawn, "waiting": n_waiting})
        return
    tell(f"{n_withdrawn} withdrawn{_waiting(n_waiting)}")


def _receive(home: Any, user: str, domain: str | None, folder: str | None, *, as_json: bool) -> None:
    from em_pipelines.lifecycle.pool.receiving import receive

    opened = open_existing(home)
    end_if_unknown(opened, user)
    got = receive(opened, user, datetime.now(UTC).date(), folder=folder, domain=domain)
    if as_json:
        print_json(_received(got))
    else:
        _show(opened, got)
    if got.refused:
        first = got.refused[0]
        fail(
            f"{counted(len(got.refused), 'file')} of the pool left out, first {first.what}: {first.reason}",
            Exit.FINDING,
        )


def _show(opened: "Pipeline", got: "Received") -> None:
    rows = [(one.entry_id, _told(one), one.domain, one.count, one.n_contributors) for one in got.entries]
    columns = ("id", "what is told", "domain", "times", "contributors")
    print_table(counted(len(rows), "entry"), columns, rows, right=("contributors",))
    sure = f"{opened.settings.pool.confidence:.2f}"
    tell(f"{got.n_new} new, {got.n_gone} gone; each stands at {sure} until the user's own data says the same")


def _told(one: Any) -> str:
    """What an entry says, in few words."""
    helped = f" (then {one.mitigation})" if one.mitigation else ""
    if one.kind == "procedure":
        return f"{one.category}: worked"
    return f"{one.component}: {one.category}{f': {one.trigger}' if one.trigger else ''}{helped}"


def _waiting(n: int) -> str:
    return (
        f"; {counted(n, 'withdrawal')} wait{'s' * (n == 1)} for a pool that cannot be reached: see `em doctor`"
        if n
        else ""
    )


def _entry(one: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(one)


def _kept(some: "tuple[Refused, ...]") -> list[dict[str, str]]:
    return [{"what": one.what, "reason": one.reason} for one in some]


def _exported(done: "Exported", *, is_dry_run: bool) -> dict[str, Any]:
    users = {
        user: {"given": [one.model_dump() for one in made.given], "kept": _kept(made.kept)}
        for user, made in done.offers.items()
    }
    return {"is_dry_run": is_dry_run, "users": users, "new": done.n_new, "withdrawn": done.n_withdrawn,
            "waiting": done.n_waiting}  # fmt: skip


def _received(got: "Received") -> dict[str, Any]:
    return {
        "entries": [_entry(one) for one in got.entries], "refused": _kept(got.refused), "new": got.n_new,
        "gone": got.n_gone,
    }  # fmt: skip
