"""What a step is: its tables, what it works by, and the version of it that follows from both.

The version of a step is never written by hand: it is the digest of all that its rows hang on inside the package.
Nobody keeps a list. Imports are read from the sources, wherever in them they stand; by patterns, for compiling a
hundred modules costs more than most commands (a test holds them against Python's own grammar). A data file (SQL,
patterns, word lists) belongs to each module that names it in a string, from the folder that both are in:
`statement(HERE, "live")` names sql/live.sql, `"patterns/*.yaml"` all of a folder. A string that happens to equal a
file's name makes a step stale once too often, never once too seldom; tests/storage/test_code_version.py runs every step
and holds what it runs and opens against this.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from pydantic import BaseModel

from em_pipelines.schema.ids import digest
from em_pipelines.schema.table import Records, Table, Tables

Run = Callable[[date, Tables, Records], Tables]
RunMany = Callable[[Mapping[date, Tables]], Mapping[date, Tables]]
PACKAGE = Path(__file__).parents[1]
DATA_SUFFIXES = frozenset({".sql", ".yaml", ".txt", ".json", ".crfsuite", ".parquet"})
DIGITS = 16
IMPORT = re.compile(r"^[ \t]*(?:from ([\w.]+) import (\([^)]*\)|[^\n]*)|import ([\w.]+))", re.MULTILINE)
COMMENT = re.compile(r"#.*")
STRING = re.compile(r"""["']([\w./*-]{1,80})(?=["'{])""")
"""A string that may name a module or a file, up to its end or to what an f-string puts in."""
PATH = re.compile(r"[\w.*-]+/[\w./*-]*")
"""A string that may be a path or pattern of data files: with a slash, relative, of no more than names."""


@dataclass(frozen=True, slots=True)
class Window:
    """The rows of a table of the days up to the one that is made, `n_days` of them; where a column is named, those
    alone that have one of some values in it."""

    table: Table
    n_days: int
    column: str | None = None
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """One step.

    `run(day, tables, records)` gets the inputs of the day by name, states as `state_NAME`, and the landed records
    where the step reads the log; it returns the outputs by name. `previous` names state tables of which the newest
    before the day is read; `latest` those of which the newest up to the day is, so that the step can be run for days
    on which nothing happened, too. `scanned` names tables that are handed over unread, for SQL to read: states that may
    be larger than memory. Of `windows` the rows of many days are given at once, under the name of their table: for
    steps of which only the newest day is made.

    `settings` are those that `run` works by, and `also` what else it works by that no module of the package holds: a
    file of the user's, the version of an extractor.

    `run_many(tables by day)` makes several days at once, as `run` would one by one: of a step whose days do not depend
    on each other, where one statement for all is cheaper than one a day. Days with a state that is handed over unread
    are made by `run`.

    `prepare(inputs of many days)` is called before those days are made, for steps that ask somebody and had better ask
    for all at once. A day whose outputs are not `is_complete` stands, but stays out of date.
    """

    name: str
    outputs: tuple[Table, ...]
    run: Run
    settings: tuple[BaseModel, ...] = ()
    also: tuple[str, ...] = ()
    inputs: tuple[Table, ...] = ()
    latest: tuple[Table, ...] = ()
    previous: tuple[Table, ...] = ()
    scanned: tuple[Table, ...] = ()
    windows: tuple[Window, ...] = ()
    log_kind: str | None = None
    is_dated: bool = False
    run_many: RunMany | None = None
    prepare: Callable[[Iterable[Tables]], None] | None = None
    is_complete: Callable[[Tables], bool] = lambda _: True

    @classmethod
    def of_log(cls, table: Table, run: Run) -> "Step":
        """The step by which records of one kind become the table of their name."""
        return cls(name=table.name, log_kind=table.name, outputs=(table,), run=run)

    @property
    def is_fold(self) -> bool:
        """Its days depend on each other."""
        return bool(self.previous)

    @property
    def reads(self) -> tuple[Table, ...]:
        """Every table that it is given rows of, whichever day they are of."""
        return (*self.inputs, *self.latest, *self.previous, *(window.table for window in self.windows))

    @cached_property
    def code_version(self) -> str:
        """Sixteen hex digits that change whenever the same inputs could give something else.

        The digest of the code that `run` stands in with all that it imports, of the settings, and of how the tables
        that it reads and makes are declared.
        """
        looked_over = tuple(window.table for window in self.windows)
        roles = (
            ("inputs", self.inputs), ("latest", self.latest), ("previous", self.previous), ("windows", looked_over),
            ("makes", self.outputs),
        )  # fmt: skip
        declared = (f"{role} {t.name} {t.schema} {t.sort_by}" for role, tables in roles for t in tables)
        chosen = (f"{type(s).__name__} {s.model_dump_json()}" for s in self.settings)
        return digest([code_digest(self.run.__module__), *chosen, *self.also, *declared])[:16]


@dataclass(frozen=True, slots=True)
class StepReport:
    """What a step did over some days: days made, days found current, and rows made by table."""

    made: tuple[date, ...] = ()
    current: tuple[date, ...] = ()
    n_rows: dict[str, int] = field(default_factory=dict)


class CodeBase:
    """The sources of a package as they lie on disk, read once. `package` is its folder, named like it."""

    def __init__(self, package: Path = PACKAGE) -> None:
        self._package = package
        self._imported: dict[str, frozenset[str]] = {}
        self._texts: dict[str, str] = {}
        self._contents: dict[Path, str] = {}
        self._data: dict[Path, list[tuple[PurePosixPath, Path]]] = {}

    @cached_property
    def modules(self) -> frozenset[str]:
        """The dotted names of all modules, packages themselves left out: those hold a docstring."""
        paths = (Path(folder, file) for folder, _, files in os.walk(self._package) for file in files)
        sources = (path for path in paths if path.suffix == ".py" and path.stem != "__init__")
        return frozenset(".".join(path.relative_to(self._package.parent).with_suffix("").parts) for path in sources)

    def digest(self, *modules: str) -> str:
        """Returns 16 hex digits over the sources of the modules and of all that they import, and their data files.

        `modules` are dotted names; one outside the package (an extractor of somebody else's) counts with its own file
        and what it imports of the package. Raises ModuleNotFoundError for a name that is no module.
        """
        return digest(f"{self._shown(path)} {self._content(path)}" for path in self.sources(*modules))[:DIGITS]

    def sources(self, *modules: str) -> tuple[Path, ...]:
        """The files that `digest` covers, in order of path."""
        names = self.closure(*modules)
        files = {self.file_of(name) for name in names}
        return tuple(sorted({*files, *(path for name in names for path in self._named_data(name))}))

    def closure(self, *modules: str) -> frozenset[str]:
        """The modules, and every module of the package that they import, directly or through others."""
        reached: set[str] = set()
        waiting = list(modules)
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting += self.imported(name)
        return frozenset(reached)

    def imported(self, module: str) -> frozenset[str]:
        """The modules of the package that a module imports itself, at its top or inside a function, or names in a
        string."""
        if module not in self._imported:
            text = self._text(module)
            names = set(STRING.findall(text))
            for source, listed, whole in IMPORT.findall(text):
                parts = (part.split() for part in COMMENT.sub("", listed).strip("() \n").split(","))
                names |= {source, whole, *(f"{source}.{words[0]}" for words in parts if words)}
            self._imported[module] = frozenset(names & self.modules) - {module}
        return self._imported[module]

    def file_of(self, module: str) -> Path:
        """The source file of a module; raises ModuleNotFoundError."""
        head, *rest = module.split(".")
        if head == self._package.name:
            path = self._package.joinpath(*rest)
            return path.with_suffix(".py") if path.with_suffix(".py").is_file() else path / "__init__.py"
        spec = find_spec(module)
        if spec is None or not spec.origin:
            raise ModuleNotFoundError(f"reading the code of {module}: it is no module with a file")
        return Path(spec.origin)

    def _named_data(self, module: str) -> Iterator[Path]:
        """The data files that a module names: beside it or in its sql/, by a path also below the folder above."""
        folder = self.file_of(module).parent
        if self._package not in (folder, *folder.parents):
            return
        strings = frozenset(STRING.findall(self._text(module)))
        paths = [text for text in strings if PATH.fullmatch(text)]
        for name, data in self._data_below(folder):
            if _is_named(name, strings) or _is_below(name, paths):
                yield data
        if folder != self._package and paths:
            yield from (data for name, data in self._data_below(folder.parent) if _is_below(name, paths))

    def _data_below(self, folder: Path) -> list[tuple[PurePosixPath, Path]]:
        """Data files in a folder and in those below it that hold no modules, by their path without a leading sql/."""
        if folder not in self._data:
            self._data[folder] = [
                (PurePosixPath(path.relative_to(folder).as_posix().removeprefix("sql/")), path)
                for path in sorted(_walk_data(folder))
            ]
        return self._data[folder]

    def _text(self, module: str) -> str:
        if module not in self._texts:
            self._texts[module] = self.file_of(module).read_text(encoding="utf-8")
        return self._texts[module]

    def _content(self, path: Path) -> str:
        if path not in self._contents:
            self._contents[path] = hashlib.sha256(path.read_bytes()).hexdigest()
        return self._contents[path]

    def _shown(self, path: Path) -> str:
        return path.relative_to(self._package).as_posix() if self._package in path.parents else path.name


@cache
def code_digest(module: str) -> str:
    """`CodeBase.digest` of a module in the package as it is installed, read once a process."""
    return _installed().digest(module)


@cache
def _installed() -> CodeBase:
    return CodeBase()


def _is_named(data: PurePosixPath, strings: frozenset[str]) -> bool:
    """Whether one of the strings names the file: by its name or the beginning of it (`f"macro_{curve}"`), or by the
    folder beside the module that it is in."""
    named = {data.name, data.stem} if len(data.parts) == 1 else {str(data.with_suffix("")), data.parts[0]}
    return not strings.isdisjoint(named) or any(
        t.endswith("_") and data.name.startswith(t) for t in strings if t != "_"
    )


def _is_below(data: PurePosixPath, paths: list[str]) -> bool:
    """Whether one of the paths is that of the file, of a folder that it is in, or a pattern that it fits."""
    return any(data.as_posix().startswith(f"{path.rstrip('/')}/") or data.match(path) for path in paths)


def _walk_data(folder: Path) -> Iterator[Path]:
    """Data files in a folder and in those below it, but for folders with modules: there they are those modules'."""
    for path in folder.iterdir():
        if path.is_dir() and path.name != "__pycache__" and not (path / "__init__.py").exists():
            yield from (data for data in path.rglob("*") if data.suffix in DATA_SUFFIXES)
        elif path.suffix in DATA_SUFFIXES:
            yield path
