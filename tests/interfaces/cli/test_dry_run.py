"""`em land --dry-run`: all that landing would say, and nothing written."""

import zipfile
from pathlib import Path

import orjson

from em_pipelines.landing.land import land
from em_pipelines.landing.looking import DryLog
from em_pipelines.landing.settings import LandingSettings

SECRET = "gh" + "p_" + "a1B2" * 9


def export(path: Path) -> Path:
    messages = [
        {"sender": "human", "text": f"I mend kites, {n}; {SECRET}", "created_at": f"2026-03-0{n + 1}T08:00:00Z"}
        for n in range(3)
    ]
    talk = {
        "uuid": "c1",
        "created_at": "2026-03-02T08:00:00Z",
        "chat_messages": [*messages, {"text": "x", "sender": 7}],
    }
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", orjson.dumps([talk]))
        archive.writestr("users.json", "[]")
        archive.writestr("odd.json", f'{{"a": "{SECRET}"}}')
    return path


def test_it_shows_what_would_land_and_makes_no_home(em, tmp_path) -> None:
    path = export(tmp_path / "export.zip")
    done = em("land", path, "--user-id", "ada", "--dry-run", "--home", tmp_path / "home")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    for said in ("export.zip!/conversations.json", "claude", "I mend kites, 0", "ada", "2026-03-01", "2026-03-03",
                 "invalid_field", "unknown_format", "skipped users.json", "Nothing was written"):  # fmt: skip
        assert said in done.stdout, said
    assert SECRET not in done.stdout
    assert [entry.name for entry in tmp_path.iterdir()] == ["export.zip"]


def test_its_document_has_the_same_figures_as_landing(em, tmp_path) -> None:
    path = export(tmp_path / "export.zip")
    dry = orjson.loads(em("land", path, "--user-id", "ada", "--dry-run", "--json", "--home", tmp_path / "home").stdout)
    real = orjson.loads(em("land", path, "--user-id", "ada", "--json", "--home", tmp_path / "home").stdout)
    of_what_it_did = {"n_accepted", "n_waiting", "is_new_home"}
    figures = real.keys() - of_what_it_did
    assert {name: dry[name] for name in figures} == {name: real[name] for name in figures}


def test_beside_what_has_landed_it_knows_duplicates_and_changes_no_file(em, tmp_path) -> None:
    path, home = export(tmp_path / "export.zip"), tmp_path / "home"
    em("land", path, "--user-id", "ada", "--home", home)
    before = {p: p.read_bytes() for p in home.rglob("*") if p.is_file()}
    dry = orjson.loads(em("land", path, "--user-id", "ada", "--dry-run", "--json", "--home", home).stdout)
    assert (dry["n_landed"], dry["n_duplicates"]) == (0, 3)
    assert {p: p.read_bytes() for p in home.rglob("*") if p.is_file()} == before


def test_a_request_to_forget_is_counted_and_not_kept(em, tmp_path) -> None:
    ask = {
        "kind": "feedback",
        "type": "forget",
        "user_id": "ada",
        "entity": "Torvald",
        "timestamp": "2026-03-02T08:00:00Z",
    }
    path = tmp_path / "ask.jsonl"
    path.write_bytes(orjson.dumps(ask))
    dry = orjson.loads(em("land", path, "--dry-run", "--json", "--home", tmp_path / "home").stdout)
    assert dry["n_requests"] == 1
    assert not (tmp_path / "home").exists()


def test_an_export_that_names_nobody_is_said_in_one_sentence(em, tmp_path) -> None:
    done = em("land", export(tmp_path / "export.zip"), "--dry-run", "--home", tmp_path / "home")
    assert done.returncode == 1
    assert "nothing says whose the 4 messages in export.zip are" in done.stderr


def test_it_ends_as_the_landing_would(em, tmp_path) -> None:
    path, home = export(tmp_path / "export.zip"), tmp_path / "home"
    dry = em("land", path, "--user-id", "ada", "--dry-run", "--home", home)
    real = em("land", path, "--user-id", "ada", "--home", home)
    assert (dry.returncode, real.returncode) == (1, 1)
    assert "would be dead letters (1 invalid_field, 1 unknown_format); nothing was written" in dry.stderr
    for letter in orjson.loads(em("dead-letters", "list", "--json", "--home", home).stdout):
        em("dead-letters", "discard", letter["dead_letter_id"], "--home", home)
    ends = [em("land", path, "--user-id", "ada", *how, "--home", home).returncode for how in (("--dry-run",), ())]
    assert ends == [0, 0]


def test_a_landing_says_why_itself_where_reasons_are_few(em, tmp_path) -> None:
    path = export(tmp_path / "export.zip")
    done = em("land", path, "--user-id", "ada", "--home", tmp_path / "home")
    assert "dead letter, invalid_field: " in done.stdout
    assert f"dead letter, unknown_format: {path}!/odd.json, line 1: odd.json is of no known format" in done.stdout
    (tmp_path / "log.jsonl").write_text('{"a": \n' * 3, encoding="utf-8")
    many = em("land", tmp_path / "log.jsonl", "--home", tmp_path / "home").stdout
    assert many.count("invalid_json") == 1
    assert "first of 3 dead letters, invalid_json: " in many


def test_a_path_that_is_wrong_is_wrong_use_as_ever(em, tmp_path) -> None:
    done = em("land", tmp_path / "gone.zip", "--dry-run", "--home", tmp_path / "home")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_a_dry_log_over_nothing_takes_everything(tmp_path) -> None:
    from datetime import UTC, datetime

    path = export(tmp_path / "export.zip")
    dry = DryLog(None)
    report = land([path], dry, now=datetime(2026, 12, 1, tzinfo=UTC), settings=LandingSettings(), user_id="ada")
    assert (report.n_landed, len(dry.sample), len(dry.letters)) == (3, 3, 2)
