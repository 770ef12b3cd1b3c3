"""`em search`: what was said and what is known, by a question; one, or a file of them."""

from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from em_pipelines.atomic import write_atomically
from em_pipelines.commands.console import HomeOption, JsonOption, UserOption, open_home, out, print_json, print_table
from em_pipelines.commands.reading import AsOfOption, parse_day
from em_pipelines.errors import UsageError
from em_pipelines.home import Home
from em_pipelines.retrieval.asking import ask
from em_pipelines.retrieval.documents import FACT, MESSAGE
from em_pipelines.retrieval.search import Hit, Search

KINDS = {"message": frozenset({MESSAGE}), "fact": frozenset({FACT})}
SHOWN_CHARACTERS = 90


class Kind(StrEnum):
    """What `--kind` takes."""

    MESSAGE = "message"
    FACT = "fact"
    EXPERIENCE = "experience"


def search(
    user: UserOption,
    query: Annotated[str | None, typer.Argument(help="What to look for.", show_default=False)] = None,
    n_hits: Annotated[int | None, typer.Option("-k", min=1, help="Hits at most.", show_default=False)] = None,
    as_of: AsOfOption = None,
    kind: Annotated[Kind | None, typer.Option("--kind", help="Of this kind alone.", show_default=False)] = None,
    batch: Annotated[
        Path | None, typer.Option("--batch", help='Questions, JSON Lines of {"id", "query"}.', show_default=False)
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", help="Where their hits go.", show_default=False)] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find what was said, and what is known of it: messages best first, then facts.

    Nothing is written to memory and no model is asked.

    Example: em search "Where does Dana work?" --user mirela -k 5
    """
    if (query is None) == (batch is None) or (batch is None) != (output is None):
        raise UsageError("searching: give a question, or --batch QUESTIONS with --output HITS")
    opened = open_home(home)
    until = parse_day(as_of, "--as-of")
    if batch is None or output is None:
        hits = _find(opened, user, query or "", n_hits, until, kind)
        _show(hits, as_json=as_json)
        return
    answered = ((one["id"], _find(opened, user, one["query"], n_hits, until, kind)) for one in _questions(batch))
    lines = [orjson.dumps({"id": number, "hits": [_brief(hit) for hit in hits]}) for number, hits in answered]
    write_atomically(output, b"".join(line + b"\n" for line in lines))
    if as_json:
        print_json({"questions": len(lines), "output": str(output)})
    else:
        out().print(f"{len(lines)} questions answered: {output}")


def _find(home: Home, user: str, text: str, n_hits: int | None, until: date | None, kind: Kind | None) -> list[Hit]:
    if kind is Kind.EXPERIENCE:
        return []
    kinds = KINDS[kind] if kind else frozenset({MESSAGE, FACT})
    today = until or datetime.now(UTC).date()
    return ask(home, user, Search(text, n_hits or home.settings.retrieval.n_hits, today, kinds, until))


def _questions(path: Path) -> Iterator[dict[str, str]]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"reading {path}: {error.strerror}; give a file of JSON Lines") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise UsageError(f"reading {path}: line {number} is no JSON ({error.msg})") from error
        if not isinstance(found, dict) or not isinstance(found.get("query"), str) or "id" not in found:
            raise UsageError(f'reading {path}: line {number}: expected {{"id", "query"}}')
        yield found


def _brief(hit: Hit) -> dict[str, Any]:
    return {name: getattr(hit, name) for name in ("kind", "session_id", "turn_number", "edge_id", "text", "score")}


def _show(hits: list[Hit], *, as_json: bool) -> None:
    if as_json:
        print_json([asdict(hit) for hit in hits])
        return
    print_table(
        f"{len(hits)} hits",
        ("kind", "said on", "speaker", "text", "score", "where"),
        [
            (
                hit.kind, hit.said_on, hit.speaker or "", hit.text[:SHOWN_CHARACTERS], f"{hit.score:.2f}",
                hit.edge_id or f"{hit.session_id} {hit.turn_number}",
            )
            for hit in hits
        ],
        right=("score",),
    )  # fmt: skip
