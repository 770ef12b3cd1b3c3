"""`em quarantine`: what was set aside so that the rest could be served, and giving it another try."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.cli.console import (
    HomeOption,
    JsonOption,
    end_if_unknown,
    open_existing,
    print_document,
    print_json,
    print_table,
    tell,
)

if TYPE_CHECKING:
    from em_pipelines.pipeline import Pipeline
    from em_pipelines.storage.quarantine import SetAside

app = typer.Typer(no_args_is_help=True, help="What was set aside so that the rest is served: list, show, release.")

UserOption = Annotated[str | None, typer.Option("--user", help="Of one user alone.", show_default=False)]


@app.command(name="list")
def list_entries(user: UserOption = None, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """List what is set aside: claims that break a rule, and days that could not be made for a user.

    Example: em quarantine list
    """
    opened = open_existing(home)
    documents = [
        _document(opened, entry) for entry in opened.store.quarantine.entries() if user in (None, entry.user_id)
    ]
    if as_json:
        print_json(documents)
    else:
        print_table(
            f"{len(documents)} in quarantine",
            ("id", "day", "user", "step", "what", "rule"),
            [(d["quarantine_id"], d["day"], d["user_id"], d["step"], d["what"], d["rule"]) for d in documents],
        )
    if user is not None and not documents:
        end_if_unknown(opened, user)


@app.command()
def show(
    entry_id: Annotated[str, typer.Argument(help="Id of an entry, or its beginning.")],
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one entry whole, with what was said.

    Example: em quarantine show quar_0a1b
    """
    opened = open_existing(home)
    (entry,) = _matching(opened, [entry_id])
    document = _document(opened, entry)
    print_document(document, as_json=as_json)


@app.command()
def release(
    ids: Annotated[list[str] | None, typer.Argument(help="Ids of entries, or their beginnings.")] = None,
    user: UserOption = None,
    is_all: Annotated[bool, typer.Option("--all", help="Everything that is set aside.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take entries out of quarantine, after a mend: `em run` makes their days with them again.

    What still breaks its rule then comes back. Nobody needs this after an update or late data: what was set aside is
    tried again whenever code, settings or what a day is made of have changed.

    Example: em quarantine release quar_0a1b
    """
    if bool(ids) + bool(user) + is_all != 1:
        raise UsageError("choosing entries: give their ids, or --user, or --all; see `em quarantine list`")
    opened = open_existing(home)
    entries = list(opened.store.quarantine.entries())
    chosen = _matching(opened, ids) if ids else [entry for entry in entries if is_all or entry.user_id == user]
    if user and not chosen:
        end_if_unknown(opened, user)
        raise UsageError(f"choosing entries: nothing of {user!r} is set aside; see `em quarantine list`")
    opened.release(chosen)
    if as_json:
        print_json({"released": [entry.quarantine_id for entry in chosen]})
        return
    tell(f"{len(chosen)} released; `em run` makes their days again")


def _document(home: "Pipeline", entry: "SetAside") -> dict[str, Any]:
    """An entry with what a reader wants to know of it. The words of a claim are those that the claims table keeps."""
    from em_pipelines.schema.tables.extraction import CLAIMS

    found = home.store.lake.find(CLAIMS, entry.day, "claim_id", [entry.claim_id]) if entry.claim_id else None
    claims = found.to_pylist() if found is not None else []
    what = "all of the day" if entry.claim_id is None else "a claim that is no more"
    for claim in claims:
        said = claim["object"] or claim["value"]
        what = f"{'not ' if claim['polarity'] < 0 else ''}{claim['subject']} {claim['relation']} {said}"
    return {
        "quarantine_id": entry.quarantine_id,
        "day": entry.day.isoformat(),
        "user_id": entry.user_id,
        "step": entry.step,
        "what": what,
        "rule": entry.rule,
        "reason": entry.reason,
        "claim_id": entry.claim_id,
        **{name: claim[name] for claim in claims for name in ("session_id", "turn_number")},
    }


def _matching(home: "Pipeline", ids: list[str]) -> "list[SetAside]":
    """The one entry that each beginning of an id names."""
    entries = list(home.store.quarantine.entries())
    chosen = []
    for prefix in ids:
        matching = [entry for entry in entries if entry.quarantine_id.startswith(prefix)]
        if len(matching) != 1:
            raise UsageError(
                f"choosing an entry: {len(matching)} of those set aside begin with {prefix!r}; see `em quarantine list`"
            )
        chosen += matching
    return chosen
