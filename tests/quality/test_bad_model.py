"""A model that goes bad from one day to the next, over a real endpoint: the first run with its answers fails the check
of that name, and mailbox and webhook have it, once."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import orjson
import pytest

from em_pipelines.definitions import build_definitions
from em_pipelines.schema.readings import Extraction
from em_pipelines.settings import load_settings
from resources.alert_sinks import WEBHOOK_VARIABLE
from resources.alerts import AlertsResource
from resources.home import HomeResource
from sensors.alerts import alerts_sensor
from tests.alert_servers.servers import Hook, Mailbox, mail_server, webhook
from tests.interfaces.cli.conftest import ROOT, call_here
from tests.model_server import oracle
from tests.model_server.script import Call, Script, Step, answer
from tests.model_server.server import ModelServer

FIRST = date(2026, 3, 2)
N_DAYS, N_MESSAGES = 8, 24
THINGS = ["tea", "rowing", "chess", "oboes", "kites", "maps", "clay", "ferns", "plums", "tiles", "bells", "wool"]
pytestmark = pytest.mark.slow


def inventing(call: Call) -> Step:
    """A model that answers with what nobody said."""
    found = oracle.reading(call)
    read: dict[str, Any] = orjson.loads(found.text(call))
    for number, relation in enumerate(read["relations"]):
        relation["object"] = f"Zorblax {number} Quindle"
    return answer({**read, "entities": [], "tone": [], "times": []})


def unsure(call: Call) -> Step:
    """A model that takes everything for a guess."""
    read: dict[str, Any] = orjson.loads(oracle.reading(call).text(call))
    tone = [{"r": n, "hedge": "strong", "flags": []} for n in range(len(read["relations"]))]
    return answer({**read, "tone": tone})


def naming(call: Call) -> Step:
    """A model that takes each word for the name of something."""

    def words(index: int, speaker: str, text: str, day: datetime) -> Extraction:
        found = oracle.read_by_rules(index, speaker, text, day)
        one = found.mentions[0]
        return replace(found, mentions=[replace(one, name=word) for word in re.findall(r"\w+", text)])

    return answer(oracle.answered(call, words))


class Watched:
    """A home that a model reads, a day a run, watched by the sensor of alerts."""

    def __init__(self, folder: Path, hook: Hook, box: Mailbox) -> None:
        self.folder, self.hook, self.box = folder, hook, box
        self.home = folder / "home"
        self.cursor: str | None = None
        alerts = {"smtp_server": "127.0.0.1", "smtp_port": box.port, "smtp_from": "memory@here.test",
                  "smtp_to": "ops@here.test"}  # fmt: skip
        self.settings = load_settings(home=self.home, alerts=alerts)
        graph = build_definitions(self.settings).resolve_asset_graph()
        self.sensor = alerts_sensor(sorted(graph.asset_check_keys, key=str))

    def run(self, number: int, script: Script) -> int:
        """What is said on a day, landed and read by the model; the exit code."""
        day, log = FIRST + timedelta(days=number), self.folder / f"{number}.jsonl"
        said = [
            {"user_id": "ada", "session_id": f"{number}-{n // 6}", "turn_number": n % 6, "role": "user",
             "content": f"I like {THINGS[n % len(THINGS)]}." if n % 3 else f"I own a tandem number {n}.",
             "timestamp": datetime(day.year, day.month, day.day, 10, n, tzinfo=UTC).isoformat()}
            for n in range(N_MESSAGES)
        ]  # fmt: skip
        log.write_bytes(b"\n".join(map(orjson.dumps, said)))
        with ModelServer(script) as server:
            around = {"EM_LLM_BASE_URL": server.base_url, "EM_LLM_API_KEY": "sk-test-of-a-bad-model",
                      "EM_EXTRACTOR": "llm", "EM_LLM__LADDER__DELAYS_SECONDS": "[0,0,0]"}  # fmt: skip
            return call_here(["run", str(log), "--home", str(self.home)], ROOT, around).returncode

    def tick(self) -> list[str]:
        """The subjects of the mails that a tick of the sensor sends."""
        n_before = len(self.box.subjects)
        resources = {"alerts": AlertsResource(), "home": HomeResource.of(self.settings)}
        with (
            dg.DagsterInstance.from_config(str(self.home / "dagster")) as instance,
            dg.build_sensor_context(instance=instance, cursor=self.cursor, resources=resources) as context,
        ):
            self.sensor(context)
            self.cursor = context.cursor
        return self.box.subjects[n_before:]


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    with webhook() as hook, mail_server() as box:
        monkeypatch.setenv(WEBHOOK_VARIABLE, hook.address)
        yield Watched(tmp_path, hook, box)


@pytest.mark.parametrize(
    ("script", "check"),
    [(inventing, "hallucination_rate on "), (unsure, "confidence_drift on "), (naming, "entities_drift on ")],
    ids=["that invents", "that is unsure", "that names everything"],
)
def test_a_model_that_goes_bad_is_in_the_mailbox_after_the_first_run(
    script: Callable[[Call], Step], check: str, watched: Watched
) -> None:
    for number in range(N_DAYS):
        assert watched.run(number, oracle.reading) == 0
    assert watched.tick() == []

    watched.run(N_DAYS, script)
    told = watched.tick()
    assert any(f"the check {check}" in one for one in told), told
    assert any(f"the check {check}" in text for text in watched.hook.posted)
    assert watched.tick() == []
