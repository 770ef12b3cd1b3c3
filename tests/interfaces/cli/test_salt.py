"""A home whose salt is lost or another one's: nothing lands, no token holds, and the doctor says why."""

from pathlib import Path

import orjson
import pytest

pytestmark = pytest.mark.slow

LOG = ({"content": "I live in Oslo."}, {"content": "I like tea."})


def lose(path: Path) -> None:
    path.unlink()


def lose_with_its_check(path: Path) -> None:
    path.unlink()
    path.with_name("salt.check").unlink(missing_ok=True)


def lose_the_whole_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("lost"))


def replace(path: Path) -> None:
    path.write_bytes(b"y" * 32)


@pytest.fixture(params=[lose, lose_with_its_check, lose_the_whole_folder, replace])
def damaged(em, native, tmp_path: Path, request) -> Path:
    """A home out of which a person was erased, and that has a token, after its salt came to harm."""
    home = tmp_path / "home"
    gone = native(*({**line, "user_id": "ivo"} for line in LOG), name="gone.jsonl")
    assert em("run", native(*LOG), gone, "--home", home).returncode == 0
    assert em("token", "create", "--user", "ada", "--home", home).returncode == 0
    assert em("forget", "--user", "ivo", "--all", "--yes", "--home", home).returncode == 0
    request.param(home / "record" / "salt")
    return home


def content(home: Path) -> dict[str, bytes]:
    """All but locks, databases and indexes of the log, which change with every look and can be made again."""
    files = (p for name in ("log", "lake", "record", "packs") for p in (home / name).rglob("*"))
    return {
        str(p.relative_to(home)): p.read_bytes()
        for p in files
        if p.is_file() and p.suffix != ".lock" and ".session" not in p.name
    }


def refused(done) -> bool:
    sentence = "put it back from a backup"
    return done.returncode == 2 and done.stdout == "" and sentence in done.stderr and done.stderr.count("\n") == 1


def test_nothing_lands_and_nothing_that_hangs_on_it_is_read(em, native, damaged: Path, tmp_path) -> None:
    gone = native({"content": "I live in Oslo.", "user_id": "ivo"}, name="gone.jsonl")
    commands: tuple[tuple[object, ...], ...] = (
        ("land", gone),
        ("run", gone),
        ("run",),
        ("forget", "--user", "ada", "--all", "--yes"),
        ("correct", "--user", "ada", "--subject", "user", "--relation", "lives_in", "--object", "Bergen"),
    )
    before = content(damaged)
    for words in commands:
        done = em(*words, "--home", damaged)
        assert refused(done), (words, done)
    assert content(damaged) == before


def test_the_doctor_names_it_and_changes_nothing(em, damaged: Path) -> None:
    before = content(damaged)
    done = em("doctor", "--home", damaged, "--json")
    found = {d["subject"]: d for d in orjson.loads(done.stdout)}
    assert (done.returncode, found["salt"]["ok"]) == (1, False)
    assert "backup" in found["salt"]["advice"]
    mending = em("repair", "--home", damaged)
    assert (mending.returncode, "salt" in mending.stderr) == (1, True)
    assert content(damaged) == before


def test_tokens_are_neither_made_nor_listed_nor_served(em, damaged: Path) -> None:
    if (damaged / "record").exists():
        assert refused(em("token", "list", "--home", damaged))
    assert refused(em("token", "create", "--user", "ada", "--home", damaged))
    assert refused(em("mcp", "--user", "ada", "--home", damaged))


def test_put_back_everything_goes_on_and_who_was_erased_stays_away(em, native, tmp_path) -> None:
    home = tmp_path / "home"
    gone = native({"content": "I live in Oslo.", "user_id": "ivo"}, name="gone.jsonl")
    assert em("run", native(*LOG), gone, "--home", home).returncode == 0
    assert em("forget", "--user", "ivo", "--all", "--yes", "--home", home).returncode == 0
    salt = home / "record" / "salt"
    data = salt.read_bytes()
    salt.unlink()
    assert refused(em("land", gone, "--home", home))
    salt.write_bytes(data)
    landed = orjson.loads(em("land", gone, "--home", home, "--json").stdout)
    assert (landed["n_landed"], landed["n_erased"]) == (0, 1)
