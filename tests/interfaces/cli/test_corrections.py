"""Corrections from the command line: what they print, what they change, and what they refuse."""

import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest


@pytest.fixture
def home(examples_home: Path, tmp_path: Path) -> Path:
    """A copy of the examples' home that may be written to."""
    return Path(shutil.copytree(examples_home, tmp_path / "home", symlinks=True))


def facts(em: Any, home: Path, *options: str) -> list[dict[str, Any]]:
    done = em("facts", "--user", "mirela", "--json", "--home", home, *options)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = orjson.loads(done.stdout)
    return found


def homes(em: Any, home: Path) -> set[str]:
    return {f["object"] for f in facts(em, home) if (f["subject"], f["relation"]) == ("user", "lives_in")}


def test_a_correction_by_id_is_seen_by_the_next_reader(em: Any, home: Path) -> None:
    (known,) = (f for f in facts(em, home) if (f["subject"], f["relation"]) == ("user", "lives_in"))
    done = em("correct", known["edge_id"], "--user", "mirela", "--object", "Lisbon", "--json", "--home", home)
    assert done.returncode == 0, done.stderr
    document = orjson.loads(done.stdout)
    assert document["feedback_id"].startswith("fbk_")
    assert document["facts"][0]["edge_id"] == known["edge_id"]
    assert homes(em, home) == {"Lisbon"}


@pytest.mark.parametrize("is_by_id", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_correction_shows_the_right_value_first_and_what_it_displaced(em: Any, home: Path, is_by_id: bool) -> None:
    (known,) = (f for f in facts(em, home) if (f["subject"], f["relation"]) == ("user", "lives_in"))
    named = [known["edge_id"]] if is_by_id else ["--relation", "lives_in"]
    done = em("correct", *named, "--user", "mirela", "--object", "Ljubljana", "--home", home)
    lines = [line for line in done.stdout.splitlines() if "lives_in" in line]
    assert ("Ljubljana" in lines[0], "active" in lines[0]) == (True, True)
    assert (known["object"] in lines[1], "superseded" in lines[1]) == (True, True)


def test_what_is_taken_back_by_what_it_says_is_shown(em: Any, home: Path) -> None:
    (lives,) = homes(em, home)
    done = em("retract", "--relation", "lives_in", "--object", lives, "--user", "mirela", "--home", home)
    assert {lives in line for line in done.stdout.splitlines() if "retracted" in line} == {True}


def test_facts_are_shown_before_they_are_taken_back(em: Any, home: Path) -> None:
    words = ("retract", "--user", "mirela", "--matching", "Dana Graz", "--home", home)
    shown = em(*words, "--dry-run")
    assert shown.returncode == 0
    assert "Graz" in shown.stdout
    assert ("Dana", "Graz") in {(f["subject"], f["object"]) for f in facts(em, home)}
    done = em(*words, "--yes")
    assert done.returncode == 0, done.stderr
    assert ("Dana", "Graz") not in {(f["subject"], f["object"]) for f in facts(em, home)}


def test_a_confirmed_fact_is_certain(em: Any, home: Path) -> None:
    done = em("confirm", "--user", "mirela", "--subject", "Dana", "--relation", "lives_in", "--object", "Graz",
              "--home", home)  # fmt: skip
    assert done.returncode == 0, done.stderr
    (fact,) = (f for f in facts(em, home) if (f["subject"], f["relation"]) == ("Dana", "lives_in"))
    assert fact["confidence"] == 1.0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("correct", "edge_0000", "--object", "x"), "no fact with id edge_0000"),
        (("correct", "--object", "x"), "naming a fact"),
        (("correct", "--relation", "dwells_in", "--object", "x"), "dwells_in"),
        (("confirm", "--relation", "lives_in"), "needs edge_id"),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in [
                (("retract", "--matching", "submarine"), "nothing that is known of mirela"),
                (("retract", "--matching", " "), "the text is empty"),
                (("retract", "--subject", "Danna", "--relation", "lives_in"), "near it: Dana"),
                (("merge", "Submarine", "Periscope"), "nothing was noted"),
                (("merge", "Dana", "Periscope"), "--rename"),
                (("split", "Dana", "--into", "Dana Marin"), "facts"),
            ]
        ),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, tuple) else "",
)
def test_what_names_nothing_is_refused_in_a_sentence(em: Any, home: Path, words: tuple[str, ...], said: str) -> None:
    done = em(*words, "--user", "mirela", "--home", home)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("correct", "--subject", "Danna", "--relation", "lives_in", "--object", "Linz"),
            "'Danna' is new; near it: Dana",
        ),
        pytest.param(
            ("confirm", "--relation", "speaks", "--object", "Frisian"),
            "nothing that was known said so",
            marks=pytest.mark.slow,
        ),
        pytest.param(("merge", "Miso", "Dana"), "as an animal and 'Dana' as a person", marks=pytest.mark.slow),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, tuple) else "",
)
def test_what_is_new_or_strange_is_noted_and_said(em: Any, home: Path, words: tuple[str, ...], said: str) -> None:
    done = em(*words, "--user", "mirela", "--json", "--home", home)
    assert done.returncode == 0, done.stderr
    assert said in done.stderr
    assert [note for note in orjson.loads(done.stdout)["notes"] if said in note]


def test_the_facts_of_others_are_out_of_reach(em: Any, home: Path) -> None:
    known = facts(em, home)[0]["edge_id"]
    assert em("retract", known, "--user", "ada", "--home", home).returncode == 2
