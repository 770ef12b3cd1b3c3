"""The profiles of the model's reading: chosen by a setting, and compared by `em diff`."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.interfaces.cli.conftest import ROOT, call_here
from tests.model_server.recorded import Recording
from tests.model_server.script import Call, Step
from tests.model_server.server import ModelServer

SAID = "I moved to Tartu last Friday because my sister Odalys lives there."
LEAN = {"subject": "user", "relation": "lives_in", "object": "Tartu", "statement": None}
FULL = {**LEAN, "statement": "user moved to Tartu on 3 May 2024 because Odalys lives there"}
SISTER = {"subject": "user", "relation": "sibling_of", "object": "Odalys", "statement": "Odalys is user's sister"}


def recording(*relations: dict[str, Any]) -> Recording:
    place = {"name": "Tartu", "type": "place"}
    return Recording([{"said": SAID, "entities": [place], "relations": [*relations], "tone": [], "times": []}])


def by_profile(call: Call) -> Step:
    """A model that answers a profile with what it asks for."""
    assert call.schema is not None
    relation = call.schema["schema"]["properties"]["relations"]["items"]["properties"]
    is_full = relation["statement"] == {"type": "string"}
    return (recording(FULL, SISTER) if is_full else recording(LEAN))(call)


def run(server: ModelServer, home: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    way = {"EM_LLM_BASE_URL": server.base_url, "EM_LLM_API_KEY": "sk-test-1234567890abcdef", **environment}
    return call_here(["run", *words, "--extractor", "llm", "--home", str(home)], ROOT, way)


def test_two_profiles_of_one_log_are_compared(tmp_path: Path, native, em) -> None:
    log = native({"content": SAID, "timestamp": "2024-05-09T10:00:00Z"})
    with ModelServer(by_profile) as server:
        lean = run(server, tmp_path / "lean", str(log), EM_READING__PROFILE="lean")
        assert lean.returncode == 0, lean.stderr
        shutil.copytree(tmp_path / "lean", tmp_path / "full", symlinks=True)
        full = run(server, tmp_path / "full")
        assert full.returncode == 0, full.stderr
        assert server.n_calls == 2
    latest = tmp_path / "full" / "snapshots" / "latest.duckdb"
    done = em("diff", "latest", latest, "--json", "--home", tmp_path / "lean")
    assert (done.returncode, done.stderr) == (0, "")
    found = orjson.loads(done.stdout)
    assert [(fact["relation"], fact["object"], fact["is_late"]) for fact in found["learned"]] == [
        ("sibling_of", "Odalys", True)
    ]
    assert found["forgotten"] == []
    asked = ("facts", "--user", "ada", "--as-of", "2024-05-09", "--json")
    facts = orjson.loads(em(*asked, "--home", tmp_path / "full").stdout)
    assert {fact["relation"]: fact["statement"] for fact in facts} == {
        "lives_in": FULL["statement"],
        "sibling_of": SISTER["statement"],
    }


@pytest.mark.parametrize("value", ["fuller", "", "FULL", "1"])
def test_a_profile_that_is_none_is_refused_with_those_there_are(value: str, em) -> None:
    done = em("settings", EM_READING__PROFILE=value)
    assert done.returncode == 2
    assert all(word in done.stderr for word in ("reading.profile", "lean", "full"))
    assert done.stderr.count("\n") == 1
