"""`em diff`: what lies between two snapshots, of days and of files; and snapshots of days on which nobody spoke."""

import shutil
from pathlib import Path

import duckdb
import orjson
import pytest

from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings

TALK = (
    {"content": "I live in Oslo.", "timestamp": "2025-03-01T10:00:00Z", "session_id": "s1"},
    {"content": "I love kayaking.", "timestamp": "2025-03-01T10:01:00Z", "session_id": "s1"},
    {"content": "I want to move to Iceland.", "timestamp": "2025-03-01T10:02:00Z", "session_id": "s4"},
    {"content": "I moved to Bergen.", "timestamp": "2025-03-20T10:00:00Z", "session_id": "s2"},
    {"content": "I love tea.", "timestamp": "2025-03-20T10:01:00Z", "session_id": "s2"},
)
OTHER = {"user_id": "ivo", "content": "I love chess.", "timestamp": "2025-03-20T11:00:00Z", "session_id": "s9"}


def make(home: Pipeline) -> None:
    for step in home.steps.values():
        home.store.run_days(step, home.store.days(step))


@pytest.fixture
def talked(em, native, tmp_path, made_once) -> Pipeline:
    """Three weeks of ada, and a word of ivo, with snapshots of 1, 10 and 20 March."""
    home = Pipeline(load_settings(home=tmp_path / "home"))

    def talk() -> None:
        em("land", native(*TALK, OTHER), "--home", home.path)
        make(home)
        for day in ("2025-03-01", "2025-03-10", "2025-03-20"):
            assert em("snapshot", "--date", day, "--home", home.path).returncode == 0

    made_once(home.path, talk)
    return home


def told(em, *arguments: object) -> dict:
    done = em("diff", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return orjson.loads(done.stdout)


def said(rows: list[dict]) -> set[tuple[str, str]]:
    return {(row["relation"], row["object"]) for row in rows}


def test_what_was_learned_and_changed_is_told_with_what_was(em, talked) -> None:
    found = told(em, "2025-03-01", "2025-03-20", "--user", "ada", "--home", talked.path)
    assert (found["earlier"], found["later"], found["user"], found["n_erased"]) == (
        "2025-03-01",
        "2025-03-20",
        "ada",
        0,
    )
    assert said(found["learned"]) == {("lives_in", "Bergen"), ("likes", "tea")}
    assert not any(fact["is_late"] for fact in found["learned"])
    (moved,) = (fact for fact in found["changed"] if fact["relation"] == "lives_in")
    assert moved["changes"]["status"] == ["active", "superseded"]
    assert moved["changes"]["valid_to"] == [None, "2025-03-20"]
    assert moved["superseded_by"]["object"] == "Bergen"
    assert found["forgotten"] == []


def test_nothing_of_others_is_told_of_a_user(em, talked) -> None:
    everybody = told(em, "2025-03-01", "latest", "--home", talked.path)
    assert {fact["user_id"] for fact in everybody["learned"]} == {"ada", "ivo"}
    for user in ("ada", "ivo", "nobody", "' OR true --", "../ada", "ada\0", "x" * 10_000):
        done = em("diff", "2025-03-01", "latest", "--user", user, "--home", talked.path, "--json")
        assert (done.returncode, done.stderr.count("\n")) == ((0, 0) if user in ("ada", "ivo") else (1, 1))
        found = orjson.loads(done.stdout)
        rows = [row for name in ("learned", "changed", "forgotten", "names") for row in found[name]]
        assert {row["user_id"] for row in rows} == ({user} & {"ada", "ivo"})


def test_a_snapshot_beside_itself_shows_nothing(em, talked) -> None:
    found = told(em, "2025-03-20", "latest", "--home", talked.path)
    assert not (found["learned"] or found["changed"] or found["forgotten"] or found["names"])


@pytest.mark.slow
def test_a_snapshot_of_a_quiet_day_holds_what_had_faded_by_then(em, talked) -> None:
    with duckdb.connect(str(talked.snapshots / "2025-03-10.duckdb"), read_only=True) as connection:
        assert connection.execute("SELECT DISTINCT as_of FROM current_edges").fetchall()[0][0].day == 10
        shown = {
            (r, o): round(c, 4)
            for r, o, c in connection.execute("SELECT relation, object, confidence FROM facts").fetchall()
        }
    facts = orjson.loads(em("facts", "--user", "ada", "--as-of", "2025-03-10", "--json", "--home", talked.path).stdout)
    assert shown == {(f["relation"], f["object"]): f["confidence"] for f in facts}
    later = em("snapshot", "--date", "2030-01-01", "--json", "--home", talked.path)
    assert orjson.loads(later.stdout)["as_of"] == "2025-03-20"
    assert (talked.snapshots / "latest.duckdb").resolve().name == "2025-03-20.duckdb"


@pytest.mark.slow
def test_time_forgets_wishes_and_then_what_is_in_the_archive(em, native, talked) -> None:
    for number, day in enumerate(("2025-10-01", "2026-10-01")):
        later = {"content": "I love rain.", "timestamp": f"{day}T10:00:00Z", "session_id": f"t{number}"}
        em("land", native(later, name=f"{day}.jsonl"), "--home", talked.path)
        make(talked)
        em("snapshot", "--home", talked.path)
    (wish,) = told(em, "2025-03-20", "2025-10-01", "--user", "ada", "--home", talked.path)["forgotten"]
    assert (wish["relation"], wish["how"], wish["status_was"]) == ("wants", "expired", "active")
    gone = told(em, "2025-03-20", "2026-10-01", "--user", "ada", "--home", talked.path)
    assert ("wants", "purged") in {(fact["relation"], fact["how"]) for fact in gone["forgotten"]}
    assert gone["n_erased"] == 0


@pytest.mark.slow
def test_names_that_became_one_and_were_parted_are_told(em, talked) -> None:
    def decide(*words: str) -> Path:
        assert em(*words, "--user", "ada", "--home", talked.path).returncode == 0
        make(talked)
        kept = talked.path.parent / f"{words[0]}.duckdb"
        em("snapshot", "--home", talked.path)
        shutil.copy((talked.snapshots / "latest.duckdb").resolve(), kept)
        return kept

    merged, parted = decide("merge", "Oslo", "Bergen"), decide("split", "Oslo", "--from", "Bergen")
    (name,) = told(em, "2025-03-20", merged, "--home", talked.path)["names"]
    assert (name["name"], name["how"], name["is_read_as"], name["was_known"]) == ("Oslo", "merged", "Bergen", True)
    (name,) = told(em, merged, parted, "--home", talked.path)["names"]
    assert (name["name"], name["how"], name["was_read_as"], name["is_read_as"]) == ("Oslo", "split", "Bergen", None)


@pytest.mark.slow
@pytest.mark.parametrize("scope", [("--entity", "Oslo"), ("--session", "s1"), ("--all",), ("--fact",)])
def test_what_was_erased_is_counted_and_never_told(em, talked, tmp_path, scope) -> None:
    old = tmp_path / "old.duckdb"
    shutil.copy(talked.snapshots / "2025-03-20.duckdb", old)
    if scope == ("--fact",):
        facts = orjson.loads(em("facts", "--user", "ada", "--all", "--json", "--home", talked.path).stdout)
        scope = ("--fact", next(f["edge_id"] for f in facts if f["object"] == "Oslo"))
    assert em("forget", "--user", "ada", *scope, "--yes", "--home", talked.path).returncode == 0
    # With the tombstones of the home, and by the words alone where there is no home.
    for home in (talked.path, tmp_path / "none"):
        done = em("diff", old, talked.snapshots / "2025-03-20.duckdb", "--json", "--home", home)
        assert "Oslo" not in done.stdout, done.stdout
        assert orjson.loads(done.stdout)["n_erased"] >= 1
        assert ("chess" in done.stdout) is False  # ivo has lost nothing
    assert not (tmp_path / "none").exists()


@pytest.mark.slow
def test_what_is_read_otherwise_shows_as_learned_anew_and_no_longer_read(em, talked, tmp_path) -> None:
    preview = tmp_path / "preview"
    shutil.copytree(talked.path, preview)
    other = Pipeline(load_settings(home=preview, verification={"n_refused_to_halve": 1}))
    claims = other.steps["extraction"].outputs[1]
    day = other.store.lake.days(claims)[0]
    rows = other.store.lake.read(claims, day)
    other.store.lake.write(claims, day, rows.filter([o != "kayaking" for o in rows["object"].to_pylist()]))
    for name in ("resolution", "fold", "decay"):
        other.store.run_days(other.steps[name], other.store.days(other.steps[name]))
    em("snapshot", "--home", preview)
    (gone,) = told(em, "latest", preview / "snapshots" / "latest.duckdb", "--home", talked.path)["forgotten"]
    assert (gone["object"], gone["how"]) == ("kayaking", "reread")
    (back,) = told(em, preview / "snapshots" / "latest.duckdb", "latest", "--home", talked.path)["learned"]
    assert (back["object"], back["is_late"]) == ("kayaking", True)


def test_people_get_tables(em, talked) -> None:
    done = em("diff", "2025-03-01", "2025-03-20", "--home", talked.path)
    assert done.returncode == 0
    assert all(word in done.stdout for word in ("3 learned", "Learned", "Bergen", "superseded", "ivo"))


def foreign(tmp_path: Path, name: str, *statements: str) -> Path:
    path = tmp_path / name
    with duckdb.connect(str(path)) as connection:
        for sql in statements:
            connection.execute(sql)
    return path


def test_files_that_are_no_snapshots_are_named(em, talked, tmp_path) -> None:
    (tmp_path / "text.duckdb").write_text("no database")
    info = "CREATE TABLE snapshot_info AS SELECT DATE '2025-03-01' AS as_of"
    older = foreign(tmp_path, "older.duckdb", info)
    newer = foreign(tmp_path, "newer.duckdb", f"{info}, 999 AS layout")
    empty = foreign(tmp_path, "empty.duckdb", f"{info}, 2 AS layout")
    secret = tmp_path / "secret.csv"
    secret.write_text("user_id,edge_id\nada,tell\n")
    spy = tmp_path / "spy's.duckdb"
    shutil.copy(talked.snapshots / "2025-03-01.duckdb", spy)
    with duckdb.connect(str(spy)) as connection:
        connection.execute("DROP VIEW IF EXISTS retrieval_misses; ALTER TABLE current_edges RENAME TO hidden")
        connection.execute(f"CREATE VIEW current_edges AS SELECT h.* FROM hidden AS h, read_csv('{secret}')")
    for path, words in (
        (tmp_path / "none.duckdb", "no file"),
        (tmp_path, "no file"),
        ("a\0b", "no file"),
        ("", "no file"),
        (tmp_path / "text.duckdb", "cannot be read as a DuckDB file"),
        (foreign(tmp_path, "other.duckdb", "CREATE TABLE t (a INTEGER)"), "no snapshot of a memory"),
        (older, "layout 1"),
        (newer, "layout 999"),
        (empty, "tables of a snapshot"),
        (spy, "tables of a snapshot"),
    ):
        done = em("diff", path, "2025-03-20", "--home", talked.path)
        assert (done.returncode, done.stdout) == (2, ""), path
        assert words in done.stderr, done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("2025-03-02", "2025-03-20"), "em snapshot --date 2025-03-02"),
        (("2025-03-20", "2025-03-01"), "give the earlier one first"),
        (("20 March", "2025-03-20"), "YYYY-MM-DD"),
        (("2025-03-20",), "B"),
    ],
)
def test_days_without_a_snapshot_and_in_the_wrong_order_are_wrong_use(em, talked, arguments, words) -> None:
    done = em("diff", *arguments, "--home", talked.path)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


def test_a_home_without_snapshots_says_so(em, tmp_path) -> None:
    done = em("diff", "2025-03-01", "latest", "--home", tmp_path / "none")
    assert done.returncode == 2
    assert "none is published yet" in done.stderr
