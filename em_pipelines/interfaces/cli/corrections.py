"""`em correct`, `confirm`, `retract`, `merge`, `split`: what people say is right, at once and for good."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.cli.console import (
    HomeOption,
    JsonOption,
    UserOption,
    end_if_unknown,
    open_existing,
    print_json,
    print_table,
    say,
    tell,
)
from em_pipelines.language.counting import counted
from em_pipelines.schema.vocabulary import USER, Status

if TYPE_CHECKING:
    from em_pipelines.governance.corrections import Corrections, Fact, Given

FactArgument = Annotated[str | None, typer.Argument(metavar="FACT", help="Id of a fact, or its beginning.")]
FactsArgument = Annotated[list[str] | None, typer.Argument(metavar="FACT…", help="Ids of facts, or their beginnings.")]
SubjectOption = Annotated[str, typer.Option("--subject", help="Whose fact; the user's own unless named.")]
RelationOption = Annotated[
    str | None, typer.Option("--relation", help="The fact by what it says, instead of an id.", show_default=False)
]
AttributeOption = Annotated[
    str | None, typer.Option("--attribute", help="The key, of has_attribute.", show_default=False)
]
ObjectOption = Annotated[str | None, typer.Option("--object", help="The object or value.", show_default=False)]


def correct(
    user: UserOption,
    object: Annotated[str, typer.Option("--object", "--to", help="What is right.")],
    fact: FactArgument = None,
    subject: SubjectOption = USER,
    relation: RelationOption = None,
    attribute: AttributeOption = None,
    was: Annotated[str | None, typer.Option("--was", help="What was wrong.", show_default=False)] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Put the right value in the place of a fact. Confidence 1.0, whatever is extracted anew from what was said before.

    Example: em correct --user mirela --relation lives_in --object Bremen
    """
    said = _corrections(home, user)
    named = _named(subject, relation, attribute, old_object=was)
    target = _target(said, fact, named)
    _show(said, lambda: said.correct(target, object), as_json)


def confirm(
    user: UserOption,
    fact: FactArgument = None,
    subject: SubjectOption = USER,
    relation: RelationOption = None,
    object: ObjectOption = None,
    attribute: AttributeOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say that a fact is right: confidence 1.0, and what contradicted it is settled.

    Example: em confirm --user mirela --relation lives_in --object Porto
    """
    said = _corrections(home, user)
    target = _target(said, fact, _named(subject, relation, attribute, object=object))
    _show(said, lambda: said.confirm(target), as_json)


def retract(
    user: UserOption,
    facts: FactsArgument = None,
    matching: Annotated[
        str | None, typer.Option("--matching", help="Every fact with these words, shown first.", show_default=False)
    ] = None,
    subject: SubjectOption = USER,
    relation: RelationOption = None,
    object: ObjectOption = None,
    attribute: AttributeOption = None,
    is_sure: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    is_dry: Annotated[bool, typer.Option("--dry-run", help="Show what would be taken back, and do nothing.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take facts back: they are no longer used, and what they had displaced holds again. Nothing is erased.

    Example: em retract --user mirela --matching choir --dry-run
    """
    said = _corrections(home, user)
    named = _named(subject, relation, attribute, object=object)
    targets = _targets(said, facts or [], named) if matching is None else _matching(said, user, matching)
    _show_targets(targets, is_dry=is_dry, as_json=as_json)
    if is_dry:
        return
    if matching is not None and not is_sure and sys.stdin.isatty():
        typer.confirm("Take these back?", abort=True)
    before = said.known()
    given = [said.retract(target) for target in targets]
    _tell(given)
    if as_json:
        print_json([_document(one) for one in given])
    else:
        _print(_changed(said, before, given), "Now")
        tell(f"{len(given)} taken back; `em confirm` brings a fact back")


def merge(
    user: UserOption,
    name: Annotated[str, typer.Argument(help="A name.")],
    into: Annotated[str, typer.Argument(help="The name by which both are read from now on.")],
    is_rename: Annotated[
        bool, typer.Option("--rename", help="The second name may be new: the first is renamed, and nobody is asked.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say that two names are one thing. `em split` undoes it.

    Where nothing known has the second name it asks at a terminal, and else wants --rename.

    Example: em merge --user ada "my boss" "Anna Kovacs"
    """
    said = _corrections(home, user)
    if not is_rename and sys.stdin.isatty() and said.is_rename(name, into):
        is_rename = typer.confirm(f"Nothing known is called {into!r:.80}. Rename {name!r:.80} to it?", err=True)
    _show(said, lambda: said.merge(name, into, rename=is_rename), as_json)


def split(
    user: UserOption,
    name: Annotated[str, typer.Argument(help="The name that is a thing of its own.")],
    other: Annotated[str | None, typer.Option("--from", help="Apart from this name alone.", show_default=False)] = None,
    into: Annotated[
        str | None, typer.Option("--into", help="A new name, for the facts given.", show_default=False)
    ] = None,
    facts: Annotated[
        list[str] | None, typer.Option("--fact", help="A fact that is about the new name.", show_default=False)
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say that a name is a thing of its own, or that some of its facts are about another thing. It stays so.

    Example: em split --user ada Tom --from "Tom Bexley"
    """
    said = _corrections(home, user)
    chosen = [said.fact(fact) for fact in facts or ()]
    _show(said, lambda: said.split(name, other, into=into, facts=chosen), as_json)


def _corrections(home: Path | None, user: str) -> "Corrections":
    from em_pipelines.governance.corrections import Corrections

    opened = open_existing(home)
    end_if_unknown(opened, user)
    return Corrections(opened, user)


def _named(subject: str, relation: str | None, attribute: str | None, **more: str | None) -> dict[str, Any]:
    return {"subject": subject, "relation": relation, "attribute": attribute, **more}


def _target(said: "Corrections", fact: str | None, named: dict[str, Any]) -> "Fact | dict[str, Any]":
    if fact is not None:
        return said.fact(fact)
    if named["relation"] is None:
        raise UsageError("naming a fact: give its id (see `em facts --user NAME`), or --relation and what it says")
    return named


def _targets(said: "Corrections", ids: list[str], named: dict[str, Any]) -> list[Any]:
    """The facts of these ids; the one that is named by what it says, where there are none."""
    return [said.fact(fact) for fact in ids] if ids else [_target(said, None, named)]


def _matching(said: "Corrections", user: str, words: str) -> list[Any]:
    from em_pipelines.governance.correction_effects import hint

    targets = said.matching(words)
    if not targets:
        raise UsageError(
            f"taking facts back: nothing that is known of {user} has the words {words!r}{hint(said.near(words))}"
        )
    return list(targets)


def _show_targets(targets: list[Any], *, is_dry: bool, as_json: bool) -> None:
    """Shows what is to be taken back, as far as it is known by id; as JSON in place of the answer alone."""
    shown = [target for target in targets if "edge_id" in target]
    if as_json and is_dry:
        print_json({"facts": shown})
    elif shown and not as_json:
        _print(shown, f"{counted(len(shown), 'fact')} to take back")


def _tell(given: "Sequence[Given]") -> None:
    """Says on stderr what the person should know of what was just noted."""
    for note in dict.fromkeys(note for one in given for note in one.notes):
        say(note)


def _show(said: "Corrections", give: "Callable[[], Given]", as_json: bool) -> None:
    """Gives feedback, and shows what it is about or has changed as it stands now."""
    before = said.known()
    given = give()
    _tell([given])
    now = _changed(said, before, [given])
    if as_json:
        print_json({**_document(given), "now": now})
        return
    _print(now, "Now")
    tell("Noted: readers see it at once, `em run` folds it in.")


def _changed(said: "Corrections", before: "Sequence[Fact]", given: "Sequence[Given]") -> "list[Fact]":
    """The facts that feedback is about or has changed, as they stand now: what is in force first."""
    was = {fact["edge_id"]: fact for fact in before}
    meant = {fact["edge_id"] for one in given for fact in one.facts}
    now = [fact for fact in said.known() if fact["edge_id"] in meant or was.get(fact["edge_id"]) != fact]
    return sorted(now, key=lambda fact: fact["status"] != Status.ACTIVE)


def _document(given: "Given") -> dict[str, Any]:
    return {"feedback_id": given.feedback_id, "facts": list(given.facts), "notes": list(given.notes)}


def _print(facts: "Sequence[Fact]", title: str) -> None:
    if not facts:
        return
    rows = [
        (f["subject"], f["relation"], f["object"], f["status"], f"{f['confidence']:.2f}", f["edge_id"]) for f in facts
    ]
    print_table(title, ("subject", "relation", "object", "status", "confidence", "fact"), rows, right=("confidence",))
