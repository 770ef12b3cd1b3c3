"""Whether to look into memory, and how often that was so."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from em_pipelines.interfaces.cli.app import app
from em_pipelines.retrieval.recall_gate import Reason, Situation, recall


@pytest.mark.parametrize(
    ("situation", "reason"),
    [
        (Situation("Do it the same way as last time."), Reason.LAST_TIME),
        (Situation("What did we decide about the boat?"), Reason.LAST_TIME),
        (Situation("Do you remember Dana's address?", confidence=1.0), Reason.LAST_TIME),
        (Situation("Run the tests.", is_error_retry=True), Reason.ERROR_RETRY),
        (Situation("Run the tests.", confidence=0.84), Reason.UNSURE),
        (Situation("Run the tests.", confidence=0.85), Reason.NOT_NEEDED),
        (Situation("Which port?", rules_say="80", model_says="443"), Reason.DISSONANCE),
        (Situation("Which port?", rules_say="Port 80 ", model_says="port  80"), Reason.NOT_NEEDED),
        (Situation("Which port?", rules_say="80"), Reason.NOT_NEEDED),
        (Situation("The last bus leaves at nine, what time is it?"), Reason.NOT_NEEDED),
        (Situation(""), Reason.NOT_NEEDED),
    ],
)
def test_memory_is_asked_for_a_reason(situation: Situation, reason: Reason) -> None:
    assert recall(situation) is reason


def gate(home: Path, *arguments: str) -> object:
    done = CliRunner().invoke(app, ["gate", *arguments, "--home", str(home), "--json"], catch_exceptions=False)
    return json.loads(done.output)


def test_decisions_are_counted_and_their_texts_are_not_kept(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert gate(home, "--rate") == []
    assert gate(home, "as last time, heliotrope") == {"recall": True, "reason": "last_time"}
    for _ in range(3):
        assert gate(home, "heliotrope", "--confidence", "0.9") == {"recall": False, "reason": "not_needed"}
    (rate,) = gate(home, "--rate")
    assert (rate["asked"], rate["recalled"], rate["rate"]) == (4, 1, 0.25)
    assert all(b"heliotrope" not in path.read_bytes() for path in home.rglob("*") if path.is_file())


def test_wrong_use_is_said() -> None:
    assert CliRunner().invoke(app, ["gate"]).exit_code != 0
    assert CliRunner().invoke(app, ["gate", "x", "--confidence", "2"]).exit_code != 0
