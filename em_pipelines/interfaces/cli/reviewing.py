"""`em review`: imported facts that wait, letting them count, turning them away."""

from collections import Counter
from dataclasses import dataclass
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
    say,
    tell,
)
from em_pipelines.text.counting import WAS, counted

if TYPE_CHECKING:
    from em_pipelines.governance.review import Decided, Review, Wanted
    from em_pipelines.pipeline import Pipeline

app = typer.Typer(no_args_is_help=True, help="Imported facts that wait to be looked at: list, accept, reject.")

IdsArgument = Annotated[list[str] | None, typer.Argument(metavar="ID…", help="Ids of facts, or their beginnings.")]
UserOption = Annotated[str | None, typer.Option("--user", help="Of one user alone.", show_default=False)]
FileOption = Annotated[str | None, typer.Option("--file", help="Of one imported file alone.", show_default=False)]
KindOption = Annotated[
    str | None,
    typer.Option("--kind", metavar="contacts|calendar|notes", help="Of one kind of import.", show_default=False),
]
AllOption = Annotated[bool, typer.Option("--all", help="Everything that waits.")]


@app.command(name="list")
def list_waiting(
    user: UserOption = None,
    file: FileOption = None,
    kind: KindOption = None,
    rejected: Annotated[bool, typer.Option("--rejected", help="What was turned away instead.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """List imported facts that wait: what each says, and the file and line that it stands in.

    Example: em review list --user mirela
    """
    opened = open_existing(home)
    found = review_of(opened).waiting(_wanted(user, file, kind), is_rejected=rejected)
    if user is not None and not found:
        end_if_unknown(opened, user)
    if as_json:
        print_json([item.as_document() for item in found])
        return
    how = "turned away" if rejected else "waiting"
    rows = [(item.seed_id, item.user_id, item.said, item.source_kind, item.file, item.line) for item in found]
    print_table(f"{len(found)} {how}", ("id", "user", "fact", "kind", "file", "line"), rows, right=("line",))


@app.command()
def accept(
    ids: IdsArgument = None,
    user: UserOption = None,
    file: FileOption = None,
    kind: KindOption = None,
    is_all: AllOption = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let imported facts count: readers see them at once, and the next run folds them in. One that was turned away
    counts after all where it is named by its id.

    Example: em review accept --user mirela --file contacts.vcf
    """
    opened = open_existing(home)
    wanted = _chosen(ids, user, file, kind, is_all)
    review = review_of(opened)
    _show(review.accept(review.choose_to_accept(wanted)), "accepted", as_json)


@app.command()
def reject(
    ids: IdsArgument = None,
    user: UserOption = None,
    file: FileOption = None,
    kind: KindOption = None,
    is_all: AllOption = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Turn imported facts away, for good: importing them again does not bring them back.

    Example: em review reject seed_0a1b2c3d
    """
    review = review_of(open_existing(home))
    _show(review.reject(review.choose(_chosen(ids, user, file, kind, is_all))), "rejected", as_json)


def review_of(home: "Pipeline") -> "Review":
    """The review of a home, with its settings."""
    from em_pipelines.governance.review import Review

    return Review(home, home.settings.safety, home.settings.review.trusted_kinds)


@dataclass(frozen=True, slots=True)
class Settled:
    """How many imported facts were accepted unseen, and the line that tells how many wait; None where none does."""

    n_accepted: int
    n_waiting: int
    line: str | None

    def as_document(self) -> dict[str, object]:
        """The figures as JSON-able dict."""
        return {"n_accepted": self.n_accepted, "n_waiting": self.n_waiting}

    def show(self) -> None:
        """Prints what there is to say."""
        if self.n_accepted:
            out().print(f"{counted(self.n_accepted, 'imported fact', WAS)} accepted")
        if self.line:
            tell(self.line)


def settle(home: "Pipeline", files: list[str], user_id: str | None) -> Settled:
    """Accepts what the settings trust, and all that these files hold."""
    review = review_of(home)
    decided = review.settle(files, user_id)
    line = waiting_line(home)
    return Settled(len(decided.decided), len(review.waiting()) if line else 0, line)


def waiting_line(home: "Pipeline") -> str | None:
    """How much waits, in a sentence; None where nothing does."""
    waiting = review_of(home).waiting()
    if not waiting:
        return None
    users = Counter(item.user_id for item in waiting)
    of_whom = ", ".join(f"{n} of {user}" for user, n in sorted(users.items())[:5])
    facts = "fact waits" if len(waiting) == 1 else "facts wait"
    return f"{len(waiting)} imported {facts} to be looked at ({of_whom}); see `em review list`"


def _wanted(user: str | None, file: str | None, kind: str | None, ids: list[str] | None = None) -> "Wanted":
    from em_pipelines.governance.review import Wanted

    return Wanted(user, file, kind, tuple(ids or ()))


def _chosen(ids: list[str] | None, user: str | None, file: str | None, kind: str | None, is_all: bool) -> "Wanted":
    if not (ids or user or file or kind or is_all):
        raise UsageError(
            "choosing imported facts: give their ids, --user, --file, --kind or --all; see `em review list`"
        )
    return _wanted(user, file, kind, ids)


def _show(decided: "Decided", how: str, as_json: bool) -> None:
    if as_json:
        print_json(
            {how: [item.as_document() for item in decided.decided], "withheld": [i.seed_id for i in decided.withheld]}
        )
        return
    tell(
        f"{len(decided.decided)} {how}" + ("; `em run` folds them in" if decided.decided and how == "accepted" else "")
    )
    if decided.withheld:
        say(f"{len(decided.withheld)} are kept away by the safety guard and wait still; see docs/seeds.md")
