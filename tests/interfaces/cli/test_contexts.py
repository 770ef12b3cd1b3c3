"""`em context`, `em prompt` and `em bootstrap`, as agents call them."""

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import orjson
import pytest

from em_pipelines.schema.tables.graph import EDGES

AS_OF = ("--as-of", "2026-11-01")

TOLD = "Dana lives in Graz: My sister Dana lives in Graz, so it's a whole day by train for them"
"""A fact, and what its sentence says beside it."""


def test_the_block_of_a_question(em, examples_home: Path) -> None:
    done = em("context", "Where does Dana live?", "--user", "mirela", "--home", examples_home, *AS_OF)
    assert done.returncode == 0, done.stderr
    root = ElementTree.fromstring(done.stdout)
    assert root.find("facts/fact").text == TOLD
    told = em("context", "Where does Dana live?", "--user", "mirela", "--home", examples_home, *AS_OF, "--json")
    found = orjson.loads(told.stdout)
    assert found["text"] == done.stdout
    assert found["n_tokens"] <= 800
    assert len(found["edge_ids"]) == len(list(root.iter("fact")))
    assert {"session_id", "turn_number"} == set(found["turns"][0])


def test_what_the_block_says_can_be_explained(em, examples_home: Path) -> None:
    block = em("context", "Where does Dana live?", "--user", "mirela", "--home", examples_home, *AS_OF).stdout
    short = ElementTree.fromstring(block).find("facts/fact").get("id")
    done = em("why", short, "--home", examples_home)
    assert done.returncode == 0
    assert "Actually, my sister Dana lives in Graz" in done.stdout
    assert em("why", "edge_", "--home", examples_home).returncode == 1


def test_a_smaller_budget_and_a_group(em, examples_home: Path) -> None:
    small = em("context", "Dana", "--user", "mirela", "--home", examples_home, "--budget", "90", "--json", *AS_OF)
    assert orjson.loads(small.stdout)["n_tokens"] <= 90
    group = em("context", "Dana", "--user", "mirela", "--home", examples_home, "--group", *AS_OF)
    assert ElementTree.fromstring(group.stdout).attrib == {"as_of": "2026-11-01", "audience": "group"}
    assert "Dana" not in group.stdout


@pytest.mark.parametrize(
    "lines",
    [
        b'{"content": "I saw Dana yesterday."}\n\n{"role": "user", "text": "She was well."}\n',
        b"I saw Dana yesterday.\r\nShe was well.\n",
    ],
)
def test_a_thread_names_who_is_meant(em, examples_home: Path, tmp_path: Path, lines: bytes) -> None:
    thread = tmp_path / "thread"
    thread.write_bytes(lines)
    done = em("context", "Where?", "--user", "mirela", "--home", examples_home, "--thread", thread, *AS_OF)
    assert ElementTree.fromstring(done.stdout).find("facts/fact").text == TOLD


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"content": "a"}\n{"content"', "line 2 is no JSON"),
        (b'{"content": "a"}\n[1]', "line 2: expected"),
        (b'{"role": "user"}', "line 1: expected"),
        (b"\xff\xfe\x00", "no UTF-8"),
        (b"x" * (2**20 + 1), "more than"),
        (None, "No such file"),
    ],
)
def test_a_thread_that_is_none_is_refused(em, home_path: Path, tmp_path: Path, content, reason: str) -> None:
    thread = tmp_path / "thread"
    if content is not None:
        thread.write_bytes(content)
    done = em("context", "Where?", "--user", "ada", "--home", home_path, "--thread", thread)
    assert (done.returncode, done.stdout) == (2, "")
    assert reason in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words", [("--budget", "801"), ("--budget", "39"), ("--as-of", "soon"), ("--thread", ".")], ids=" ".join
)
def test_wrong_use_ends_with_two(em, home_path: Path, words: tuple[str, ...]) -> None:
    done = em("context", "Where?", "--user", "ada", "--home", home_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("em: ")


@pytest.mark.parametrize("user", ["nobody", "../", "a'b\"", "x" * 10_000, "\udcff"])
def test_an_unknown_user_has_an_empty_block_and_no_start(em, home_path: Path, user: str) -> None:
    home_path.mkdir(exist_ok=True)
    done = em("context", "Where?", "--user", user, "--home", home_path)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert len(ElementTree.fromstring(done.stdout)) == 0
    start = em("bootstrap", "--user", user, "--home", home_path)
    assert (start.returncode, start.stdout, start.stderr.count("\n")) == (1, "", 1)


def test_the_instructions_are_the_same_for_everybody(em, tmp_path: Path) -> None:
    done = em("prompt", cwd=tmp_path)
    assert done.returncode == 0
    for word in ("experience_context", "0.85", "em why", "<probes>", "group", "data"):
        assert word in done.stdout


@pytest.mark.slow
def test_the_start_of_a_session(em, native: Callable[..., Path], home_path: Path) -> None:
    source = native({"content": "I prefer short answers."})
    em("run", source, "--home", home_path)
    done = em("bootstrap", "--user", "ada", "--home", home_path)
    assert done.returncode == 0
    assert "user prefers short answers" in done.stdout
    found = orjson.loads(em("bootstrap", "--user", "ada", "--home", home_path, "--json").stdout)
    assert found == {"text": done.stdout, "n_lines": done.stdout.count("\n")}
    for path in (home_path / "lake" / EDGES.name).iterdir():
        path.write_bytes(b"broken")
    broken = em("bootstrap", "--user", "ada", "--home", home_path)
    assert (broken.returncode, broken.stdout) == (0, "")


def test_a_session_starts_without_memory_where_settings_are_wrong(em, tmp_path: Path) -> None:
    (tmp_path / "em.yaml").write_text("context: {budget_tokens: 10000}\n")
    done = em("bootstrap", "--user", "ada", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.count("\n") == 1
    assert "without memory" in done.stderr
