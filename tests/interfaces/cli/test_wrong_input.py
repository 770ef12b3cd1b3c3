"""Wrong input as people give it: each ends with one sentence that says what to do next, the exit code, no traceback.

The list is that of docs/operations.md.
"""

import re
import shutil
import socket
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from em_pipelines.governance.access_tokens import TokenBook
from em_pipelines.governance.token_scope import TokenScope
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings

FINDING, USAGE = 1, 2


@dataclass(frozen=True)
class Place:
    """Where a case is tried: a folder to write into, and a home that was run, for reading alone."""

    folder: Path
    home: Path

    def file(self, name: str, content: bytes) -> Path:
        """A file in the folder."""
        path = self.folder / name
        path.write_bytes(content)
        return path

    def copy(self) -> Path:
        """A copy of the home, to be changed."""
        return Path(shutil.copytree(self.home, self.folder / "copy", symlinks=True))


@dataclass(frozen=True)
class Wrong:
    """One wrong input: the words of the command, what they end with, and what the sentence has to say."""

    words: Callable[[Place], list[object]]
    code: int
    told: str
    variables: tuple[tuple[str, str], ...] = ()
    settings: str = ""


def land(place: Place, *words: object) -> list[object]:
    return ["land", *words, "--home", place.folder / "new"]


def ask(place: Place, *words: object) -> list[object]:
    return [*words, "--home", place.home]


def home_of_another_version(place: Place) -> list[object]:
    """A home in which a table has columns of another version."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    home = place.copy()
    for path in (home / "lake" / "edges").glob("*.parquet"):
        path.chmod(0o600)
        pq.write_table(pa.table({"edge_id": ["edge_0"], "colour": ["red"]}), path)
    return ["facts", "--user", "ada", "--home", home]


def expired_token(place: Place) -> str:
    opened = Pipeline(load_settings(home=place.folder / "tokens"))
    long_ago = datetime.now(UTC) - timedelta(days=9)
    return TokenBook(opened.record, opened.salt).create("ada", TokenScope.READ, long_ago, days=1)[0]


CASES: dict[str, Wrong] = {
    "a file that is not there": Wrong(lambda p: land(p, p.folder / "chats.jsonl"), USAGE, "chats.jsonl"),
    "an empty file": Wrong(lambda p: land(p, p.file("empty.jsonl", b"")), FINDING, "em dead-letters list"),
    "a binary file": Wrong(lambda p: land(p, p.file("cat.png", _PNG)), FINDING, "em dead-letters list"),
    "a file in another format than the one named": Wrong(
        lambda p: land(p, p.file("a.csv", b"who,what\nada,hello\n"), "--format", "openai"), FINDING, "dead letter"
    ),
    "a folder instead of a file of questions": Wrong(
        lambda p: ask(p, "search", "--user", "ada", "--batch", p.folder, "--output", p.folder / "hits"),
        USAGE, "JSON Lines",
    ),
    "a file of questions that is no JSON": Wrong(
        lambda p: ask(p, "search", "--user", "ada", "--batch", p.file("q", b"Where?\n"), "--output", p.folder / "hits"),
        USAGE, "line 1 is no JSON",
    ),
    "an export that is none": Wrong(
        lambda p: ["import", p.file("export.json", b"[]"), "--home", p.folder / "new"], USAGE, "export.json"
    ),
    "a misspelt command": Wrong(lambda _: ["fakts"], USAGE, "did you mean 'facts'? see `em --help`"),
    "a misspelt command of a group": Wrong(lambda _: ["token", "creat"], USAGE, "did you mean 'create'?"),
    "a misspelt option": Wrong(lambda p: ask(p, "facts", "--usr", "ada"), USAGE, "did you mean --user?"),
    "an option without its value": Wrong(lambda _: ["facts", "--user"], USAGE, "see `em --help`"),
    "a user that is left out": Wrong(lambda p: ask(p, "facts"), USAGE, "--user"),
    "a misspelt format": Wrong(lambda p: land(p, "x", "--format", "chatgtp"), USAGE, "did you mean 'chatgpt'?"),
    "a misspelt user": Wrong(lambda p: ask(p, "facts", "--user", "mirella"), FINDING, "did you mean 'mirela'?"),
    "a misspelt home": Wrong(
        lambda p: ["facts", "--user", "ada", "--home", p.home.with_name(f"{p.home.name}s")],
        FINDING, "em run PATH --home",
    ),
    "a home that is a file": Wrong(
        lambda p: ["facts", "--user", "ada", "--home", p.file("home", b"")], USAGE, "is a file; give a folder"
    ),
    "a folder that is no home": Wrong(
        lambda p: ["facts", "--user", "ada", "--home", _folder(p)], FINDING, "em users"
    ),
    "a home of another version": Wrong(home_of_another_version, USAGE, "em repair --apply"),
    "a home without a snapshot": Wrong(
        lambda p: ["diff", "2026-10-01", "latest", "--home", _folder(p)], USAGE, "none is published yet"
    ),
    "a date that is none": Wrong(
        lambda p: ask(p, "facts", "--user", "ada", "--as-of", "31.10.2026"), USAGE, "give a day as YYYY-MM-DD"
    ),
    "a day that no calendar has": Wrong(
        lambda p: ask(p, "bootstrap", "--user", "ada", "--as-of", "2026-02-30"), USAGE, "YYYY-MM-DD"
    ),
    "a snapshot of a day in the future": Wrong(
        lambda p: ["diff", "2026-10-01", "2099-01-01", "--home", p.home], USAGE, "there is"
    ),
    "a range whose end is before its beginning": Wrong(
        lambda _: ["run", "--from", "2026-05-02", "--to", "2026-05-01"], USAGE, "give the earlier day first"
    ),
    "a time that names none": Wrong(
        lambda p: ask(p, "search", "tea", "--user", "ada", "--during", "whenever"), USAGE, "last week"
    ),
    "a misspelt relation": Wrong(
        lambda p: ask(p, "search", "tea", "--user", "ada", "--relation", "lives_inn"), USAGE, "did you mean 'lives_in'?"
    ),
    "a misspelt relation in a correction": Wrong(
        lambda p: ["correct", "--user", "ada", "--relation", "live_in", "--object", "Graz", "--home", p.copy()],
        USAGE, "did you mean 'lives_in'?",
    ),
    "a misspelt setting in em.yaml": Wrong(
        lambda _: ["settings"], USAGE, "did you mean 'curve'?", settings="decay: {curv: linear}\n"
    ),
    "a misspelt group of settings in em.yaml": Wrong(
        lambda _: ["settings"], USAGE, "did you mean 'retrieval'?", settings="retreival: {n_hits: 5}\n"
    ),
    "an em.yaml that is no YAML": Wrong(lambda _: ["settings"], USAGE, "em.yaml", settings="decay: [curve\n"),
    "a value that a setting does not take": Wrong(
        lambda _: ["settings"], USAGE, "it is not one of rules, llm", variables=(("EM_EXTRACTOR", "model"),)
    ),
    "a misspelt variable": Wrong(
        lambda _: ["settings"], USAGE, "did you mean EM_EXTRACTOR?", variables=(("EM_EXTRACTR", "llm"),)
    ),
    "a misspelt field in a variable": Wrong(
        lambda _: ["settings"], USAGE, "did you mean 'curve'?", variables=(("EM_DECAY__CURV", "linear"),)
    ),
    "a port that is no number": Wrong(lambda p: ask(p, "mcp", "--http", "--port", "http"), USAGE, "em mcp --help"),
    "a scope that is none": Wrong(
        lambda p: ["token", "create", "--user", "ada", "--scope", "writer", "--home", p.folder / "new"],
        USAGE, "did you mean 'write'?",
    ),
    "a token that is none": Wrong(
        lambda p: ask(p, "mcp"), USAGE, "em token create", variables=(("EM_MCP_TOKEN", "secret"),)
    ),
    "an id that is none": Wrong(lambda p: ask(p, "why", "edge_ffff"), FINDING, "em facts --user NAME --all"),
    "a conversation that is not there to forget": Wrong(
        lambda p: ["forget", "--user", "ada", "--session", "s-none", "--yes", "--home", p.copy()],
        USAGE, "nothing was changed",
    ),
    "a name to part that nobody bears": Wrong(
        lambda p: ["split", "Dnaa", "--user", "mirela", "--home", p.copy()], USAGE, "near it: Dana"
    ),
    "an import of nobody known": Wrong(
        lambda p: ask(p, "review", "list", "--user", "mirella"), FINDING, "did you mean 'mirela'?"
    ),
    "an empty id": Wrong(lambda p: ask(p, "why", ""), USAGE, "em facts --user NAME"),
    "an empty text": Wrong(lambda p: ask(p, "why-not", " ", "--user", "ada"), USAGE, 'why-not "Vienna"'),
    "an output in a folder that is not there": Wrong(
        lambda p: ask(p, "export", "--user", "ada", "--output", p.folder / "no" / "such.json"), USAGE, "make it first"
    ),
}  # fmt: skip
_PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00\xff\xfe\x00\x9f" * 9


def _folder(place: Place) -> Path:
    path = place.folder / "folder"
    path.mkdir()
    return path


def check(done, wrong_code: int, told: str) -> None:
    assert done.returncode == wrong_code, (done.returncode, done.stdout, done.stderr)
    assert told in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("em: ")
    assert "Traceback" not in done.stderr + done.stdout


@pytest.mark.parametrize("name", [*CASES])
def test_wrong_input_ends_with_one_sentence(em, examples_home: Path, tmp_path: Path, name: str) -> None:
    wrong = CASES[name]
    place = Place(tmp_path, examples_home)
    if wrong.settings:
        (tmp_path / "em.yaml").write_text(wrong.settings)
    words = wrong.words(place)
    done = em(*words, cwd=tmp_path, **dict(wrong.variables))
    check(done, wrong.code, wrong.told)
    named = re.findall(r"`(em [^`]+)`", done.stderr)
    assert "--home" not in words or all("--home" in one or "--help" in one for one in named), named


def test_a_port_in_use_is_said(em, examples_home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = em("mcp", "--http", "--port", taken.getsockname()[1], "--home", examples_home)
    check(done, USAGE, "choose another with --host and --port")


def test_an_expired_token_is_said(em, tmp_path: Path) -> None:
    place = Place(tmp_path, tmp_path / "tokens")
    token = expired_token(place)
    check(em("mcp", "--home", place.home, EM_MCP_TOKEN=token), USAGE, "em token create")


def test_the_page_lists_what_is_tried_here() -> None:
    text = (Path(__file__).parents[3] / "docs" / "operations.md").read_text(encoding="utf-8")
    section = text.partition("## Wrong input")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| ([^|]+?) \| (\d) \|", section, re.MULTILINE)
    tried = {name: str(wrong.code) for name, wrong in CASES.items()}
    assert dict(listed) == {**tried, "a port in use": str(USAGE), "a token that has expired": str(USAGE)}
    assert len(listed) >= 30
