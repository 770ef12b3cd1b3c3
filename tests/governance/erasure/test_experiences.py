"""What is erased leaves experiences, their files and the book of nights, and what others support stays."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.governance.erasure.forget import forget
from em_pipelines.landing.erasure_requests import Scope, ScopeKind
from em_pipelines.landing.land import land
from em_pipelines.lifecycle.consolidation.documents.memory_files import files_of, folder_of, outdated
from em_pipelines.lifecycle.consolidation.night import experiences
from em_pipelines.lifecycle.consolidation.nights import Said
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings
from tests.lifecycle.consolidation.calls import call
from tests.lifecycle.consolidation.conftest import NOW, Sleeper
from tests.lifecycle.consolidation.test_memory_files import failing


@pytest.fixture
def sleeper(tmp_path: Path) -> Sleeper:
    """Two people whose skills fail alike, one of them with a Torvald in it, and a night."""
    made = Sleeper(Pipeline(load_settings(home=tmp_path / "home")), tmp_path)
    named: list[dict[str, Any]] = [
        call(
            "write_letter",
            "PostError",
            hours=24 * day + 3,
            session=f"torvald-{day}",
            said="Torvald: give a street, too",
        )
        for day in range(5)
    ]
    made.land([*failing(), *failing(user="ben"), *named])
    made.night()
    return made


def erase(sleeper: Sleeper, user: str, kind: ScopeKind, target: str = "") -> Any:
    return forget(sleeper.home, Scope(kind, user, target), now=NOW)


def everywhere(sleeper: Sleeper) -> bytes:
    """All bytes of the files, and of the book."""
    return b"".join([*sleeper.files().values(), (sleeper.home.record / "consolidation.jsonl").read_bytes()])


def components(sleeper: Sleeper, user: str) -> set[str]:
    return {row["component"] for row in experiences(sleeper.home, user) if row["kind"] == "failure"}


def test_of_a_user_nothing_stays_and_of_others_everything(sleeper: Sleeper) -> None:
    own = folder_of(sleeper.home, "ada")
    (own / "notes.txt").write_text("of my own", encoding="utf-8")
    (row,) = (
        row for row in experiences(sleeper.home, "ada") if row["component"] == "ship" and row["kind"] == "failure"
    )
    sleeper.decide(row["experience_id"], Said.ACCEPT)
    others = {path: path.read_bytes() for path in files_of(sleeper.home, "ben")}

    certificate = erase(sleeper, "ada", ScopeKind.USER)

    assert not own.exists()
    assert row["experience_id"].encode() not in everywhere(sleeper)
    assert {path: path.read_bytes() for path in files_of(sleeper.home, "ben")} == others
    assert certificate.places_searched["memory"] == len(others)
    assert outdated(sleeper.home).is_current


def test_of_a_conversation_what_it_told_goes_and_what_others_support_stays(sleeper: Sleeper) -> None:
    assert b'"ada-6"' in everywhere(sleeper)

    erase(sleeper, "ada", ScopeKind.SESSION, "ada-6")

    assert b'"ada-6"' not in everywhere(sleeper)
    assert b'"ada-4"' in everywhere(sleeper)
    assert "ship" in components(sleeper, "ada")


def test_a_rule_goes_with_the_evidence_that_it_wants(sleeper: Sleeper) -> None:
    for day in (0, 2):
        erase(sleeper, "ada", ScopeKind.SESSION, f"ada-{day}")

    assert "ship" not in components(sleeper, "ada")
    assert "ship" in components(sleeper, "ben")


def test_a_name_goes_from_rules_and_from_what_people_wrote(sleeper: Sleeper) -> None:
    path = folder_of(sleeper.home, "ada") / "MEMORY.md"
    assert "write_letter fails with post error" in path.read_text(encoding="utf-8")
    path.write_text(f"Ask Torvald first.\nMind the tide.\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
    message = {"user_id": "ada", "session_id": "chat", "turn_number": 0, "role": "user", "content": "I met Torvald.",
               "timestamp": "2026-03-03T09:00:00Z"}  # fmt: skip
    (sleeper.folder / "chat.jsonl").write_bytes(orjson.dumps(message))
    land([sleeper.folder / "chat.jsonl"], sleeper.home.store.log, now=NOW, settings=sleeper.home.settings.landing)
    sleeper.make()

    erase(sleeper, "ada", ScopeKind.ENTITY, "Torvald")

    text = path.read_text(encoding="utf-8")
    assert text.startswith("Ask […] first.\nMind the tide.\n")
    assert "torvald" not in text.casefold()
    assert "write_letter" not in text
    assert "call open_harbour" in text


def test_a_file_that_lies_elsewhere_is_searched_and_rewritten_there(sleeper: Sleeper, tmp_path: Path) -> None:
    settings = load_settings(home=sleeper.home.path)
    chosen = settings.consolidation.model_copy(update={"memory_folder": tmp_path / "notes"})
    sleeper.home = Pipeline(settings.model_copy(update={"consolidation": chosen}))
    sleeper.make()
    assert files_of(sleeper.home, "ada")

    certificate = erase(sleeper, "ada", ScopeKind.USER)

    assert files_of(sleeper.home, "ada") == []
    assert certificate.places_searched["memory"] == len(files_of(sleeper.home, "ben"))
    assert not (sleeper.home.path / "memory").exists()
