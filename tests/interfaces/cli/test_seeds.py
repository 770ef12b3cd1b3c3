"""`em review` and `em questionnaire`, and what `em land` and `em run` say of imports."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

CARD = "BEGIN:VCARD\nVERSION:4.0\nFN:Nadia Brandt\nTITLE:Cooper\nBDAY:--0503\nEND:VCARD\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def cards(tmp_path: Path) -> Path:
    path = tmp_path / "cards.vcf"
    path.write_text(CARD, encoding="utf-8")
    return path


def read(done: Any) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_imports_wait_are_listed_accepted_and_turned_away(em: Any, home: Path, cards: Path) -> None:
    assert em("land", cards, "--user-id", "ida", "--home", home).returncode == 0
    waiting = read(em("review", "list", "--user", "ida", "--home", home, "--json"))
    assert [(w["relation"], w["file"], w["line"]) for w in waiting] == [
        ("knows", "cards.vcf", 1), ("works_as", "cards.vcf", 1), ("has_birthday", "cards.vcf", 1),
    ]  # fmt: skip
    away = read(em("review", "reject", waiting[1]["seed_id"][:12], "--home", home, "--json"))
    assert [w["relation"] for w in away["rejected"]] == ["works_as"]
    kept = read(em("review", "accept", "--file", "cards.vcf", "--home", home, "--json"))
    assert len(kept["accepted"]) == 2
    assert {f["relation"] for f in read(em("facts", "--user", "ida", "--home", home, "--json"))} == {
        "knows", "has_birthday",
    }  # fmt: skip
    assert read(em("review", "list", "--home", home, "--json")) == []
    assert len(read(em("review", "list", "--rejected", "--home", home, "--json"))) == 1
    again = read(em("review", "accept", waiting[1]["seed_id"], "--home", home, "--json"))
    assert [w["relation"] for w in again["accepted"]] == ["works_as"]


def test_what_is_accepted_while_landing_counts_at_once(em: Any, home: Path, cards: Path) -> None:
    done = em("land", cards, "--user-id", "ida", "--accept", "--home", home)
    assert "3 imported facts were accepted" in done.stdout
    assert len(read(em("facts", "--user", "ida", "--home", home, "--json"))) == 3


def test_kinds_that_the_settings_trust_count_at_once(em: Any, home: Path, cards: Path) -> None:
    em("land", cards, "--user-id", "ida", "--home", home, EM_REVIEW__TRUSTED_KINDS='["contacts"]')
    assert read(em("review", "list", "--home", home, "--json")) == []


def test_landing_says_how_much_waits(em: Any, home: Path, cards: Path) -> None:
    done = em("land", cards, "--user-id", "ida", "--home", home)
    assert "3 imported facts wait to be looked at (3 of ida)" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    "words", [("accept",), ("reject",), ("accept", "seed_x"), ("list", "--kind", "dreams"), ("accept", "--kind", "x")]
)
def test_choosing_nothing_or_what_is_not_there_is_wrong_use(
    em: Any, home: Path, cards: Path, words: tuple[str, ...]
) -> None:
    em("land", cards, "--user-id", "ida", "--home", home)
    done = em("review", *words, "--home", home)
    assert done.returncode == 2 and done.stderr.startswith("em: ")


def ask(em: Any, monkeypatch: pytest.MonkeyPatch, lines: str, *words: object) -> Any:
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    return em("questionnaire", "--user", "ida", *words)


def test_the_questionnaire_goes_on_where_it_was_interrupted(
    em: Any, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = ask(em, monkeypatch, "Ida\n-\n\n", "--home", home)
    assert done.returncode == 3 and "run the same command again to go on" in done.stderr
    left = read(em("questionnaire", "--user", "ida", "--list", "--home", home, "--json"))
    assert [question["id"] for question in left][:2] == ["home", "origin"]
    done = ask(em, monkeypatch, "Linz\n\nCzech, English\n", "--home", home)
    facts = {
        (f["relation"], f["object"], f["confidence"])
        for f in read(em("facts", "--user", "ida", "--home", home, "--json"))
    }
    assert facts == {
        ("has_name", "Ida", 0.9), ("lives_in", "Linz", 0.9), ("speaks", "Czech", 0.9), ("speaks", "English", 0.9),
    }  # fmt: skip
    n_left = len(read(em("questionnaire", "--user", "ida", "--list", "--home", home, "--json")))
    path = tmp_path / "me.yaml"
    done = ask(em, monkeypatch, "\n" * n_left, "--home", home, "--output", path)
    assert done.returncode == 0, done.stderr
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["answers"] == {
        "name": "Ida", "home": "Linz", "languages": ["Czech", "English"],
    }  # fmt: skip
    other = tmp_path / "other"
    assert em("land", path, "--home", other).returncode == 0
    assert len(read(em("facts", "--user", "ida", "--home", other, "--json"))) == 4
