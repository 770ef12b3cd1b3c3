"""`em extract` and `em resolve`: the engine over labelled files, without a home."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from em_pipelines.commands.console import err
from em_pipelines.errors import UsageError
from em_pipelines.extraction.gold import predictions
from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.lake import write_atomically
from em_pipelines.resolution.gold import clusters

FileArgument = Annotated[Path, typer.Argument(help="JSON Lines, as the corpora have them.")]
OutputOption = Annotated[Path, typer.Option("--output", help="Where the predictions go.")]


def extract(
    file: FileArgument,
    output: OutputOption,
    extractor: Annotated[str, typer.Option("--extractor", help="rules: the one there is.")] = "rules",
) -> None:
    """Extract from each message of a labelled file and write predictions, a line each.

    Example: em extract corpus.jsonl --extractor rules --output predictions.jsonl
    """
    if extractor != "rules":
        raise UsageError(f"choosing an extractor: found {extractor!r}; `rules` is the one there is")
    rules = RulesExtractor()
    _write(output, predictions(_rows(file), rules))


def resolve(file: FileArgument, output: OutputOption) -> None:
    """Resolve the mentions of each user of a labelled file and write clusters, a line each.

    Example: em resolve mentions.jsonl --output clusters.jsonl
    """
    _write(output, ({"id": row["id"], "clusters": clusters(row)} for row in _rows(file)))


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"reading {path}: {error.strerror}; give a JSON Lines file") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise UsageError(f"reading {path}, line {number}: {error}; each line is one JSON object") from error
        if not isinstance(row, dict) or "id" not in row:
            raise UsageError(f"reading {path}, line {number}: no `id`; each line is one JSON object with an id")
        yield _checked(row, path, number)


def _checked(row: dict[str, Any], path: Path, number: int) -> dict[str, Any]:
    if "message" in row or "mentions" in row:
        return row
    raise UsageError(f"reading {path}, line {number}: neither `message` nor `mentions`; is it a labelled corpus?")


def _write(output: Path, rows: Iterator[dict[str, Any]]) -> None:
    try:
        lines = [orjson.dumps(row) for row in rows]
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"reading a labelled row: {type(error).__name__}: {error}; see the corpus format") from error
    write_atomically(output, b"".join(line + b"\n" for line in lines))
    err().print(f"{len(lines)} lines → {output}", markup=False, soft_wrap=True)
