"""`em extract` and `em resolve`: the engine over labelled files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from em_pipelines.atomic import write_atomically
from em_pipelines.commands.console import ExtractorOption, HomeOption, err, open_home
from em_pipelines.errors import UsageError
from em_pipelines.evaluation.corpus import read_corpus
from em_pipelines.extraction.gold import predictions
from em_pipelines.resolution.aliases import load_aliases
from em_pipelines.resolution.gold import clusters

FileArgument = Annotated[Path, typer.Argument(help="JSON Lines, as the corpora have them.")]
OutputOption = Annotated[Path, typer.Option("--output", help="Where the predictions go.")]


def extract(
    file: FileArgument,
    output: OutputOption,
    extractor: ExtractorOption = None,
    home: HomeOption = None,
) -> None:
    """Extract from each message of a labelled file and write predictions, a line each.

    Example: em extract corpus.jsonl --extractor rules --output predictions.jsonl
    """
    opened = open_home(home, **({"extractor": extractor} if extractor else {}))
    _write(output, predictions(read_corpus(file), opened.extractor, opened.checks))


def resolve(file: FileArgument, output: OutputOption, home: HomeOption = None) -> None:
    """Resolve the mentions of each user of a labelled file and write clusters, a line each.

    Example: em resolve mentions.jsonl --output clusters.jsonl
    """
    opened = open_home(home)
    settings = opened.settings.resolution
    aliases = load_aliases(settings.alias_file, opened.path)
    _write(output, ({"id": row["id"], "clusters": clusters(row, aliases, settings)} for row in read_corpus(file)))


def _write(output: Path, rows: Iterator[dict[str, Any]]) -> None:
    try:
        lines = [orjson.dumps(row) for row in rows]
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"reading a labelled row: {type(error).__name__}: {error}; see the corpus format") from error
    write_atomically(output, b"".join(line + b"\n" for line in lines))
    err().print(f"{len(lines)} lines → {output}", markup=False, soft_wrap=True)
