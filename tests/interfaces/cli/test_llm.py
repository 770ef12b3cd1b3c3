"""`em run --extractor llm` as people meet it: first runs, faults, kills, budgets, dead letters, over a real server."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import duckdb
import orjson
import pytest

from tests.interfaces.cli.conftest import ROOT, call_here
from tests.model_server import oracle
from tests.model_server.script import Call, Script, Step, answer, failed, with_faults
from tests.model_server.server import ModelServer

KEY = "sk-test-1234567890abcdef"
TEXTS = [
    "I live in Tartu.", "I love rowing.", "My sister Odalys works as a baker.", "I own a tandem.",
    "I no longer eat fish.", "Odalys lives in Narva.", "I think I like chess.", "My brother Wendell has a dog.",
    "I work at Kelluke as a carpenter.", "We plan to visit Visby.", "I speak Estonian.", "I moved to Riga in January.",
]  # fmt: skip
FAST = {
    "EM_LLM__LADDER__DELAYS_SECONDS": "[0,0,0]",
    "EM_LLM__SMALL_BREAKER__N_FAILURES": "3",
    "EM_LLM__SMALL_BREAKER__OPEN_SECONDS": "0.05",
}
"""No waiting between rungs, nor for breakers: what waits is tested with a clock of its own."""
N_DAYS = 3
Run = Callable[..., subprocess.CompletedProcess[str]]


def lines(texts: list[str]) -> list[dict[str, object]]:
    """One conversation a text, spread over N_DAYS days."""
    return [
        {"user_id": "ada", "session_id": f"s{n}", "turn_number": 0, "role": "user", "content": text,
         "timestamp": f"2026-03-0{1 + n % N_DAYS}T10:00:00Z"}
        for n, text in enumerate(texts)
    ]  # fmt: skip


@pytest.fixture
def log(native: Callable[..., Path]) -> Path:
    """Twelve conversations."""
    return native(*lines(TEXTS))


@pytest.fixture
def served() -> Iterator[Callable[[Script], ModelServer]]:
    """script → a server that listens."""
    with ExitStack() as stack:
        yield lambda script=oracle.reading: stack.enter_context(ModelServer(script))


@pytest.fixture
def by_model(em: Run, tmp_path: Path) -> Run:
    """Runs `em` with the llm extractor over a server; the home is `home` of the test's folder unless it is given."""

    def run(server: ModelServer, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        found = {**around(server, tmp_path / "home"), **environment}
        return call_here([str(word) for word in arguments], ROOT, found)

    return run


def around(server: ModelServer, home: Path) -> dict[str, str]:
    """The variables of a run over a server."""
    return {
        "EM_LLM_BASE_URL": server.base_url,
        "EM_LLM_API_KEY": KEY,
        "EM_EXTRACTOR": "llm",
        "EM_HOME": str(home),
        **FAST,
    }


def state(em: Run, home: Path, **options: str) -> str:
    return orjson.loads(em("state-hash", "--home", home, "--json", EM_EXTRACTOR="llm", **options).stdout)["all"]


def unread(home: Path) -> dict[str, int]:
    """Messages by the issue that says that they were not read."""
    query = f"""SELECT issue, count(DISTINCT message_id) FROM read_parquet('{home}/lake/extraction_issues/*.parquet')
                WHERE issue IN ('pending', 'dead_letter') GROUP BY issue"""
    return dict(duckdb.sql(query).fetchall())


def n_accounted(home: Path) -> int:
    """Messages that have a mention, a claim or an issue."""
    lake = home / "lake"
    tables = " UNION ALL ".join(
        f"SELECT message_id FROM read_parquet('{lake}/{name}/*.parquet')" for name in ("mentions", "extraction_issues")
    )
    ((n_messages,),) = duckdb.sql(f"SELECT count(DISTINCT message_id) FROM ({tables})").fetchall()
    return n_messages


@dataclass(frozen=True)
class Clean:
    """A run over the log in which nothing goes wrong: its home and log, what it asked, and the state that it gives."""

    home: Path
    log: Path
    n_calls: int
    duplicates: dict[str, int]
    state: str


@pytest.fixture(scope="session")
def clean(em: Run, tmp_path_factory: pytest.TempPathFactory) -> Clean:
    """That run, made once."""
    folder = tmp_path_factory.mktemp("clean")
    home, log = folder / "home", folder / "log.jsonl"
    log.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines(TEXTS)))
    with ModelServer(oracle.reading) as server:
        done = call_here(["run", str(log)], ROOT, around(server, home))
    assert done.returncode == 0, done.stderr
    return Clean(home, log, server.n_calls, server.duplicates, state(em, home))


@pytest.fixture(scope="session")
def clean_hash(clean: Clean) -> str:
    """The state that a run over the log gives when nothing goes wrong."""
    return clean.state


@pytest.mark.slow
def test_a_first_run_asks_once_a_conversation_and_a_second_asks_nothing(clean, by_model, served, tmp_path, em) -> None:
    assert (clean.n_calls, clean.duplicates) == (len(TEXTS), {})
    shutil.copytree(clean.home, tmp_path / "home", symlinks=True)
    facts = orjson.loads(em("facts", "--user", "ada", "--json", "--home", tmp_path / "home").stdout)
    assert {("user", "lives_in", "Riga"), ("user", "owns", "tandem")} <= {
        (f["subject"], f["relation"], f["object"]) for f in facts
    }
    server = served()
    second = by_model(server, "run", clean.log)
    assert (second.returncode, server.n_calls) == (0, 0)
    assert state(em, tmp_path / "home") == clean.state


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_faults_cost_nothing_but_time(by_model, served, log, tmp_path, em, clean_hash, seed) -> None:
    server = served(with_faults(oracle.reading, seed=seed, failing_share=0.1, truncated_share=0.2))
    home = tmp_path / "home"
    done = by_model(server, "run", log)
    for _ in range(6):
        assert "Traceback" not in done.stderr
        assert n_accounted(home) == len(TEXTS)
        if done.returncode == 0 and not unread(home):
            break
        by_model(server, "dead-letters", "replay", "--all")
        done = by_model(server, "run")
    assert (done.returncode, unread(home)) == (0, {})
    assert server.n_calls > len(TEXTS), "there were faults"
    assert state(em, home) == clean_hash


@pytest.mark.slow
def test_an_endpoint_that_is_down_leaves_everything_pending_and_the_snapshot_published(
    by_model, served, log, tmp_path, em, clean_hash
) -> None:
    home = tmp_path / "home"
    server = served(lambda call: failed())
    done = by_model(server, "run", log)
    assert done.returncode == 3, done.stderr
    assert f"{len(TEXTS)} messages wait to be read by the model" in done.stderr
    assert done.stderr.count("em: ") == 1
    assert unread(home) == {"pending": len(TEXTS)}
    assert (home / "snapshots" / "latest.duckdb").exists()
    assert failed_checks(home) == {"extraction_complete"}
    assert em("doctor", "--home", home, EM_EXTRACTOR="llm").returncode == 1
    server.script = oracle.reading
    again = by_model(server, "run")
    assert (again.returncode, unread(home), state(em, home)) == (0, {}, clean_hash), again.stderr
    assert by_model(server, "run").returncode == 0


def failed_checks(home: Path) -> set[str]:
    """Names of the asset checks that failed in any run of a home."""
    import dagster as dg

    with dg.DagsterInstance.from_config(str(home / "dagster")) as instance:
        events = [e for run in instance.get_runs() for e in instance.all_logs(run.run_id)]
    checks = [
        e.dagster_event.asset_check_evaluation_data
        for e in events
        if e.dagster_event and e.dagster_event.event_type is dg.DagsterEventType.ASSET_CHECK_EVALUATION
    ]
    return {check.check_name for check in checks if not check.passed}


def killed_when(
    is_time: Callable[[], bool], em_command, root: Path, environment: dict[str, str], *words: object
) -> None:
    """Starts `em` and kills it -9 as soon as it is time."""
    process = subprocess.Popen(
        [*em_command, *map(str, words)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 90
    while not is_time() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    was_alive = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert was_alive, "it ended before it was time"


@pytest.mark.slow
def test_killed_in_the_middle_nothing_that_was_answered_is_asked_again(
    by_model, served, log, tmp_path, em, em_command, root, clean_hash
) -> None:
    def stuck(call: Call) -> Step:
        return oracle.reading(call) if call.number <= 5 else Step(kind="hang")

    server = served(stuck)
    environment = {**around(server, tmp_path / "home"), "EM_LLM__MAX_CONCURRENT_CALLS": "1"}
    killed_when(lambda: server.n_calls >= 6, em_command, root, environment, "run", log)
    answered = {call.prompt_key for call in server.calls[:5]}
    server.script = oracle.reading
    done = by_model(server, "run", log)
    assert done.returncode == 0, done.stderr
    assert not answered.intersection(call.prompt_key for call in server.calls[5:])
    assert server.n_calls == 6 + len(TEXTS) - 5
    assert state(em, tmp_path / "home") == clean_hash


@pytest.mark.slow
def test_a_batch_is_sent_by_one_run_and_read_by_the_next(by_model, served, log, tmp_path, em, clean_hash) -> None:
    server = served()
    first = by_model(server, "run", log, EM_LLM_MODE="batch")
    assert first.returncode == 3, first.stderr
    assert "waits for a batch" in first.stderr
    assert unread(tmp_path / "home") == {"pending": len(TEXTS)}
    done = by_model(server, "run", EM_LLM_MODE="batch")
    for _ in range(4):
        if done.returncode == 0:
            break
        done = by_model(server, "run", EM_LLM_MODE="batch")
    assert (done.returncode, unread(tmp_path / "home")) == (0, {}), done.stderr
    assert (server.n_calls, server.duplicates) == (len(TEXTS), {})
    assert all(call.in_batch for call in server.calls)
    assert state(em, tmp_path / "home") == clean_hash


@pytest.mark.slow
def test_killed_between_sending_and_collecting_a_batch_is_sent_once(
    by_model, served, log, tmp_path, em, em_command, root, clean_hash
) -> None:
    server = served()
    environment = {**around(server, tmp_path / "home"), "EM_LLM_MODE": "batch"}
    killed_when(lambda: "POST /v1/batches" in server.requests, em_command, root, environment, "run", log)
    done = by_model(server, "run", log, EM_LLM_MODE="batch")
    for _ in range(4):
        if done.returncode == 0:
            break
        assert done.returncode == 3, done.stderr
        done = by_model(server, "run", EM_LLM_MODE="batch")
    assert done.returncode == 0
    assert server.requests.count("POST /v1/batches") == 1
    assert (server.n_calls, server.duplicates) == (len(TEXTS), {})
    assert state(em, tmp_path / "home") == clean_hash


@pytest.mark.slow
def test_a_spent_budget_defers_the_rest(by_model, served, log, tmp_path, em, clean_hash) -> None:
    server = served()
    done = by_model(server, "run", log, EM_LLM__BUDGET__MAX_CALLS_A_NIGHT="5")
    assert (done.returncode, server.n_calls) == (3, 5)
    assert "the budget of 5 calls a night is spent" in done.stderr
    assert unread(tmp_path / "home") == {"pending": len(TEXTS) - 5}
    assert by_model(server, "run").returncode == 0
    assert (server.n_calls, state(em, tmp_path / "home")) == (len(TEXTS), clean_hash)


def test_without_a_key_it_is_wrong_use_and_the_sentence_names_the_variable(log, tmp_path) -> None:
    done = call_here(["run", str(log), "--extractor", "llm", "--home", str(tmp_path / "home")], ROOT, {})
    assert done.returncode == 2, done.stderr
    assert "EM_LLM_API_KEY" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.strip().count("\n") == 0


@pytest.mark.slow
def test_a_conversation_without_a_usable_answer_is_listed_shown_and_replayed(
    by_model, served, log, tmp_path, em, clean_hash
) -> None:
    def script(call: Call) -> Step:
        return answer("no JSON, sorry") if "tandem" in call.prompt else oracle.reading(call)

    server = served(script)
    home = tmp_path / "home"
    done = by_model(server, "run", log)
    assert done.returncode == 1, done.stderr
    assert "1 message could not be read" in done.stderr
    assert unread(home) == {"dead_letter": 1}
    (letter,) = orjson.loads(by_model(server, "dead-letters", "list", "--json").stdout)
    assert (letter["user_id"], letter["session_id"], letter["reason"]) == ("ada", "s3", "unusable_answer")
    shown = by_model(server, "dead-letters", "show", letter["dead_letter_id"][:12])
    assert (shown.returncode, "s3" in shown.stdout) == (0, True)
    assert by_model(server, "dead-letters", "discard", letter["dead_letter_id"]).returncode == 2
    n_asked = server.n_calls
    assert by_model(server, "run").returncode in {0, 1}
    assert server.n_calls == n_asked, "a dead letter waits for a replay"
    server.script = oracle.reading
    given = by_model(server, "dead-letters", "replay", letter["dead_letter_id"], "--json")
    assert orjson.loads(given.stdout)["given_back"] == [letter["dead_letter_id"]]
    assert by_model(server, "run").returncode == 0
    assert (server.n_calls, unread(home), state(em, home)) == (n_asked + 1, {}, clean_hash)
    assert orjson.loads(by_model(server, "dead-letters", "list", "--json").stdout) == []
