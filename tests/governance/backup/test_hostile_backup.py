"""A backup that somebody else wrote: nothing of it leaves the data directory, and with a key nothing of it is used."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.errors import CorruptBackupError, UsageError
from em_pipelines.governance.backup.archive import Archive
from em_pipelines.governance.backup.backup import back_up
from em_pipelines.governance.backup.key import read_key
from em_pipelines.governance.backup.listed_file import path_problem
from em_pipelines.governance.backup.restore import restore, restore_lost
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings
from em_pipelines.storage.ledger_entries import Act

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
KEY, OTHER_KEY = b"k" * 32, b"o" * 32
PLANTED = b"planted by somebody else"


@pytest.fixture
def home(home_path: Path) -> Pipeline:
    home = Pipeline(load_settings(home=home_path))
    home.path.mkdir(parents=True)
    row = {
        "user_id": "mira", "session_id": "s1", "turn_number": 0, "role": "user", "content": "I live in Linz.",
        "timestamp": "2026-05-02T10:00:00Z",
    }  # fmt: skip
    source = home.path.parent / "said.jsonl"
    source.write_bytes(orjson.dumps(row) + b"\n")
    land([source], home.store.log, now=NOON, settings=home.settings.landing)
    home.ledger.append(Act("correct", "mira", "edge_1", NOON))
    return home


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "backups"


@pytest.fixture
def other(tmp_path: Path) -> Pipeline:
    return Pipeline(load_settings(home=tmp_path / "deep" / "other"))


def change(folder: Path, edit: Callable[[dict[str, Any]], None], *, is_renewed: bool = True) -> Path:
    """Edits the newest list as a person could who has no key, with the plain digest calculated again."""
    path = sorted((folder / "backups").glob("*.json"))[-1]
    document = orjson.loads(path.read_bytes())
    edit(document)
    if is_renewed:
        rows = orjson.dumps(document["files"], option=orjson.OPT_SORT_KEYS)
        document["digest"] = sha256(rows).hexdigest()
    path.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
    return path


def planting(folder: Path, path: str, **more: Any) -> Callable[[dict[str, Any]], None]:
    """An edit that adds a file of this path to the list, and its content to the objects."""
    digest = sha256(PLANTED).hexdigest()
    target = folder / "objects" / digest[:2] / digest
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(PLANTED)
    row = {"path": path, "sha256": digest, "size": len(PLANTED), "mode": 0o600} | more
    return lambda document: document["files"].append(row)


def written(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()] if folder.exists() else []


OUTSIDE = (
    "../victim", "record/../../victim", "log/interactions/../../../victim", "..", ".", "", "/etc/victim",
    "//host/victim", "C:/victim", "C:victim", "C:\\victim", "\\victim", "\\\\host\\share\\victim",
    "inbox\\..\\..\\victim", "inbox/a\0b", "inbox//a", "inbox/./a", "inbox/a/",
)  # fmt: skip


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_list_with_a_path_that_leaves_the_data_directory_is_refused_whole(
    path: str, home: Pipeline, other: Pipeline, folder: Path
) -> None:
    back_up(home, Archive(folder), NOON)
    change(folder, planting(folder, path))
    with pytest.raises(CorruptBackupError, match="nothing was written"):
        restore(other, Archive(folder), is_forced=True)
    with pytest.raises(CorruptBackupError):
        restore_lost(home, Archive(folder))
    assert written(other.path) == []


def test_an_absolute_path_overwrites_no_existing_file(
    home: Pipeline, other: Pipeline, folder: Path, tmp_path: Path
) -> None:
    victim = tmp_path / "victim.txt"
    victim.write_bytes(b"before")
    back_up(home, Archive(folder), NOON)
    change(folder, planting(folder, str(victim)))
    with pytest.raises(CorruptBackupError, match="is absolute"):
        restore(other, Archive(folder), is_forced=True)
    assert victim.read_bytes() == b"before"


@pytest.mark.parametrize(
    "path", ["inbox/notes: may.txt", "inbox/über uns.txt", "llm/answers.db", "a b/c", "inbox/a..b"]
)
def test_plain_names_may_be_restored(path: str) -> None:
    assert path_problem(path) is None


@pytest.mark.parametrize("path", ["dagster/dagster.yaml", "lake/edges/2026-05-02.parquet", "locks/run.lock", "tmp/a"])
def test_a_list_may_not_plant_what_no_backup_holds(path: str, home: Pipeline, other: Pipeline, folder: Path) -> None:
    back_up(home, Archive(folder), NOON)
    change(folder, planting(folder, path))
    with pytest.raises(CorruptBackupError, match="nothing that a backup holds"):
        restore(other, Archive(folder))
    assert written(other.path) == []


@pytest.mark.parametrize(
    "more", [{"sha256": "../../../victim"}, {"sha256": "A" * 64}, {"mode": 0o4777}, {"size": -1}, {"extra": 1}]
)
def test_a_row_that_no_backup_writes_is_refused(
    more: dict[str, Any], home: Pipeline, other: Pipeline, folder: Path
) -> None:
    back_up(home, Archive(folder), NOON)
    change(folder, planting(folder, "inbox/a", **more))
    with pytest.raises(CorruptBackupError):
        restore(other, Archive(folder))


def test_a_path_that_is_a_file_and_a_folder_is_refused(home: Pipeline, other: Pipeline, folder: Path) -> None:
    back_up(home, Archive(folder), NOON)
    change(folder, planting(folder, "inbox/a"))
    change(folder, planting(folder, "inbox/a/b"))
    with pytest.raises(CorruptBackupError, match="as a folder"):
        restore(other, Archive(folder))


def test_a_segment_with_the_content_of_another_is_refused(home: Pipeline, other: Pipeline, folder: Path) -> None:
    back_up(home, Archive(folder), NOON)
    change(folder, planting(folder, "log/interactions/2026-05-03/000001-0123456789abcdef.jsonl"))
    with pytest.raises(CorruptBackupError, match="not named by its content"):
        restore(other, Archive(folder))


@pytest.mark.parametrize("name", ["log", "inbox", "record/certificates"])
def test_a_link_in_the_data_directory_is_not_followed_out_of_it(
    name: str, home: Pipeline, other: Pipeline, folder: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (home.path / name).mkdir(parents=True, exist_ok=True)
    (home.path / name / "file").write_bytes(b"x")
    back_up(home, Archive(folder), NOON)
    (other.path / "record").mkdir(parents=True)
    (other.path / name).symlink_to(elsewhere)
    with pytest.raises(UsageError, match=r"by a link|it holds"):
        restore(other, Archive(folder), is_forced=True)
    assert written(elsewhere) == []
    assert not (other.path / "record" / "salt").exists()


@pytest.mark.parametrize("name", ["objects", "backups"])
def test_a_link_in_the_backup_is_not_followed_out_of_it(
    name: str, home: Pipeline, other: Pipeline, folder: Path, tmp_path: Path
) -> None:
    back_up(home, Archive(folder), NOON)
    victim = max((path for path in (folder / name).rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)
    moved = tmp_path / "moved"
    victim.replace(moved)
    victim.symlink_to(moved)
    with pytest.raises(CorruptBackupError, match="by a link"):
        restore(other, Archive(folder))
    assert written(other.path / "record") == []


def test_pruning_deletes_nothing_behind_a_link(home: Pipeline, folder: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "letter.txt").write_bytes(b"x")
    back_up(home, Archive(folder), NOON)
    (folder / "objects" / "zz").symlink_to(precious)
    back_up(home, Archive(folder), NOON + timedelta(minutes=1), is_pruned=True)
    assert (precious / "letter.txt").exists()


def test_files_that_differ_are_replaced_only_by_force(home: Pipeline, other: Pipeline, folder: Path) -> None:
    (home.record / "certificates").mkdir(exist_ok=True)
    back_up(home, Archive(folder), NOON)
    for name in ("salt", "salt.check", "ledger.jsonl", "ledger.head"):
        other.record.mkdir(parents=True, exist_ok=True)
        (other.record / name).write_bytes((home.record / name).read_bytes())
    home.ledger.append(Act("correct", "mira", "edge_2", NOON))
    back_up(home, Archive(folder), NOON + timedelta(minutes=1))
    before = (other.record / "ledger.jsonl").read_bytes()
    with pytest.raises(UsageError, match="--force"):
        restore(other, Archive(folder))
    assert (other.record / "ledger.jsonl").read_bytes() == before
    assert not (other.path / "log").exists()
    restore(other, Archive(folder), is_forced=True)
    assert (other.record / "ledger.jsonl").read_bytes().startswith((home.record / "ledger.jsonl").read_bytes())


def test_a_list_with_a_key_is_restored_with_it(home: Pipeline, other: Pipeline, folder: Path) -> None:
    back_up(home, Archive(folder, KEY), NOON)
    assert back_up(home, Archive(folder, KEY), NOON + timedelta(minutes=1)).n_copied == 0
    assert restore(other, Archive(folder, KEY)).n_files > 3


def test_without_its_key_or_with_another_a_list_is_refused_before_anything_is_written(
    home: Pipeline, other: Pipeline, folder: Path
) -> None:
    back_up(home, Archive(folder, KEY), NOON)
    with pytest.raises(UsageError, match="--key-file"):
        restore(other, Archive(folder))
    with pytest.raises(CorruptBackupError, match="does not fit the key"):
        restore(other, Archive(folder, OTHER_KEY))
    assert not other.path.exists()


@pytest.mark.parametrize("is_unsigned", [False, True])
def test_a_list_that_somebody_without_the_key_changed_is_refused(
    is_unsigned: bool, home: Pipeline, other: Pipeline, folder: Path
) -> None:
    back_up(home, Archive(folder, KEY), NOON)
    change(folder, planting(folder, "inbox/planted.txt"))
    if is_unsigned:
        change(folder, lambda document: document.pop("hmac"))
    with pytest.raises(CorruptBackupError, match=r"does not fit the key|without a key"):
        restore(other, Archive(folder, KEY))
    assert not other.path.exists()


def test_an_older_list_under_a_newer_name_is_refused(home: Pipeline, other: Pipeline, folder: Path) -> None:
    name = back_up(home, Archive(folder, KEY), NOON).name
    lists = folder / "backups"
    (lists / f"{name}.json").replace(lists / "20990101T000000.000000Z.json")
    with pytest.raises(CorruptBackupError, match="does not fit the key"):
        restore(other, Archive(folder, KEY))


def test_a_backup_with_a_key_takes_nothing_from_a_list_without(home: Pipeline, folder: Path) -> None:
    back_up(home, Archive(folder), NOON)
    segment = next(path for path in home.path.glob("log/interactions/*/*.jsonl"))
    digest = sha256(segment.read_bytes()).hexdigest()
    (folder / "objects" / digest[:2] / digest).unlink()
    assert back_up(home, Archive(folder, KEY), NOON + timedelta(minutes=1)).n_copied == 1


def test_once_there_is_a_key_no_backup_is_taken_without(home: Pipeline, folder: Path) -> None:
    back_up(home, Archive(folder, KEY), NOON)
    with pytest.raises(UsageError, match="--key-file"):
        back_up(home, Archive(folder), NOON + timedelta(minutes=1))


def test_a_key_that_cannot_protect_anything_is_refused(tmp_path: Path, folder: Path) -> None:
    folder.mkdir()
    short, inside, good = tmp_path / "short", folder / "key", tmp_path / "key"
    short.write_bytes(b"secret\n")
    inside.write_bytes(KEY)
    good.write_bytes(KEY + b"\n")
    for path, said in ((short, "6 bytes"), (inside, "keep it elsewhere"), (tmp_path / "none", "cannot be read")):
        with pytest.raises(UsageError, match=said):
            read_key(path, folder)
    assert read_key(good, folder) == KEY
