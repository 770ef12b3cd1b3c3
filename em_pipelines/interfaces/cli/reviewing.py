"""`em review`: imported facts and experiences that wait, letting them count, turning them away."""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

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
from em_pipelines.language.counting import WAS, counted

if TYPE_CHECKING:
    from em_pipelines.governance.review import Decided, Review, Wanted
    from em_pipelines.landing.imported_facts import Waiting
    from em_pipelines.lifecycle.consolidation.reviewed import Looked
    from em_pipelines.pipeline import Pipeline

EXPERIENCE = "experience"
"""The kind of what waits and was not imported."""
app = typer.Typer(
    no_args_is_help=True, help="Imported facts and experiences that wait to be looked at: list, accept, reject."
)

IdsArgument = Annotated[list[str] | None, typer.Argument(metavar="ID…", help="Ids, or their beginnings.")]
UserOption = Annotated[str | None, typer.Option("--user", help="Of one user alone.", show_default=False)]
FileOption = Annotated[str | None, typer.Option("--file", help="Of one imported file alone.", show_default=False)]
KindOption = Annotated[
    str | None,
    typer.Option("--kind", metavar="contacts|calendar|notes|experience", help="Of one kind alone.", show_default=False),
]
AllOption = Annotated[bool, typer.Option("--all", help="Everything that waits.")]


@app.command(name="list")
def list_waiting(
    user: UserOption = None,
    file: FileOption = None,
    kind: KindOption = None,
    rejected: Annotated[bool, typer.Option("--rejected", help="What was turned away instead.")] = False,
    quarantined: Annotated[
        bool, typer.Option("--quarantined", help="What the safety gates keep from becoming an experience, and why.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """List imported facts and experiences that wait: what each says, the file and line of a fact, and why an experience
    waits.

    Example: em review list --user mirela
    """
    opened = open_existing(home)
    if quarantined:
        _list_stopped(opened, user, as_json=as_json)
        return
    wanted = _wanted(user, file, kind)
    found = review_of(opened).waiting(wanted, is_rejected=rejected) if kind != EXPERIENCE else []
    experiences = _experiences(opened, wanted, is_rejected=rejected)
    if user is not None and not (found or experiences):
        end_if_unknown(opened, user)
    if as_json:
        print_json([*(item.as_document() for item in found), *(one.as_document() for one in experiences)])
        return
    _print_waiting(found, experiences, "turned away" if rejected else "waiting")


def _print_waiting(found: "list[Waiting]", experiences: "list[Looked]", how: str) -> None:
    facts = [(item.seed_id, item.user_id, item.said, item.source_kind, item.file, item.line) for item in found]
    known = [(one.experience_id, one.user_id, _told(one), EXPERIENCE, "", "") for one in experiences]
    headings = ("id", "user", "fact", "kind", "file", "line")
    print_table(f"{len(facts) + len(known)} {how}", headings, [*facts, *known], right=("line",))


def _told(one: "Looked") -> str:
    words = f"; accepting it by its id adds these words of the output: “{one.excerpt}”" if one.excerpt else ""
    return f"{one.said} ({one.reason}{words})"


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
    """Let imported facts and experiences count: readers see them at once, and the next run folds facts in. One that was
    turned away counts after all where it is named by its id.

    Example: em review accept --user mirela --file contacts.vcf
    """
    _decide(open_existing(home), _chosen(ids, user, file, kind, is_all), kind, "accepted", as_json=as_json)


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
    """Turn imported facts away, for good: importing them again does not bring them back. An experience, also one that
    counts, is turned away until what happens next speaks for it again.

    Example: em review reject seed_0a1b2c3d
    """
    _decide(open_existing(home), _chosen(ids, user, file, kind, is_all), kind, "rejected", as_json=as_json)


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


def waiting_experiences_line(home: "Pipeline") -> str | None:
    """How many experiences wait, in a sentence; None where none does."""
    from em_pipelines.lifecycle.consolidation.reviewed import waiting

    n_waiting = sum(not one.is_served for one in waiting(home))
    if not n_waiting:
        return None
    waits = counted(n_waiting, "experience", ("waits", "wait"))
    return f"{waits} to be looked at; see `em review list --kind experience`"


def _experiences(home: "Pipeline", wanted: "Wanted", *, is_rejected: bool = False) -> "list[Looked]":
    """The experiences that wait (or were turned away) and are meant; of a file or a kind of import none is."""
    from em_pipelines.lifecycle.consolidation.reviewed import waiting

    if wanted.file is not None or wanted.source_kind is not None:
        return []
    return waiting(home, wanted.user_id, is_rejected=is_rejected)


def _list_stopped(home: "Pipeline", user: str | None, *, as_json: bool) -> None:
    from em_pipelines.lifecycle.consolidation.reviewed import stopped

    found = stopped(home, user)
    if user is not None and not found:
        end_if_unknown(home, user)
    if as_json:
        print_json(found)
        return
    columns = ("experience_id", "user_id", "kind", "gate", "reason", "n_occurrences")
    rows = [tuple(row[name] for name in columns) for row in found]
    print_table(f"{len(found)} stopped", ("id", "user", "kind", "gate", "reason", "times"), rows, right=("times",))


def _decide(home: "Pipeline", wanted: "Wanted", kind: str | None, how: str, *, as_json: bool) -> None:
    """Decides upon imported facts and experiences alike; where an id is none, upon nothing."""
    from em_pipelines.governance.review import Decided
    from em_pipelines.lifecycle.consolidation.reviewed import PREFIX

    review, is_accepted = review_of(home), how == "accepted"
    named = [one for one in wanted.ids if one.startswith(PREFIX)]
    of_facts = replace(wanted, ids=tuple(one for one in wanted.ids if one not in named))
    has_facts = kind != EXPERIENCE and bool(of_facts.ids or not wanted.ids)
    chosen = (review.choose_to_accept if is_accepted else review.choose)(of_facts) if has_facts else []
    waiting = [one.experience_id for one in _experiences(home, wanted) if not one.is_served]
    experiences = _decide_upon(home, wanted, named if wanted.ids else waiting, is_accepted=is_accepted)
    decided = (review.accept if is_accepted else review.reject)(chosen) if chosen else Decided(())
    _show(decided, experiences, how, as_json)


def _decide_upon(home: "Pipeline", wanted: "Wanted", ids: list[str], *, is_accepted: bool) -> "list[dict[str, Any]]":
    """The experiences that were decided upon, with what is served of them made anew. Words of tools' outputs are let in
    with what was named alone: nobody has read them all."""
    if not ids:
        return []
    from em_pipelines.interfaces.cli.consolidating import serve_anew
    from em_pipelines.lifecycle.consolidation.night import decide
    from em_pipelines.lifecycle.consolidation.nights import Said

    said, now = Said.ACCEPT if is_accepted else Said.REJECT, datetime.now(UTC)
    rows = decide(home, ids, said, now, user_id=wanted.user_id, lets_words_in=bool(wanted.ids))
    serve_anew(home)
    return [
        {
            "experience_id": row["experience_id"],
            "user_id": row["user_id"],
            "kind": EXPERIENCE,
            "about": row["component"],
        }
        for row in rows
    ]


def _wanted(user: str | None, file: str | None, kind: str | None, ids: list[str] | None = None) -> "Wanted":
    from em_pipelines.governance.review import Wanted

    return Wanted(user, file, None if kind == EXPERIENCE else kind, tuple(ids or ()))


def _chosen(ids: list[str] | None, user: str | None, file: str | None, kind: str | None, is_all: bool) -> "Wanted":
    if not (ids or user or file or kind or is_all):
        raise UsageError("choosing what waits: give ids, --user, --file, --kind or --all; see `em review list`")
    return _wanted(user, file, kind, ids)


def _show(decided: "Decided", experiences: "list[dict[str, Any]]", how: str, as_json: bool) -> None:
    if as_json:
        facts = [item.as_document() for item in decided.decided]
        print_json({how: [*facts, *experiences], "withheld": [i.seed_id for i in decided.withheld]})
        return
    then = "; `em run` folds them in" if decided.decided and how == "accepted" else ""
    if experiences:
        of_them = f", {counted(len(experiences), 'experience')} among them" if decided.decided else ""
        tell(f"{len(decided.decided) + len(experiences)} {how}{of_them}{then}")
    else:
        tell(f"{len(decided.decided)} {how}{then}")
    if decided.withheld:
        say(f"{len(decided.withheld)} are kept away by the safety guard and wait still; see docs/seeds.md")
