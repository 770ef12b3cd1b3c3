"""Commands that read memory and change nothing: facts, infer, state-hash, settings."""

from datetime import UTC, date, datetime
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.cli.console import (
    HomeOption,
    JsonOption,
    UserOption,
    check_read,
    end_if_unknown,
    open_existing,
    open_home,
    print_json,
    print_table,
    say,
    write,
)
from em_pipelines.interfaces.cli.narrowing import note_unknown_names
from em_pipelines.language.counting import counted

if TYPE_CHECKING:
    from em_pipelines.pipeline import Pipeline
    from em_pipelines.serving.facts import FactQuery

AsOfOption = Annotated[
    str | None, typer.Option("--as-of", metavar="YYYY-MM-DD", help="The end of this day.", show_default=False)
]
DomainOption = Annotated[
    str | None, typer.Option("--domain", help="Nothing said in another domain is told.", show_default=False)
]


def parse_day(text: str | None, option: str) -> date | None:
    """A day given as an option; raises UsageError where it is none."""
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"reading {option}: found {text!r}; give a day as YYYY-MM-DD, like 2026-10-31") from error


def note_ahead(home: "Pipeline", day: date | None, option: str = "--as-of") -> None:
    """Says on stderr what an answer of a day that is still to come is. A clock behind the log makes no day one."""
    from em_pipelines.schema.tables.graph import EDGES

    newest = max(datetime.now(UTC).date(), home.store.lake.latest(EDGES, date.max) or date.min)
    if day is not None and day > newest:
        say(f"{option} {day} is still to come: told is what is known today, faded as it will have by then")


def facts(
    user: UserOption,
    as_of: AsOfOption = None,
    known_at: Annotated[
        str | None,
        typer.Option("--known-at", metavar="YYYY-MM-DD", help="As known at the end of this day.", show_default=False),
    ] = None,
    entity: Annotated[
        str | None, typer.Option("--entity", help="Only facts with this name.", show_default=False)
    ] = None,
    is_all: Annotated[bool, typer.Option("--all", help="Every status, not active and contradicted alone.")] = False,
    is_inferred: Annotated[bool, typer.Option("--inferred", help="What follows from these facts, too.")] = False,
    is_old: Annotated[
        bool, typer.Option("--old", help="With --json: what may be out of date, too; without it is shown anyway.")
    ] = False,
    is_observed: Annotated[
        bool, typer.Option("--observations", help="What was said that is worth keeping, sentence by sentence, instead.")
    ] = False,
    domain: DomainOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what is known of a user: active facts with effective confidence, best first, and what the person stated long
    ago, marked as old.

    Example: em facts --user mirela --as-of 2026-10-12
    """
    from em_pipelines.interfaces.agents.asking import told_facts
    from em_pipelines.serving.facts import FactQuery, KeptAs

    if is_inferred:
        _check_inferred(domain, is_observed=is_observed)
    opened = open_existing(home)
    query = FactQuery(
        user_id=user,
        as_of=parse_day(as_of, "--as-of") or datetime.now(UTC).date(),
        known_at=parse_day(known_at, "--known-at"),
        entity=entity,
        is_all=is_all,
        has_old=is_old or not as_json,
        kept_as=KeptAs.OBSERVATIONS if is_observed else KeptAs.FACTS,
    )
    note_ahead(opened, query.as_of)
    note_ahead(opened, query.known_at, "--known-at")
    found = told_facts(opened, query, query.known_at or query.as_of, domain)
    inferred = _inferred(opened, query.as_of, user, query.known_at, entity) if is_inferred else []
    if not found:
        check_read(opened, user)
    if as_json:
        print_json([*found, *inferred])
    else:
        kind = query.kept_as.removesuffix("s")
        _show(found, f"{counted(len(found), kind)} of {user} at the end of {query.as_of}")
        if is_inferred:
            _print_inferred(f"{len(inferred)} more {'follows' if len(inferred) == 1 else 'follow'} from them", inferred)
    _note_faded(opened, query, is_list=as_json)
    if not found:
        end_if_unknown(opened, user)
        note_unknown_names(opened, user, entities=[entity] if entity else [], domain=domain)


def _check_inferred(domain: str | None, *, is_observed: bool) -> None:
    """Raises UsageError where what follows cannot be told beside the rest."""
    if is_observed:
        raise UsageError("reading facts: nothing follows from observations; leave out --inferred or --observations")
    if domain is not None:
        raise UsageError("reading facts: what follows is of all domains; leave out --inferred or --domain")


def _note_faded(home: "Pipeline", query: "FactQuery", *, is_list: bool) -> None:
    """Says on stderr how many facts time has taken, where all of a user are asked for; beside a list for programs only
    where old ones are not in it."""
    if query.kept_as != "facts" or query.is_all or query.entity or query.known_at or (is_list and query.has_old):
        return
    line = faded_line(home, query.user_id, query.as_of, is_old_alone=is_list)
    if line:
        say(line)


def faded_line(
    home: "Pipeline", user: str | None = None, as_of: date | None = None, *, is_old_alone: bool = False
) -> str | None:
    """How many facts time has taken by a day (today), of one user or of all, and how to see them; None of none, or with
    `is_old_alone` where none of them is old."""
    from em_pipelines.serving.faded import faded, sentence

    day = as_of or datetime.now(UTC).date()
    found = faded(home.store, day, home.settings.decay, None if user is None else [user])
    told = sentence(sum(one.n_old for one in found), sum(one.n_gone for one in found))
    if is_old_alone and not any(one.n_old for one in found):
        return None
    return told and f"{told}, by {day}; `em facts --user {quote(user) if user else 'NAME'} --all` lists them"


def _show(found: list[dict[str, Any]], title: str) -> None:
    from em_pipelines.retrieval.documents import says_more

    print_table(
        title,
        ("subject", "relation", "object", "in words", "confidence", "status", "since", "until", "edge"),
        [
            (
                f["subject"], f["relation"] if f["polarity"] > 0 else f"not {f['relation']}", f["object"],
                says_more(f) or "", f"{f['confidence']:.2f}", _status(f), f["valid_from"], f["valid_to"], f["edge_id"],
            )
            for f in found
        ],
        right=("confidence",),
    )  # fmt: skip


def _status(fact: dict[str, Any]) -> str:
    if not fact["is_old"]:
        return str(fact["status"])
    return f"old, of {fact['last_reinforced'][:10]}: may be out of date"


def infer(
    user: Annotated[
        str | None, typer.Option("--user", help="Whose memory; everybody's if left out.", show_default=False)
    ] = None,
    as_of: AsOfOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what follows from what is known, with the rule and its premises, best first.

    Nothing is written and no model is asked: what one proposed in a run is shown as far as its premises still stand.

    Example: em infer --user mirela
    """
    day = parse_day(as_of, "--as-of") or datetime.now(UTC).date()
    opened = open_existing(home)
    note_ahead(opened, day)
    found = _inferred(opened, day, user)
    if as_json:
        print_json(found)
    else:
        title = f"{counted(len(found), 'fact')} {'follows' if len(found) == 1 else 'follow'} at the end of {day}"
        _print_inferred(title, found, has_user=user is None)
    if user is not None and not found:
        end_if_unknown(opened, user)


def _inferred(
    home: "Pipeline", as_of: date, user: str | None, known_at: date | None = None, entity: str | None = None
) -> list[dict[str, Any]]:
    from em_pipelines.lifecycle.inference.inferred_facts import InferenceQuery, inferred_facts

    query = InferenceQuery(as_of, user, known_at, entity)
    return inferred_facts(home.store, query, home.settings.inference, home.settings.decay)


def _print_inferred(title: str, found: list[dict[str, Any]], *, has_user: bool = False) -> None:
    columns = ("user", "subject", "relation", "object", "confidence", "rule", "because", "edge")[not has_user :]
    rows = [
        (f["user_id"], f["subject"], f["relation"], f["object"], f"{f['confidence']:.2f}", f["rule"],
         "; ".join(f["because"]), f["edge_id"])[not has_user :]
        for f in found
    ]  # fmt: skip
    print_table(title, columns, rows, right=("confidence",))


def state_hash(as_of: AsOfOption = None, home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Print SHA-256 of the content of each table and of all: equal for equal memory, whatever the route.

    Example: em state-hash --json
    """
    from em_pipelines.serving.state_hash import state_hash as hash_state

    opened = open_existing(home)
    day = parse_day(as_of, "--as-of")
    note_ahead(opened, day)
    hashes = hash_state(opened.store, opened.settings.decay, day, inference=opened.settings.inference)
    if as_json:
        print_json(hashes)
        return
    for name, value in hashes.items():
        write(f"{value}  {name}\n")


def settings(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """List every setting with its value, its variable and its meaning.

    Example: EM_DECAY__CURVE=exponential em settings
    """
    from em_pipelines.schema.described_settings import described

    rows = list(described(open_home(home).settings))
    if as_json:
        print_json({name: value for name, value, _ in rows})
        return
    print_table(
        "Settings: em.yaml or a variable, the variable wins",
        ("field", "value", "variable", "meaning"),
        [(name, value, "EM_" + name.upper().replace(".", "__"), meaning) for name, value, meaning in rows],
    )
