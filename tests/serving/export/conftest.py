"""Homes with the logs of two people, and memories made up of hostile names."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.governance.erasure.forget import catch_up
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.serving.export.export import export
from em_pipelines.serving.export.exported_facts import Memory
from em_pipelines.serving.export.formats import ExportFormat
from em_pipelines.serving.export.json_import import Imported, import_json
from em_pipelines.serving.state_hash import state_hash
from em_pipelines.settings import load_settings

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
TODAY = NOW.date()
Line = dict[str, Any] | bytes


def said(user: str, session: str, turn: int, at: str, content: str, **more: Any) -> dict[str, Any]:
    """A message as a native record."""
    return {
        "user_id": user, "session_id": session, "turn_number": turn, "role": "user", "content": content,
        "timestamp": at, **more,
    }  # fmt: skip


def log_of(user: str) -> list[Line]:
    """Every kind of record: messages of a chat and of a group, skills, feedback, and lines that cannot be landed."""
    return [
        said(user, "s1", 0, "2026-03-02T08:00:00Z", "I live in Bergen. My flatmate Torvald works at the aquarium."),
        said(user, "s1", 1, "2026-03-02T08:01:00Z", "Say hello to Torvald.", role="assistant"),
        said(user, "s2", 0, "2026-03-05T09:00:00Z", "My wife Ylva likes cloudberries. I am forty years old."),
        said(user, "s2", 1, "2026-03-05T09:02:00Z", "I moved to Tromsø. The password is hunter22secret."),
        said(user, "g1", 0, "2026-03-06T09:00:00Z", "I love herring.", channel="group", speaker="Torvald",
             participants=["Torvald", user]),
        said(user, "s3", 0, "2026-03-20T09:00:00Z", "I own a Fender Rhodes. I like knitting.", source_id="m-17",
             domain="home", agent_id="helper", entities_mentioned=["Fender Rhodes"]),
        {"kind": "skill_invocation", "user_id": user, "session_id": "s1", "timestamp": "2026-03-02T08:03:00Z",
         "skill_name": "search", "duration_ms": 840, "exit_code": 0, "output_summary": "two results"},
        {"kind": "feedback", "type": "add_facts", "user_id": user, "timestamp": "2026-03-21T09:00:00Z",
         "facts": [{"relation": "likes", "object": "rye bread"}, {"subject": "Ylva", "relation": "speaks",
                                                                 "object": "Sami"}]},
        {"kind": "feedback", "type": "recalled", "user_id": user, "session_id": "s3",
         "timestamp": "2026-03-21T08:00:00Z", "relation": "owns", "object": "Fender Rhodes", "note": [1.5, None]},
        said(user, "s9", 9, "2026-03-22T08:00:00Z", "Turn of a wrong type.") | {"turn_number": "9"},
        b'{"user_id": "%s", "session_id": "s9", "content": "The line is cut' % user.encode(),
    ]  # fmt: skip


@dataclass
class World:
    """A home and what tests do to it."""

    home: Pipeline
    folder: Path

    @classmethod
    def at(cls, folder: Path, name: str = "home") -> "World":
        folder.mkdir(parents=True, exist_ok=True)
        return cls(Pipeline(load_settings(home=folder / name)), folder)

    def land(self, *lines: Line, name: str = "log.jsonl") -> Any:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\n".join(x if isinstance(x, bytes) else orjson.dumps(x) for x in lines) + b"\n")
        return land([path], self.home.store.log, now=NOW, settings=self.home.settings.landing)

    def make(self) -> "World":
        """Makes every day that is out of date."""
        catch_up(self.home)
        return self

    def export(self, user: str, form: str = "json", as_of: date = TODAY, output: Path | None = None) -> bytes:
        stream = BytesIO()
        export(self.home, user, ExportFormat(form), as_of, output or stream)
        return stream.getvalue()

    def take(self, data: bytes, name: str = "taken.json") -> Imported:
        path = self.folder / name
        path.write_bytes(data)
        return self.take_path(path)

    def take_path(self, path: Path) -> Imported:
        return import_json(self.home, path, NOW)

    def hashes(self) -> dict[str, str]:
        return state_hash(self.home.store, self.home.settings.decay, inference=self.home.settings.inference)

    def log(self) -> dict[str, bytes]:
        """Every file of the landed log."""
        root = self.home.path / "log"
        files = (p for p in sorted(root.rglob("*")) if p.is_file() and not p.name.startswith("."))
        return {str(path.relative_to(root)): path.read_bytes() for path in files}


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A home of two people who speak of the same things; only to be read."""
    found = World.at(tmp_path_factory.mktemp("made"))
    for user in ("nora", "ivo"):
        found.land(*log_of(user), name=f"{user}/log.jsonl")
    return found.make()


@pytest.fixture(scope="session")
def document(made: World) -> bytes:
    """What `made` holds of nora."""
    return made.export("nora")


@pytest.fixture
def world(made: World, tmp_path: Path) -> World:
    """A copy of `made`."""
    shutil.copytree(made.home.path, tmp_path / "home")
    shutil.rmtree(tmp_path / "home" / "record", ignore_errors=True)  # a home of its own, with its own salt
    (tmp_path / "home" / "log" / "manifest.jsonl").unlink()
    return World.at(tmp_path)


@pytest.fixture
def other(tmp_path: Path) -> Callable[[str], World]:
    """A home beside it, with nothing in it."""
    return lambda name: World.at(tmp_path / name)


@pytest.fixture
def memory() -> Callable[..., Memory]:
    """A memory of things with the given names, each liked by the person, and of one literal."""

    def make(*names: str, value: str = "forty", user_id: str = "nora") -> Memory:
        ids = [f"ent_{number:020x}" for number in range(len(names) + 1)]
        things = [_entity(thing, name) for thing, name in zip(ids[1:], names, strict=True)]
        facts = [
            _fact(number, ids[0], thing, name) for number, (thing, name) in enumerate(zip(ids[1:], names, strict=True))
        ]
        facts.append(_fact(len(names), ids[0], None, value))
        person = {**_entity(ids[0], "user"), "is_person_remembered": True}
        return Memory(user_id, TODAY, tuple(sorted([person, *things], key=lambda e: e["name"])), tuple(facts))

    return make


def _entity(entity_id: str, name: str) -> dict[str, Any]:
    return {
        "entity_id": entity_id, "name": name, "entity_type": "concept", "aliases": [name] if name else [],
        "qualifiers": [], "first_seen": "2026-03-02T08:00:00+00:00", "last_referenced": "2026-03-05T08:00:00+00:00",
        "mention_count": 2, "importance": 0.5, "certainty": 0.9, "privacy_level": "L2", "is_person_remembered": False,
    }  # fmt: skip


def _fact(number: int, subject: str, object_id: str | None, name: str) -> dict[str, Any]:
    return {
        "edge_id": f"edge_{number:020x}", "subject_id": subject, "object_id": object_id, "subject": "user",
        "relation": "likes" if object_id else "has_age", "object": name, "polarity": 1, "status": "active",
        "confidence": 0.9, "valid_from": "2026-03", "valid_to": None, "temporal_type": "trait", "over": name,
        "statement": name or None,
        "flags": [], "learned_at": "2026-03-02T08:00:00+00:00", "last_reinforced": "2026-03-02T08:00:00+00:00",
        "reinforcement_count": 0, "privacy_level": "L2",
        "provenance": [{"session_id": name or "s1", "turn_number": 0, "said_on": "2026-03-02"}],
    }  # fmt: skip
