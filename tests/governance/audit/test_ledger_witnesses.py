"""A ledger that is whole in itself, and not the one that snapshots, certificates and people have seen."""

import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from em_pipelines.governance.audit.ledger_witnesses import ledger_problems
from em_pipelines.governance.audit.repair import propose
from em_pipelines.governance.audit.soundness import diagnose
from em_pipelines.governance.erasure.forget import forget
from em_pipelines.landing.erasure_requests import Scope, ScopeKind
from em_pipelines.pipeline import Pipeline
from em_pipelines.serving.snapshot import LATEST, noted_head, publish
from em_pipelines.storage.ledger import Head
from em_pipelines.storage.ledger_entries import FIRST, Act
from tests.retrieval.test_packs import tell

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
FILES = ("ledger.jsonl", "ledger.head")
Damage = Callable[[Path, Path], None]


def correct(home: Pipeline, *targets: str) -> None:
    for target in targets:
        home.ledger.append(Act("correct", user_id="ada", target=target, at=NOON))


def publish_of(home: Pipeline, **how: bool) -> None:
    publish(home.store, home.snapshots, home.time_rules, ledger=home.ledger, **how)


@pytest.fixture
def home(settings, tmp_path: Path) -> Pipeline:
    made = Pipeline(settings)
    tell(made, tmp_path, "ada", "I live in Oslo.", "I love tea.")
    made.infer()
    return made


@pytest.fixture
def copied(home: Pipeline, tmp_path: Path) -> Path:
    """The ledger as it was after two entries, before two more were added and a snapshot was published."""
    correct(home, "edge_1", "edge_2")
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in FILES:
        shutil.copy(home.record / name, copy / name)
    correct(home, "edge_3", "edge_4")
    publish_of(home)
    return copy


def remove(record: Path, _: Path) -> None:
    for name in FILES:
        (record / name).unlink()


def put_back(record: Path, copy: Path) -> None:
    for name in FILES:
        shutil.copy(copy / name, record / name)


DAMAGES = [pytest.param(remove, marks=pytest.mark.slow), put_back]


def is_well(home: Pipeline) -> bool:
    found = {one.subject: one.is_well for one in diagnose(home)}
    mends = {mend.subject for mend in propose(home, lambda *_: 0).mends}
    assert found["ledger"] == ("ledger" not in mends)
    return found["ledger"]


@pytest.mark.slow
def test_a_snapshot_notes_the_head_and_a_ledger_that_grows_is_sound(home: Pipeline, copied: Path) -> None:
    assert noted_head(home.snapshots) == home.ledger.head()
    correct(home, "edge_5")
    assert ledger_problems(home) == []
    assert is_well(home)


@pytest.mark.slow
def test_before_the_first_entry_there_is_nothing_to_lack(home: Pipeline) -> None:
    assert ledger_problems(home) == []
    publish_of(home)
    assert noted_head(home.snapshots) == Head(0, FIRST)
    assert is_well(home)


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_the_newest_snapshot_knows_and_the_ledger_lacks_is_found(
    home: Pipeline, copied: Path, damage: Damage
) -> None:
    damage(home.record, copied)
    assert home.ledger.verify() == [], "in itself it is whole"
    (problem,) = ledger_problems(home)
    assert "the newest snapshot knows 4 entries" in problem.found
    assert not is_well(home)


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_entered_and_published_afterwards_does_not_hide_it(
    home: Pipeline, copied: Path, damage: Damage, tmp_path: Path
) -> None:
    damage(home.record, copied)
    correct(home, *(f"edge_{number}" for number in range(10, 16)))
    (problem,) = ledger_problems(home)
    assert "knows another entry" in problem.found
    tell(home, tmp_path, "ada", "I play chess.", session="s9", day="2026-03-09")
    home.infer()
    publish_of(home)
    publish_of(home, is_anew=True)
    assert not is_well(home)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_certificate_bears_witness_without_any_snapshot(home: Pipeline, copied: Path, damage: Damage) -> None:
    forget(home, Scope(ScopeKind.SESSION, "ada", "s1"), now=datetime(2026, 3, 20, tzinfo=UTC))
    (path,) = home.book.certificates_folder.glob("*.json")
    certificate = orjson.loads(path.read_bytes())
    assert Head(certificate["n_ledger_entries"], certificate["ledger_hash"]) == home.ledger.head()
    assert is_well(home)
    shutil.rmtree(home.snapshots)
    damage(home.record, copied)
    assert "the certificate " in ledger_problems(home)[0].found
    for name in ("n_ledger_entries", "ledger_hash"):  # as it was made before heads were noted
        del certificate[name]
    path.write_bytes(orjson.dumps(certificate))
    assert "no entry has it" in ledger_problems(home)[0].found


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", marks=pytest.mark.slow),
        pytest.param(b"{", marks=pytest.mark.slow),
        pytest.param(b"[]", marks=pytest.mark.slow),
        b'{"n_ledger_entries": "4", "ledger_hash": 4}',
    ],
)
def test_a_certificate_that_cannot_be_read_is_no_reason_to_fail(home: Pipeline, data: bytes) -> None:
    home.book.certificates_folder.mkdir(parents=True)
    (home.book.certificates_folder / "forget_1.json").write_bytes(data)
    assert "no entry has it" in ledger_problems(home)[0].found


@pytest.mark.slow
@pytest.mark.parametrize("data", [b"", b"no database"])
def test_a_snapshot_that_cannot_be_read_is_no_witness(home: Pipeline, copied: Path, data: bytes) -> None:
    (home.snapshots / LATEST).resolve().write_bytes(data)
    assert ledger_problems(home) == []
