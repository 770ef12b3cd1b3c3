"""Salted hashes: the same in one home, different in every other, and never half a salt."""

import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from em_pipelines.errors import SaltError
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
    assert sorted(p.name for p in tmp_path.iterdir()) == ["salt", "salt.check"]


def test_of_many_who_come_first_one_makes_the_salt(tmp_path: Path) -> None:
    with ThreadPoolExecutor(12) as pool:
        found = set(pool.map(lambda _: Salt(tmp_path / "salt").hash("x"), range(12)))
    assert len(found) == 1


def lose(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    path.write_bytes(b"x" * SALT_BYTES)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("damage", [lose, replace, cut])
def test_a_salt_that_is_not_the_one_that_was_made_is_refused_and_left(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    path = tmp_path / "salt"
    before = Salt(path).hash("x")
    data = path.read_bytes()
    damage(path)
    left = path.read_bytes() if path.exists() else None
    with pytest.raises(SaltError, match="put it back from a backup"):
        Salt(path).hash("x")
    assert (path.read_bytes() if path.exists() else None) == left
    path.write_bytes(data)
    assert Salt(path).hash("x") == before


def test_what_hangs_on_a_salt_tells_that_there_was_one(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("one\n")
    salt = Salt(tmp_path / "salt", hangs_on_it=[tmp_path / "none", tmp_path / "tokens"])
    assert "tokens was made with it" in str(salt.problem())
    with pytest.raises(SaltError):
        salt.hash("x")
    assert not (tmp_path / "salt").exists()


def test_a_bound_check_value_notices_that_the_whole_folder_is_another_homes(tmp_path: Path) -> None:
    bound = tmp_path / "log" / "check"
    Salt(tmp_path / "one" / "salt", bound).bind(is_far=True)
    assert Salt(tmp_path / "one" / "salt", bound).problem() is None
    assert "another home's" in str(_foreign(tmp_path / "two" / "salt", bound))
    assert "is lost" in str(Salt(tmp_path / "three" / "salt", bound).problem())


def flip(data: bytes) -> bytes:
    return bytes([data[0] ^ 1, *data[1:]])


@pytest.mark.parametrize("damage", [flip, lambda data: data[:20], lambda data: b"", lambda data: b"\xff" * len(data)])
@pytest.mark.parametrize("is_bound", [False, True])
def test_a_check_value_that_is_damaged_itself_closes_nothing_and_is_written_anew(
    tmp_path: Path, damage: Callable[[bytes], bytes], is_bound: bool
) -> None:
    path, bound = tmp_path / "record" / "salt", tmp_path / "log" / "check"
    before = Salt(path, bound).hash("x")
    Salt(path, bound).bind(is_far=True)
    victim = bound if is_bound else path.with_name("salt.check")
    whole = victim.read_bytes()
    victim.write_bytes(damage(whole))
    salt = Salt(path, bound)
    assert (salt.problem(), salt.damaged_checks()) == (None, [victim])
    assert salt.hash("x") == before
    assert salt.mend_checks() == [victim]
    assert (victim.read_bytes(), Salt(path, bound).damaged_checks()) == (whole, [])


@pytest.mark.parametrize("number", range(8))
def test_a_bit_of_the_salt_itself_is_no_damage_of_its_check_value(tmp_path: Path, number: int) -> None:
    path = tmp_path / "salt"
    Salt(path).hash("x")
    data = bytearray(path.read_bytes())
    data[number * 4] ^= 1 << number
    path.write_bytes(data)
    assert "another home's" in str(Salt(path).problem())
    assert Salt(path).damaged_checks() == []


def _foreign(path: Path, bound: Path) -> str | None:
    Salt(path).bind()
    return Salt(path, bound).problem()


def test_a_salt_of_before_there_were_check_values_gets_one_with_what_next_hangs_on_it(tmp_path: Path) -> None:
    path = tmp_path / "salt"
    path.write_bytes(bytes(range(SALT_BYTES)))
    salt = Salt(path, hangs_on_it=[tmp_path])
    assert salt.problem() is None
    salt.hash("x")
    assert not path.with_name("salt.check").exists()
    salt.bind()
    replace(path)
    assert "another home's" in str(Salt(path).problem())


def test_looking_at_a_salt_makes_none(tmp_path: Path) -> None:
    assert Salt(tmp_path / "record" / "salt").problem() is None
    assert not (tmp_path / "record").exists()
