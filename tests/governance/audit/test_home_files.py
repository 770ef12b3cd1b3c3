"""Every file of a data directory: damaged in turn, `em doctor` names it, or says that it cannot check it."""

import hashlib
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import orjson
import pytest

from em_pipelines.governance.audit.diagnosis import Diagnosis
from em_pipelines.governance.audit.home_files import NOT_CHECKABLE, inspect_files
from em_pipelines.governance.audit.soundness import diagnose
from em_pipelines.pipeline import Pipeline
from em_pipelines.serving.snapshot import publish_home
from em_pipelines.settings import load_settings
from tests.interfaces.agents.homes import make

Damage = Callable[[bytes], bytes]


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def noise(data: bytes) -> bytes:
    return random.Random(7).randbytes(max(len(data), 16))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with a file of every kind that a run, people and models leave."""
    home = make(tmp_path_factory.mktemp("whole") / "home")
    publish_home(Pipeline(load_settings(home=home)))
    more = {
        "dagster/dagster.yaml": (
            b"telemetry: {enabled: false}\nnux: {enabled: false}\n"
            b"event_log_storage: {module: resources.event_storage, class: BatchingEventLogStorage, config: {}}\n"
        ),
        "aliases.yaml": b"nora:\n  - name: Ylva\n    aliases: [Ylvi]\n",
        "evaluations/extraction.json": orjson.dumps({"recall": 0.5}),
        "recalls.json": orjson.dumps({"2026-03-02": 1}),
        "inbox/notes.json": b"not ours to judge",
    }
    for name, data in more.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(data)
    for name in (
        "dagster/history/runs.db",
        "dagster/schedules/schedules.db",
        "dagster/history/runs/index.db",
        "llm/answers.sqlite",
    ):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(home / name, isolation_level=None)) as connection:
            connection.execute("CREATE TABLE runs (run_id TEXT, status TEXT, event TEXT)")
            connection.executemany("INSERT INTO runs VALUES (?, 'QUEUED', '{}')", [(str(n),) for n in range(900)])
    return home


def found(home: Path) -> list[Diagnosis]:
    return [one for one in diagnose(Pipeline(load_settings(home=home))) if not one.is_well]


def named(path: Path, home: Path) -> set[str]:
    """What a finding may call a file: by itself, or the pack or table that it is a part of."""
    parts = path.relative_to(home).parts
    if parts[0] in {"packs", "lake"} and len(parts) > 2:
        return {"index packs"} if parts[0] == "packs" else {parts[1]}
    return (
        {path.name, "salt"} if path.name == "salt" else {path.name, f"record/{path.name}", *TOLD_AS.get(path.name, ())}
    )


TOLD_AS = {
    "ledger.jsonl": ("ledger",), "ledger.head": ("ledger",), "log.head": ("landed log",),
    "latest.duckdb": ("snapshot",), "tokens.jsonl": ("tokens",), "manifest.jsonl": ("landed log",),
}  # fmt: skip


def kind(path: Path, home: Path) -> tuple[str, ...]:
    """What files have in common of which a quick test takes one: partitions, buckets of times, parts of a pack."""
    top, *rest = path.relative_to(home).parts
    return (top,) if top in {"lake", "timings", "packs"} and not rest[0].endswith(".json") else (top, *rest)


@pytest.mark.parametrize(
    ("damage", "is_every_file"),
    [(cut, False), *(pytest.param(one, True, marks=pytest.mark.slow) for one in (cut, noise))],
)
def test_whatever_file_is_damaged_doctor_names_it(
    made: Path, tmp_path: Path, damage: Damage, is_every_file: bool
) -> None:
    home = Path(shutil.copytree(made, tmp_path / "home", symlinks=True))
    before = found(home)
    left = inspect_files(home).not_checkable
    missed, seen = [], set()
    for path in sorted(home.rglob("*")):
        if not path.is_file() or path.is_symlink() or not path.stat().st_size:
            continue
        if not is_every_file and kind(path, home) in seen:
            continue
        seen.add(kind(path, home))
        parts = path.relative_to(home).parts
        if parts[0] in left or path.suffix == ".lock":
            continue
        if parts[0] == "packs" and len(parts) > 3:
            continue  # parts of one pack's index, all of one kind
        data = path.read_bytes()
        path.write_bytes(damage(data))
        told = [f"{one.subject} {one.found} {one.advice}" for one in found(home) if one not in before]
        if not any(name in text for name in named(path, home) for text in told):
            missed.append((path.relative_to(home).as_posix(), told))
        path.write_bytes(data)
    assert missed == []
    assert found(home) == before


def test_what_cannot_be_checked_is_said(made: Path) -> None:
    files = inspect_files(made)
    assert files.flaws == ()
    assert files.not_checkable["inbox"] == 1
    said = next(one for one in diagnose(Pipeline(load_settings(home=made))) if one.subject == "other files")
    assert said.is_well
    assert "1 in inbox" in said.found
    assert "inbox/*" in NOT_CHECKABLE


@pytest.mark.parametrize(
    ("at", "is_seen"), [(slice(0, 0), False), (slice(12, 13), True), (slice(-20, None), True)], ids=str
)
def test_a_configuration_that_nobody_edited_is_known_to_the_letter(
    made: Path, tmp_path: Path, at: slice, is_seen: bool
) -> None:
    home = Path(shutil.copytree(made, tmp_path / "home", symlinks=True))
    path = home / "dagster" / "dagster.yaml"
    data = bytearray(path.read_bytes())
    data[at] = bytes(one ^ 1 for one in data[at])
    path.write_bytes(data)
    assert bool(inspect_files(home).flaws) == is_seen


def test_a_configuration_that_people_have_edited_is_no_damage(made: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(made, tmp_path / "home", symlinks=True))
    (home / "dagster" / "dagster.yaml").write_text("telemetry: {enabled: false}\nsensors: {use_threads: true}\n")
    assert inspect_files(home).flaws == ()


def test_a_list_of_digests_with_another_digest_is_named(made: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(made, tmp_path / "home", symlinks=True))
    path = home / "snapshots" / ".digests.json"
    noted = orjson.loads(path.read_bytes())
    for name, digest in noted.items():
        path.write_bytes(orjson.dumps({**noted, name: digest[::-1]}))
        (flaw,) = inspect_files(home).flaws
        assert flaw.path == f"snapshots/{name}"
        assert ".digests.json" in flaw.found


def test_with_a_damaged_check_value_of_the_salt_damaged_segments_are_still_told(made: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(made, tmp_path / "home", symlinks=True))
    check = home / "record" / "salt.check"
    check.write_bytes(bytes([check.read_bytes()[0] ^ 1]) + check.read_bytes()[1:])
    segment = next((home / "log" / "interactions").glob("*/*.jsonl"))
    segment.write_bytes(noise(segment.read_bytes()))
    told = {one.subject: f"{one.found} {one.advice}" for one in found(home)}
    assert "salt.check is damaged" in told["salt"]
    assert "em repair --apply" in told["salt"]
    assert segment.name in told["landed log"]


def test_without_its_salt_damaged_segments_are_still_told(made: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(made, tmp_path / "home", symlinks=True))
    (home / "record" / "salt").write_bytes(b"y" * 32)
    segment = next((home / "log" / "interactions").glob("*/*.jsonl"))
    segment.write_bytes(noise(segment.read_bytes()))
    told = {one.subject: one.found for one in found(home)}
    assert "another home's" in told["salt"]
    assert segment.name in told["landed log"]


def test_a_note_with_its_check_value_is_sound_until_either_changes(tmp_path: Path) -> None:
    document = b'{"1":["a","b"]}'
    note = tmp_path / "log" / ".sessions.json"
    note.parent.mkdir()
    check = hashlib.sha256(document).hexdigest().encode()
    note.write_bytes(document + b"\n" + check)
    assert inspect_files(tmp_path).flaws == ()
    for damaged in (document.replace(b"a", b"c") + b"\n" + check, document + b"\n" + check[::-1]):
        note.write_bytes(damaged)
        assert [flaw.path for flaw in inspect_files(tmp_path).flaws] == ["log/.sessions.json"]
