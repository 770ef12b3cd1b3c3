"""`--speaker`, `--time-zone` and `--date-order` of `em land`: what a chat leaves open, and what asks for it."""

from pathlib import Path
from typing import Any

import orjson
import pytest

CHAT = "5/3/26, 18:20 - Nora Lind: I own a kayak.\n5/3/26, 18:21 - Ivo: I live in Bergen.\n"


@pytest.fixture
def landed(em: Any, tmp_path: Path) -> Any:
    """Lands the chat with options; what `em land --json` says, and what it says to the user."""
    chat = tmp_path / "chat.txt"
    chat.write_text(CHAT, encoding="utf-8")

    def land(*options: str) -> tuple[int, dict[str, Any], str]:
        done = em("land", chat, "--home", tmp_path / "home", "--json", *options)
        return done.returncode, orjson.loads(done.stdout) if done.stdout else {}, done.stderr

    return land


def test_what_a_chat_leaves_open_is_asked_for_until_it_is_said(em: Any, landed: Any, tmp_path: Path) -> None:
    code, report, _ = landed("--speaker", "nora")
    assert (code, report["n_landed"], report["dead_letters"]) == (1, 0, {"invalid_field": 1})
    code, report, said = landed("--date-order", "dmy", "--user-id", "n7")
    assert (code, report) == (2, {})
    assert "Ivo (1), Nora Lind (1)" in said
    code, report, _ = landed("--date-order", "dmy", "--speaker", "nora", "--time-zone", "Europe/Oslo")
    assert (code, report["n_landed"], report["days"]) == (0, 2, ["2026-03-05"])
    assert [(user["user_id"], user["first"][11:16]) for user in report["users"]] == [("nora-lind", "17:20")]
    letters = orjson.loads(em("dead-letters", "list", "--home", tmp_path / "home", "--json").stdout)
    assert [letter["reason"] for letter in letters] == ["invalid_field"]  # of the other nothing was kept


def test_a_preview_takes_the_same_options(landed: Any) -> None:
    code, report, _ = landed("--dry-run", "--date-order", "mdy", "--speaker", "Nora Lind")
    assert (code, report["n_landed"], report["sample"][0]["timestamp"][:10]) == (0, 2, "2026-05-03")


def test_whose_a_chat_is_is_asked_for_by_one_option(em: Any, tmp_path: Path) -> None:
    (tmp_path / "chat.txt").write_text(CHAT + "5/3/26, 18:22 - Ola: I row.\n", encoding="utf-8")
    for how in ("--dry-run", "--user-id=n7"):
        done = em("land", tmp_path / "chat.txt", "--date-order", "dmy", how, "--home", tmp_path / "home")
        assert done.returncode == 2
        assert done.stderr == (
            "em: landing chat.txt: it was written by Ivo (1), Nora Lind (1), Ola (1), and nothing says who of them is "
            'the user; nothing has landed; give --speaker "Ivo" or --speaker "Nora Lind"\n'
        )
        assert not (tmp_path / "home").exists()


def test_a_long_chat_of_two_is_refused_whole_before_anything_lands(em: Any, tmp_path: Path) -> None:
    lines = [f"05/03/2026, {n // 60:02}:{n % 60:02} - {'Nora' if n % 3 else 'Ivo'}: It is {n}.\n" for n in range(1_200)]
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "chat.txt").write_text("".join(lines), encoding="utf-8")
    for command in ("land", "run"):
        done = em(command, tmp_path / "logs", "--user-id", "n7", "--home", tmp_path / "home")
        assert done.returncode == 2
        assert "Nora (800), Ivo (400)" in done.stderr
        assert '--speaker "Nora" or --speaker "Ivo"' in done.stderr
        assert not (tmp_path / "home" / "log").exists()
    again = em("land", tmp_path / "logs", "--speaker", "Nora", "--home", tmp_path / "home", "--json")
    assert (again.returncode, orjson.loads(again.stdout)["n_landed"]) == (0, 1_200)


def test_a_speaker_who_does_not_write_in_the_chat_is_said_to_be_none(em: Any, tmp_path: Path) -> None:
    (tmp_path / "chat.txt").write_text(CHAT, encoding="utf-8")
    done = em("land", tmp_path / "chat.txt", "--date-order", "dmy", "--speaker", "Ola", "--home", tmp_path / "home")
    assert done.returncode == 2
    assert "Ola is none of them" in done.stderr


def test_a_preview_shows_who_speaks(em: Any, tmp_path: Path) -> None:
    (tmp_path / "chat.txt").write_text(CHAT, encoding="utf-8")
    options = ("--date-order", "dmy", "--speaker", "nora", "--dry-run")
    shown = em("land", tmp_path / "chat.txt", *options, "--home", tmp_path / "home").stdout
    assert "speaker" in shown
    assert "Ivo" in shown


def test_a_time_zone_that_comes_late_says_what_to_do(em: Any, landed: Any, tmp_path: Path) -> None:
    options = ("--date-order", "dmy", "--speaker", "nora")
    assert landed(*options)[0] == 0
    done = em("land", tmp_path / "chat.txt", "--home", tmp_path / "home", "--time-zone", "Asia/Tokyo", *options)
    assert done.returncode == 0
    assert "2 messages had landed with the times of another time zone and stay so" in done.stdout
    assert "--home FOLDER" in done.stdout


@pytest.mark.parametrize(("option", "value"), [("--date-order", "ydm"), ("--time-zone", "Oslo/Europe")])
def test_a_value_that_is_none_is_wrong_use(landed: Any, option: str, value: str) -> None:
    code, report, said = landed("--speaker", "nora", option, value)
    assert (code, report) == (2, {})
    assert said.count("\n") == 1
    assert option in said
