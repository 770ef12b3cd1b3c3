"""A small home of real steps, and a webhook and a mailbox that hear what is told of it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest

from em_pipelines.governance.alerts.alert import Look
from em_pipelines.governance.alerts.looking import Depth, Situation, look_at
from em_pipelines.governance.alerts.settings import AlertSettings
from em_pipelines.governance.alerts.telling import Sent, Sink, tell
from em_pipelines.home import Home
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.readings import Extraction, Issue, LocalExtractor, Outcome, Segment
from em_pipelines.settings import load_settings
from resources.alert_sinks import WEBHOOK_VARIABLE, open_sinks
from tests.alert_servers.servers import Hook, Mailbox, mail_server, webhook

DAY = "2026-03-01"


class Reader(LocalExtractor):
    """Reads nothing; with `is_down` as if a model did not answer."""

    name = "none"
    version = "1"
    is_down = False

    def __init__(self, *_: object) -> None:
        pass

    def extract(self, segment: Segment) -> Extraction:
        issues = [Issue(turn.turn_number, "pending", "breaker_open", "") for turn in segment.turns]
        return (
            Extraction(issues=issues, outcome=Outcome.PENDING, reason="breaker_open") if self.is_down else Extraction()
        )


@dataclass
class World:
    """A home, and what is done to it and asked of it."""

    home: Pipeline

    def land(self, n_messages: int, session: str = "s1") -> None:
        """Lands messages of one day."""
        rows = (
            {"user_id": "ada", "session_id": session, "turn_number": number, "role": "user", "content": "I like tea.",
             "timestamp": f"{DAY}T10:{number % 60:02}:00Z"}
            for number in range(n_messages)
        )  # fmt: skip
        assert self.land_rows(session, rows) == n_messages

    def land_rows(self, name: str, rows: Iterable[dict[str, object]]) -> int:
        """Lands native records; returns how many did."""
        path = self.home.path.parent / f"{name}.jsonl"
        path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
        return land([path], self.home.store.log, now=datetime.now(UTC), settings=self.home.settings.landing).n_landed

    def run(self, *names: str) -> None:
        """Runs steps as a run does, all of them unless some are named."""
        for step in self.home.steps.values():
            if not names or step.name in names:
                with self.home.lock(f"step-{step.name}"):
                    self.home.store.run_days(step, self.home.store.days(step))

    def look(self, depth: Depth = Depth.DUE, *, is_graph_set: bool = False, **later: float) -> Look:
        """Looks so much later than now, in minutes, hours or days."""
        now, settings = datetime.now(UTC) + timedelta(**later), self.home.settings
        look = look_at(Situation(self.home, now, settings.alerts, settings.llm, is_graph_set), depth)
        assert look.problems == ()
        return look

    def with_settings(self, **settings: object) -> "World":
        """The same home under other settings of alerts or models."""
        return World(Pipeline(load_settings(home=self.home.path, **settings)))


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> type[Reader]:
    monkeypatch.setattr("em_pipelines.extraction.rules.extractor.RulesExtractor", Reader)
    monkeypatch.setattr(Reader, "is_down", False)
    return Reader


@pytest.fixture
def world(reader: type[Reader], home_path: Path) -> World:
    world = World(Pipeline(load_settings(home=home_path)))
    world.land(3)
    world.run()
    world.home.infer()
    world.home.refresh_proactive()
    return world


@dataclass
class Ears:
    """Who hears of alerts: a webhook and a mailbox, and the log as always."""

    hook: Hook
    box: Mailbox
    settings: AlertSettings

    @property
    def sinks(self) -> list[Sink]:
        return open_sinks(self.settings, {WEBHOOK_VARIABLE: self.hook.address})

    @property
    def heard(self) -> tuple[list[str], list[str]]:
        """First lines at the webhook, without marks, and subjects in the mailbox; both are forgotten."""
        lines = [text.splitlines()[0].split("*")[1] for text in self.hook.posted]
        subjects = [subject.removeprefix("em ") for subject in self.box.subjects]
        self.hook.posted.clear()
        self.box.mails.clear()
        return lines, subjects

    def tell(self, home: Home, look: Look, at: datetime | None = None) -> Sent:
        return tell(home, look, self.sinks, at or datetime.now(UTC), self.settings.repeat_hours)


@pytest.fixture
def ears() -> Iterator[Ears]:
    with webhook() as hook, mail_server() as box:
        settings = AlertSettings(
            smtp_server="127.0.0.1", smtp_port=box.port, smtp_from="em@x.test", smtp_to="me@x.test"
        )
        yield Ears(hook, box, settings)
