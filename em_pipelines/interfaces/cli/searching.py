"""`em search`: what was said and what is known, by a question; one, or a file of them."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import orjson
import typer

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.cli.console import (
    HomeOption,
    JsonOption,
    UserOption,
    check_read,
    end_if_unknown,
    open_existing,
    out,
    print_json,
    print_table,
)
from em_pipelines.interfaces.cli.facts import AsOfOption, note_ahead, parse_day
from em_pipelines.interfaces.cli.narrowing import check_relations, note_unknown_names
from em_pipelines.language.counting import counted

if TYPE_CHECKING:
    from em_pipelines.pipeline import Pipeline
    from em_pipelines.retrieval.documents import Hit
    from em_pipelines.retrieval.search import Search

SHOWN_CHARACTERS = 90
BRIEF = ("kind", "session_id", "turn_number", "edge_id", "text", "score")
"""What a file of hits says of each; of an experience also its id."""


class Kind(StrEnum):
    """What `--kind` takes."""

    MESSAGE = "message"
    FACT = "fact"
    EXPERIENCE = "experience"
    OBSERVATION = "observation"


QueryArgument = Annotated[str | None, typer.Argument(help="What to look for.", show_default=False)]
HitsOption = Annotated[int | None, typer.Option("-k", min=1, help="Hits at most.", show_default=False)]
KindOption = Annotated[Kind | None, typer.Option("--kind", help="Of this kind alone.", show_default=False)]
DuringOption = Annotated[
    str | None,
    typer.Option("--during", help='Said then: "last week", 2026-09, May 2026, 3 May.', show_default=False),
]
SinceOption = Annotated[str | None, typer.Option("--since", help="Said on that day or later.", show_default=False)]
SessionOption = Annotated[list[str] | None, typer.Option("--session", help="Said in it.", show_default=False)]
TagOption = Annotated[list[str] | None, typer.Option("--tag", help="Messages so tagged.", show_default=False)]
EntityOption = Annotated[list[str] | None, typer.Option("--entity", help="About that name.", show_default=False)]
RelationOption = Annotated[
    list[str] | None, typer.Option("--relation", help="Facts of it, and who says so.", show_default=False)
]
DomainOption = Annotated[str | None, typer.Option("--domain", help="Not of another.", show_default=False)]
ConfidenceOption = Annotated[float, typer.Option("--min-confidence", min=0, max=1, help="Of facts and experiences.")]
NeighboursOption = Annotated[int, typer.Option("--neighbours", min=0, help="Turns around each message.")]
HopsOption = Annotated[int, typer.Option("--hops", min=0, max=2, help="Steps along the graph from what is found.")]
ThreadOption = Annotated[
    Path | None,
    typer.Option("--thread", help="The turns before the question, as text or JSON Lines.", show_default=False),
]
BatchOption = Annotated[
    Path | None, typer.Option("--batch", help='Questions, JSON Lines of {"id", "query"}.', show_default=False)
]
OutputOption = Annotated[Path | None, typer.Option("--output", help="Where their hits go.", show_default=False)]


def search(
    user: UserOption,
    query: QueryArgument = None,
    n_hits: HitsOption = None,
    as_of: AsOfOption = None,
    kind: KindOption = None,
    during: DuringOption = None,
    since: SinceOption = None,
    session: SessionOption = None,
    tag: TagOption = None,
    entity: EntityOption = None,
    relation: RelationOption = None,
    domain: DomainOption = None,
    min_confidence: ConfidenceOption = 0.0,
    n_neighbours: NeighboursOption = 0,
    n_hops: HopsOption = 0,
    thread: ThreadOption = None,
    batch: BatchOption = None,
    output: OutputOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find what was said, what is known of it, and what recurs: best first, facts that answer among the messages.

    Nothing is written to memory and no model is asked.

    Example: em search "Where does Dana work?" --user mirela -k 5
    """
    from em_pipelines.retrieval.context.thread import read_thread
    from em_pipelines.retrieval.search import EVERY_KIND, Search
    from em_pipelines.retrieval.user_search import ask

    _check_asked(query, batch, output, relation or ())
    opened = open_existing(home)
    until = parse_day(as_of, "--as-of")
    note_ahead(opened, until)
    today = until or datetime.now(UTC).date()
    first, last = _window(during, parse_day(since, "--since"), until, today)
    wanted = Search(
        text=query or "",
        n_hits=n_hits or opened.settings.retrieval.n_hits,
        today=today,
        kinds=EVERY_KIND if kind is None else frozenset({kind.value}),
        since=first,
        until=last,
        sessions=_any_of(session),
        tags=_any_of(tag),
        entities=_any_of(entity),
        relations=_any_of(relation),
        domain=domain,
        min_confidence=min_confidence,
        n_neighbours=n_neighbours,
        thread=read_thread(thread) if thread else (),
        is_capped=n_hits is not None,
    )
    if batch is None or output is None:
        _tell(opened, user, wanted, ask(opened, user, wanted, n_hops), as_json=as_json)
        return
    end_if_unknown(opened, user)
    n_answered = _answer_all(batch, output, lambda text: ask(opened, user, replace(wanted, text=text), n_hops))
    _tell_answered(n_answered, output, as_json=as_json)


def _tell_answered(n_answered: int, output: Path, *, as_json: bool) -> None:
    if as_json:
        print_json({"questions": n_answered, "output": str(output)})
    else:
        out().print(f"{counted(n_answered, 'question')} answered: {output}")


def _check_asked(query: str | None, batch: Path | None, output: Path | None, relations: list[str] | tuple[()]) -> None:
    check_relations(relations)
    if (query is None) == (batch is None) or (batch is None) != (output is None):
        raise UsageError("searching: give a question, or --batch QUESTIONS with --output HITS")


def _any_of(values: list[str] | None) -> frozenset[str]:
    return frozenset(values or ())


def _answer_all(batch: Path, output: Path, answer: "Callable[[str], list[Hit]]") -> int:
    """Writes the hits of each question of a file to another; returns how many questions there were."""
    from em_pipelines.storage.files import write_atomically

    answered = ((one["id"], answer(one["query"])) for one in _questions(batch))
    lines = [orjson.dumps({"id": number, "hits": [_brief(hit) for hit in hits]}) for number, hits in answered]
    write_atomically(output, b"".join(line + b"\n" for line in lines))
    return len(lines)


def _window(during: str | None, since: date | None, until: date | None, today: date) -> tuple[date | None, date | None]:
    from em_pipelines.retrieval.terms import window

    if during is None:
        return since, until
    named = window(during, today)
    if named is None:
        raise UsageError(f'--during: "{during}" names no time; say "last week", 2026-09, May 2026 or 2026-05-03')
    first, last = named
    return max(first, since or first), min(last, until or last)


def _questions(path: Path) -> Iterator[dict[str, str]]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"reading {path}: {error.strerror}; give a file of JSON Lines") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            question = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise UsageError(f"reading {path}: line {number} is no JSON ({error.msg})") from error
        if not isinstance(question, dict) or not isinstance(question.get("query"), str) or "id" not in question:
            raise UsageError(f'reading {path}: line {number}: expected {{"id", "query"}}')
        yield question


def _brief(hit: "Hit") -> dict[str, Any]:
    return {name: getattr(hit, name) for name in (*BRIEF, *(("experience_id",) if hit.experience_id else ()))}


def _tell(home: "Pipeline", user_id: str, asked: "Search", hits: "list[Hit]", *, as_json: bool) -> None:
    """Shows what was found; where that is nothing, says which of the names that were given are none."""
    if hits:
        _show(hits, as_json=as_json)
        return
    check_read(home, user_id)
    _show(hits, as_json=as_json)
    end_if_unknown(home, user_id)
    note_unknown_names(
        home, user_id, entities=asked.entities, sessions=asked.sessions, tags=asked.tags, domain=asked.domain
    )


def _show(hits: "list[Hit]", *, as_json: bool) -> None:
    if as_json:
        print_json([asdict(hit) | {"shown": hit.shown} for hit in hits])
        return
    notes = [_note(hit) for hit in hits]
    print_table(
        counted(len(hits), "hit"),
        ("kind", "said on", "speaker", "text", "score", "where", *(("note",) if any(notes) else ())),
        [
            (
                hit.kind, hit.said_on, hit.by or "", _shortened(hit.shown), f"{hit.score:.2f}",
                hit.edge_id or hit.experience_id or f"{hit.session_id} {hit.turn_number}",
                *((note,) if any(notes) else ()),
            )
            for hit, note in zip(hits, notes, strict=True)
        ],
        right=("score",),
    )  # fmt: skip


def _shortened(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…"


def _note(hit: "Hit") -> str:
    """What speaks against a hit, or by which way it was reached."""
    against = f"in conflict with {', '.join(hit.conflicts_with)}" if hit.conflicts_with else ""
    return against or (f"by {' > '.join(hit.path[:-1])}" if hit.path else "")
