"""Salted hashes: the same in one home, different in every other, and never half a salt."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from em_pipelines.storage.salt import SALT_BYTES, Salt


def test_one_home_gives_one_hash_and_every_other_another(tmp_path: Path) -> None:
    one = Salt(tmp_path / "a" / "salt").hash("user", "ada")
    assert one == Salt(tmp_path / "a" / "salt").hash("user", "ada")
    assert one != Salt(tmp_path / "b" / "salt").hash("user", "ada")


def test_parts_do_not_run_into_each_other(tmp_path: Path) -> None:
    salt = Salt(tmp_path / "salt")
    assert salt.hash("ab", "c") != salt.hash("a", "bc")


def test_the_salt_is_whole_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "salt"
    Salt(path).hash("x")
    assert len(path.read_bytes()) == SALT_BYTES
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [p.name for p in tmp_path.iterdir()] == ["salt"]


def test_of_many_who_come_first_one_makes_the_salt(tmp_path: Path) -> None:
    with ThreadPoolExecutor(12) as pool:
        found = set(pool.map(lambda _: Salt(tmp_path / "salt").hash("x"), range(12)))
    assert len(found) == 1
