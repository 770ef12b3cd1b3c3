"""`em extract` and `em resolve`: the engine over labelled files, or over one text to see how it is read."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.cli.console import ExtractorOption, HomeOption, JsonOption, err, open_home, print_json
from em_pipelines.language.counting import counted

FILE = typer.Argument(help="JSON Lines, as the corpora have them.", show_default=False)
OUTPUT = typer.Option("--output", help="Where the predictions go.", show_default=False)
ExplainOption = Annotated[
    str | None, typer.Option("--explain", metavar="TEXT", help="Show how the rules read one text.", show_default=False)
]


def extract(
    file: Annotated[Path | None, FILE] = None,
    output: Annotated[Path | None, OUTPUT] = None,
    extractor: ExtractorOption = None,
    explained: ExplainOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Extract from each message of a labelled file and write predictions, a line each; or explain one text.

    Example: em extract corpus.jsonl --extractor rules --output predictions.jsonl

    Example: em extract --explain "My sister Ida keeps bees in Hull."
    """
    from em_pipelines.evaluation.corpus import read_corpus
    from em_pipelines.extraction.labelled import predictions

    if explained is not None:
        if file is not None or output is not None:
            raise UsageError("reading --explain: found a FILE or --output beside it; give the text or the file")
        _explain(explained, home, extractor, as_json=as_json)
        return
    if file is None:
        raise UsageError("reading the arguments: found neither FILE nor --explain; give a labelled file or a text")
    if output is None:
        raise UsageError("reading the arguments: found no --output; say where the predictions go")
    if as_json:
        raise UsageError("reading --json: found no --explain beside it; predictions are JSON Lines in --output already")
    opened = open_home(home, **({"extractor": extractor} if extractor else {}))
    _write(output, predictions(read_corpus(file), opened.extractor, opened.checks))


def _explain(text: str, home: Path | None, extractor: str | None, *, as_json: bool) -> None:
    from em_pipelines.interfaces.cli.extraction_tables import show

    if not text.strip():
        raise UsageError("reading --explain: the text is blank; give a message to read")
    opened = open_home(home, **({"extractor": extractor} if extractor else {}))
    explanation = opened.explain(text, datetime.now(UTC))
    if as_json:
        print_json(explanation)
    else:
        show(explanation)


def resolve(file: Annotated[Path, FILE], output: Annotated[Path, OUTPUT], home: HomeOption = None) -> None:
    """Resolve the mentions of each user of a labelled file and write clusters, a line each.

    Example: em resolve mentions.jsonl --output clusters.jsonl
    """
    from em_pipelines.evaluation.corpus import read_corpus
    from em_pipelines.resolution.labelled_names import clusters
    from em_pipelines.resolution.user_registry import load_aliases

    opened = open_home(home)
    settings = opened.settings.resolution
    aliases = load_aliases(settings.alias_file, opened.path)
    _write(output, ({"id": row["id"], "clusters": clusters(row, aliases, settings)} for row in read_corpus(file)))


def _write(output: Path, rows: Iterator[dict[str, Any]]) -> None:
    from em_pipelines.storage.files import write_atomically

    try:
        lines = [orjson.dumps(row) for row in rows]
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"reading a labelled row: {type(error).__name__}: {error}; see the corpus format") from error
    write_atomically(output, b"".join(line + b"\n" for line in lines))
    err().print(f"{counted(len(lines), 'line')} → {output}", markup=False, soft_wrap=True)
