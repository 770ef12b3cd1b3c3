"""`em land` and `em dead-letters` with what people really have: broken, binary, empty, late and strange."""

import orjson
import pytest

from em_pipelines.storage.landed_log import LandedLog

GOOD = {"user_id": "ada", "session_id": "s", "turn_number": 0, "role": "user", "content": "I live in Oslo.",
        "timestamp": "2026-03-01T10:00:00Z"}  # fmt: skip


def line(**changes: object) -> bytes:
    return orjson.dumps({**GOOD, **changes})


BROKEN = {
    "truncated JSON": line(turn_number=1)[:-20],
    "a missing field": orjson.dumps({k: v for k, v in GOOD.items() if k != "session_id"}),
    "a wrong type": line(turn_number="three"),
    "a 10 MB line": line(turn_number=1, content="x" * 10_000_000),
    "another encoding": '{"content": "på norsk"}'.encode("latin-1"),
    "a future date": line(turn_number=1, timestamp="2199-01-01T00:00:00Z"),
    "no offset": line(turn_number=1, timestamp="2026-03-01T10:00:00"),
    "turn -1": line(turn_number=-1),
    "an unknown role": line(turn_number=1, role="narrator"),
    "no object": b'"just text"',
}
ALWAYS = ("truncated JSON", "a missing field")
"""Of which `make test` asks, too."""


@pytest.mark.parametrize("name", [pytest.param(one, marks=() if one in ALWAYS else pytest.mark.slow) for one in BROKEN])
def test_a_broken_line_is_a_dead_letter_and_the_others_land(em, tmp_path, name) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"\n".join([line(), BROKEN[name], line(turn_number=7)]) + b"\n")
    done = em("land", log, "--home", tmp_path / "home", "--json")
    report = orjson.loads(done.stdout)
    assert (done.returncode, report["n_landed"], report["n_dead_letters"]) == (1, 2, 1)
    assert done.stderr.count("\n") == 1
    letters = orjson.loads(em("dead-letters", "list", "--home", tmp_path / "home", "--json").stdout)
    assert [(letter["file"].endswith("log.jsonl"), letter["line_number"]) for letter in letters] == [(True, 2)]
    again = orjson.loads(em("land", log, "--home", tmp_path / "home", "--json").stdout)
    assert (again["n_landed"], again["n_duplicates"]) == (0, 2)
    assert len(orjson.loads(em("dead-letters", "list", "--home", tmp_path / "home", "--json").stdout)) == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [("photo.jsonl", b"\x89PNG\x00\x01\x02\xff" * 50), ("empty.jsonl", b""), ("conversations.json", b'[{"mapping": {')],
)
def test_a_file_that_is_no_log_is_one_dead_letter_and_no_traceback(em, tmp_path, name, content) -> None:
    (tmp_path / name).write_bytes(content)
    (tmp_path / "good.jsonl").write_bytes(line())
    done = em(
        "land", tmp_path / name, tmp_path / "good.jsonl", "--user-id", "ada", "--home", tmp_path / "home", "--json"
    )
    report = orjson.loads(done.stdout)
    assert (done.returncode, report["n_landed"], report["n_dead_letters"]) == (1, 1, 1)
    assert "Traceback" not in done.stderr


def test_the_first_of_two_records_with_one_key_stands(em, tmp_path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(line() + b"\n" + line(content="I own a helicopter.") + b"\n" + line() + b"\n")
    done = em("land", log, "--home", tmp_path / "home", "--json")
    report = orjson.loads(done.stdout)
    assert (done.returncode, report["n_landed"], report["n_duplicates"]) == (0, 1, 1)
    assert report["dead_letters"] == {"key_conflict": 1}
    assert "first stands" in done.stderr


def test_a_dead_letter_is_shown_mended_and_landed(em, tmp_path) -> None:
    home = tmp_path / "home"
    (tmp_path / "log.jsonl").write_bytes(line(turn_number=-1) + b"\n")
    em("land", tmp_path / "log.jsonl", "--home", home)
    letter = orjson.loads(em("dead-letters", "list", "--home", home, "--json").stdout)[0]["dead_letter_id"]
    assert "I live in Oslo." in em("dead-letters", "show", letter[:12], "--home", home).stdout
    refused = em("dead-letters", "replay", "--all", "--home", home)
    assert (refused.returncode, letter in refused.stdout) == (1, True)
    mended = em("dead-letters", "replay", letter, "--set", "turn_number=3", "--home", home, "--json")
    assert (mended.returncode, orjson.loads(mended.stdout)["n_landed"]) == (0, 1)
    assert orjson.loads(em("dead-letters", "list", "--home", home, "--json").stdout) == []


def test_a_discarded_letter_is_no_finding_when_its_file_comes_again(em, tmp_path) -> None:
    (tmp_path / "log.jsonl").write_bytes(line(turn_number=-1) + b"\n")
    assert em("land", tmp_path / "log.jsonl", "--home", tmp_path / "home").returncode == 1
    assert em("dead-letters", "discard", "--all", "--home", tmp_path / "home").returncode == 0
    assert em("land", tmp_path / "log.jsonl", "--home", tmp_path / "home").returncode == 0


def test_secrets_reach_neither_the_log_nor_a_dead_letter(em, tmp_path) -> None:
    secret = "AKIA" + "IOSFODNN7" + "EXAMPLE"
    content = f"my key is {secret}"
    (tmp_path / "log.jsonl").write_bytes(line(content=content) + b"\n" + line(turn_number=-1, content=content) + b"\n")
    em("land", tmp_path / "log.jsonl", "--home", tmp_path / "home")
    files = [p for p in (tmp_path / "home").rglob("*") if p.is_file()]
    assert files
    assert not [p for p in files if secret.encode() in p.read_bytes()]
    letters = em("dead-letters", "list", "--home", tmp_path / "home", "--json").stdout
    shown = em("dead-letters", "show", orjson.loads(letters)[0]["dead_letter_id"], "--home", tmp_path / "home").stdout
    assert secret not in shown
    assert "masked" in shown


def test_nothing_is_written_outside_the_home(em, tmp_path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "log.jsonl").write_bytes(line() + b"\n")
    em("land", "log.jsonl", "--home", tmp_path / "home", cwd=work)
    assert [p.name for p in work.iterdir()] == ["log.jsonl"]


@pytest.mark.parametrize("command", ["land", "run"])
def test_an_interrupted_landing_says_that_the_files_have_to_be_given_again(em, tmp_path, monkeypatch, command) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(line())

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(LandedLog, "append", interrupt)
        done = em(command, path, "--home", tmp_path / "home")
    assert done.returncode == 3
    assert done.stderr.endswith(
        "em: interrupted while landing: what has landed is kept; give the same files again to land the others\n"
    )
    assert orjson.loads(em("land", path, "--home", tmp_path / "home", "--json").stdout)["n_landed"] == 1


def test_any_other_interruption_says_so(em, tmp_path, monkeypatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "log.jsonl").write_bytes(line())
    em("land", tmp_path / "log.jsonl", "--home", tmp_path / "home")
    monkeypatch.setattr(LandedLog, "days", interrupt)
    done = em("dead-letters", "list", "--home", tmp_path / "home")
    assert (done.returncode, done.stderr.startswith("em: interrupted: what was complete is kept")) == (3, True)


def test_the_summary_names_what_it_counts(em, tmp_path) -> None:
    (tmp_path / "a.md").write_text("---\ndate: 2026-09-20\n---\nI keep a list of lighthouses.\n", encoding="utf-8")
    done = em("land", tmp_path / "a.md", "--user-id", "ada", "--home", tmp_path / "home")
    assert "new rows: 1 message, 1 imported note" in done.stdout
    assert f"next      `em run --home {tmp_path / 'home'}` reads it" in done.stdout
    empty = orjson.dumps([{"uuid": "c1", "created_at": "2026-03-05T18:00:00Z", "chat_messages": []}])
    (tmp_path / "conversations.json").write_bytes(empty)
    done = em("land", tmp_path / "conversations.json", "--user-id", "ada", "--home", tmp_path / "home")
    assert "passed over: 1 entry (1 empty conversation)" in done.stdout
