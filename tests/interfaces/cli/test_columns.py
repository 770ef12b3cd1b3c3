"""`--column`: tables whose columns are called as nobody could know."""

import orjson

TABLE = "Posted;Words;Who\n2026-03-05T17:40:00Z;I row;ada\n2026-03-06T17:40:00Z;I swim;ivo\n"


def test_columns_are_said_by_option(em, tmp_path) -> None:
    (tmp_path / "table.csv").write_text(TABLE)
    options = ("--column", "content=Words", "--column", "timestamp=posted", "--column", "user_id=Who")
    dry = em("land", tmp_path / "table.csv", *options, "--dry-run", "--json", "--home", tmp_path / "home")
    assert orjson.loads(dry.stdout)["n_landed"] == 2
    done = em("land", tmp_path / "table.csv", *options, "--json", "--home", tmp_path / "home")
    report = orjson.loads(done.stdout)
    assert (done.returncode, [user["user_id"] for user in report["users"]]) == (0, ["ada", "ivo"])


def test_a_column_that_is_not_there_is_wrong_use_and_those_there_are_named(em, tmp_path) -> None:
    (tmp_path / "table.csv").write_text(TABLE)
    done = em("land", tmp_path / "table.csv", "--column", "content=Text", "--home", tmp_path / "home")
    assert done.returncode == 2
    assert "'Text' is no column; there are Posted, Words, Who" in done.stderr


def test_without_options_the_dead_letter_names_the_columns_and_the_option(em, tmp_path) -> None:
    (tmp_path / "table.csv").write_text(TABLE)
    assert em("land", tmp_path / "table.csv", "--home", tmp_path / "home").returncode == 1
    (letter,) = orjson.loads(em("dead-letters", "list", "--json", "--home", tmp_path / "home").stdout)
    assert (
        "no column for content and timestamp among Posted, Words, Who; say which with `--column content=COLUMN`"
        in letter["detail"]
    )


def test_what_is_no_pair_or_no_field_is_wrong_use(em, tmp_path) -> None:
    (tmp_path / "table.csv").write_text(TABLE)
    for said, why in (("Words", "FIELD=COLUMN"), ("=Words", "FIELD=COLUMN"), ("mood=Words", "is no field")):
        done = em("land", tmp_path / "table.csv", "--column", said, "--home", tmp_path / "home")
        assert (done.returncode, why in done.stderr, done.stderr.count("\n")) == (2, True, 1)


def test_columns_that_no_field_is_read_from_are_named(em, tmp_path) -> None:
    (tmp_path / "table.csv").write_text("date,text,Mood,channel name,\n2026-03-05T17:40:00Z,I row,calm,sea,\n")
    for how in ("--dry-run", "--json"):
        done = em("land", tmp_path / "table.csv", "--user-id", "ada", how, "--home", tmp_path / "home")
        assert "table.csv: no field is read from Mood, channel name; where one is, say so with --column" in done.stdout
    (tmp_path / "whole.csv").write_text("date,text\n2026-03-06T17:40:00Z,I swim\n")
    assert "no field" not in em("land", tmp_path / "whole.csv", "--user-id", "a", "--home", tmp_path / "home").stdout
