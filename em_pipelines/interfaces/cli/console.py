"""How every command talks: tables on stdout for people, one JSON document for pipes, one sentence on stderr for
whatever is not success.

The one place that writes to a terminal: what is stored was written by others, and a terminal obeys its control
characters. So commands print by what stands here, which shows such characters instead of sending them.
"""

import codecs
import io
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import IntEnum
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, NoReturn, cast

import orjson
import typer

from em_pipelines.interfaces.cli.hints import runnable, with_home

if TYPE_CHECKING:
    from rich.console import Console

    from em_pipelines.governance.alerts.settings import AlertSettings
    from em_pipelines.governance.alerts.telling import Sink
    from em_pipelines.governance.audit.repair import ResetRuns
    from em_pipelines.lifecycle.revision.revisable_home import OpenVerifier
    from em_pipelines.llm.endpoint_report import CheckEndpoint
    from em_pipelines.pipeline import OpenEmbedder, OpenModels, Pipeline
    from em_pipelines.serving.projection.graph_store import OpenGraph
    from em_pipelines.settings import Settings


def _remember(home: Path | None) -> Path | None:
    """Keeps the home that an option names, for the commands that are told next."""
    if home is not None:
        Defaults.home = home
    return home


HomeOption = Annotated[
    Path | None,
    typer.Option(
        "--home", help="Where log, lake and snapshots lie; EM_HOME, else .em.", show_default=False, callback=_remember
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
ExtractorOption = Annotated[
    str | None,
    typer.Option("--extractor", metavar="rules|llm", help="Who reads; EM_EXTRACTOR, else rules.", show_default=False),
]
UserOption = Annotated[str, typer.Option("--user", help="Whose memory.")]


PIPE_COLUMNS = 160
CONTROL = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")
"""What a terminal obeys rather than shows: C0 but tab and newline, DEL, C1, separators of lines, overrides of direction
(Unicode Bidirectional Algorithm, UAX #9); and lone surrogates, which no terminal can be sent."""


MOST_PEOPLE = 20
"""Of a summary at the end of a command; a home may have thousands."""


class Exit(IntEnum):
    """Exit codes of every command."""

    OK = 0
    FINDING = 1
    USAGE = 2
    RETRY = 3


class Defaults:
    """What commands are handed that is not their own: the home that was named, and the ways to others."""

    home: Path | None = None
    """The home that `--home` names, before the command or after it."""
    open_models: "OpenModels | None" = None
    open_embedder: "OpenEmbedder | None" = None
    check_endpoint: "CheckEndpoint | None" = None
    open_verifier: "OpenVerifier | None" = None
    serve_agents: Callable[..., None] | None = None
    serve_ui: Callable[..., None] | None = None
    open_graph: "OpenGraph | None" = None
    start_tracing: "Callable[[Settings], None]" = staticmethod(lambda _: None)
    """Sends spans, where the settings or the environment say where to."""
    is_graph_set: Callable[[], bool] = staticmethod(lambda: False)
    """Whether the environment names a graph database."""
    open_sinks: "Callable[[AlertSettings], list[Sink]]" = staticmethod(lambda _: [])
    """Where alerts go."""
    reset_runs: "ResetRuns" = staticmethod(lambda _, __: 0)
    """Dagster's notes of runs are the business of whoever drives Dagster; nobody here does."""


def open_home(home: Path | None, **overrides: Any) -> "Pipeline":
    """The home named on the command line, by EM_HOME or em.yaml, else .em of the working directory, which need not be
    there yet. Raises UsageError where a file is in its place."""
    from em_pipelines.errors import UsageError
    from em_pipelines.pipeline import Pipeline
    from em_pipelines.settings import load_settings
    from em_pipelines.storage.files import close_to_others

    _keep_pandas_out()
    chosen = home or Defaults.home
    settings = load_settings(**({"home": chosen} if chosen else {}), **overrides)
    if settings.home.exists() and not settings.home.is_dir():
        raise UsageError(f"opening the home: {settings.home} is a file; give a folder with --home or EM_HOME")
    if settings.log.format == "json":
        from em_pipelines.observability.log_lines import write_json

        write_json()
    Defaults.start_tracing(settings)
    opened = Pipeline(settings, Defaults.open_models, Defaults.open_embedder)
    close_to_others()
    return opened


def _keep_pandas_out() -> None:
    """Lets pyarrow find no pandas where it looks for it: at the first value that it is handed, to see whether that is
    one of pandas'. No command has any, and the import takes a fifth of a second and 90 MB. Whoever asks pyarrow for a
    data frame later gets one all the same."""
    import pyarrow as pa

    sys.meta_path.insert(0, _NoPandas)
    try:
        pa.array([])
    finally:
        sys.meta_path.remove(_NoPandas)


class _NoPandas(MetaPathFinder):
    """Says, while it is asked, that no pandas is installed."""

    @classmethod
    def find_spec(cls, name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name=name)


def visible(text: str) -> str:
    """A text with its control characters written as escapes (ESC as \\x1b)."""
    return CONTROL.sub(lambda match: match.group().encode("unicode_escape").decode(), text)


def out() -> "Console":
    """The console on stdout. A pipe has no width to fit into: lines there are as long as they need to be."""
    return _console(width=None if sys.stdout.isatty() else PIPE_COLUMNS)


def err() -> "Console":
    """The console on stderr."""
    return _console(stderr=True)


def _console(**options: Any) -> "Console":
    """A console that sends no control characters but its own."""
    from rich.console import Console

    class Plain(Console):
        """Strings are made visible before their width is measured."""

        def render_str(self, text: str, **how: Any) -> Any:
            return super().render_str(visible(text), **how)

    return Plain(highlight=False, **options)


def copyable(sentence: str) -> str:
    """A sentence of ours whose commands work when they are copied."""
    return runnable(sentence, Defaults.home)


def tell(sentence: str) -> None:
    """Prints one sentence on stdout; it is text, never markup, and its commands work when they are copied."""
    out().print(copyable(sentence), markup=False, soft_wrap=True)


def say(sentence: str) -> None:
    """Says one sentence on stderr, behind the name of the command."""
    told = copyable(" ".join(sentence.split()).replace("?; ", "? "))
    sys.stderr.write(visible(f"em: {told}") + "\n")


def ask(question: str) -> str | None:
    """Asks one question on stderr and returns the answer; None where there is none."""
    sys.stderr.write(visible(f"em: {question} "))
    sys.stderr.flush()
    return sys.stdin.readline().strip() or None


def write(text: str) -> None:
    """Prints a text in UTF-8 whatever the terminal's encoding: no line is folded, no bracket is markup."""
    sys.stdout.buffer.write(visible(text).encode())
    sys.stdout.buffer.flush()


def print_json(document: Any) -> None:
    """Prints one JSON document and a newline. What it holds is as it is stored: escapes of JSON stand for control
    characters."""
    data = orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE, default=str)
    sys.stdout.buffer.write(CONTROL.sub(lambda match: f"\\u{ord(match.group()):04x}", data.decode()).encode())
    sys.stdout.buffer.flush()


def stdout_for_documents() -> BinaryIO:
    """Where a document that was made elsewhere goes: a pipe gets its bytes, a terminal sees them."""
    return cast(BinaryIO, _Visible(sys.stdout.buffer)) if sys.stdout.isatty() else sys.stdout.buffer


class _Visible(io.RawIOBase):
    """Writes UTF-8 with its control characters as escapes."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._stream.write(visible(self._decoder.decode(bytes(data))).encode())
        return len(data)

    def flush(self) -> None:
        self._stream.flush()


def print_document(document: Mapping[str, object], *, as_json: bool) -> None:
    """Prints one thing whole: a line a field, or as JSON."""
    if as_json:
        print_json(document)
        return
    for name, value in document.items():
        out().print(f"{name:15} {value}", markup=False, soft_wrap=True)


def print_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, right: Iterable[str] = ()
) -> None:
    """Prints a table; columns named in `right` are aligned for figures. Cells are text, never markup."""
    from rich.table import Table
    from rich.text import Text

    # No strings: in them rich would look for markup, and a backslash before a bracket hides it from any escaping.
    table = Table(title=Text(visible(title), style="table.title"), title_justify="left", header_style="bold")
    numeric = set(right)
    for column in columns:
        table.add_column(column, justify="right" if column in numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text("" if cell is None else visible(f"{cell}")) for cell in row))
    out().print(table)


def some_of(rows: Sequence[tuple[Any, ...]], command: str) -> Sequence[tuple[Any, ...]]:
    """The first rows of a list of people, and behind them, where there are more, how many and what lists them all."""
    if len(rows) <= MOST_PEOPLE:
        return rows
    more = f"… and {len(rows) - MOST_PEOPLE:,} more: {command}"
    return [*rows[:MOST_PEOPLE], (more, *("" for _ in rows[0][1:]))]


def open_existing(home: Path | None, **overrides: Any) -> "Pipeline":
    """The home, as `open_home` finds it; ends the command with a finding where there is none."""
    opened = open_home(home, **overrides)
    if not opened.path.exists():
        makes = with_home("em run PATH", opened.path)
        fail(f"opening the home: {opened.path} does not exist; {_meant(opened.path)}`{makes}` makes one", Exit.FINDING)
    return opened


@contextmanager
def telling_of_a_new_home(home: "Pipeline", how: Callable[[str], None] | None = tell) -> Iterator[Callable[[], bool]]:
    """For who may make a home: tells where one was made, and which beside it has nearly its name; None tells nothing.
    What it gives says whether one was made."""
    was_there = home.path.exists()

    def is_new() -> bool:
        return not was_there and home.path.exists()

    yield is_new
    if how and is_new():
        how(f"New home: {home.path.absolute()}; {_meant(home.path)}".rstrip("; "))


def note_no_home_yet(home: "Pipeline") -> None:
    """For a server, which ends when nobody reads any more: says first that its home is not there yet."""
    if not home.path.exists():
        say(f"{home.path.absolute()} does not exist yet; {_meant(home.path)}what is remembered first makes it")


def _meant(path: Path) -> str:
    """The home beside it that may have been meant, where one was named."""
    from em_pipelines.schema.near_names import near

    beside = [one.name for one in path.absolute().parent.glob("*") if one.name != path.name and _is_home(one)]
    found = near(path.name, beside) if Defaults.home else []
    return f"did you mean {str(path.parent / found[0])!r}? " if found else ""


def _is_home(path: Path) -> bool:
    return any((path / part).is_dir() for part in ("log", "lake", "record"))


def end_if_unknown(home: "Pipeline", user_id: str) -> None:
    """Ends the command with a finding where nobody is called so; nobody who was forgotten is named.

    Asked before work for one user, and after an answer that is empty.
    """
    from em_pipelines.schema.near_names import hint
    from em_pipelines.serving.users import is_known, names

    if is_known(home.store, user_id) or _was_forgotten(home, user_id):
        return
    meant = hint(user_id, names(home.store)) or "`em users` lists who is remembered"
    fail(f"nobody called {user_id!r:.80} is remembered in {home.path}; {meant}", Exit.FINDING)


def check_read(home: "Pipeline", user_id: str) -> None:
    """For who has found nothing of a user: raises NotMadeError where what they said waits for a run."""
    from em_pipelines.serving.facts import check_made

    check_made(home.store, user_id, "looking")


@contextmanager
def naming_the_nearest(home: "Pipeline", user_id: str) -> Iterator[None]:
    """Where nobody is called so, says who may have been meant: whoever works here sees every name, the engine's callers
    do not."""
    from em_pipelines.errors import UnknownUserError

    try:
        yield
    except UnknownUserError:
        end_if_unknown(home, user_id)
        raise


def _was_forgotten(home: "Pipeline", user_id: str) -> bool:
    """Whether all of a user was erased: an empty answer is right then, and no typing error."""
    from em_pipelines.storage.tombstones import USER

    return home.tombstones.covers(USER, user_id, said_at="")


def fail(sentence: str, code: Exit) -> NoReturn:
    """Says what is wrong in one sentence on stderr and ends the command."""
    say(sentence)
    raise typer.Exit(code)
