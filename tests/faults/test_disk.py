"""A disk that is full, read-only or closed: one sentence and exit code 3, nothing half done, and readers go on."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

pytestmark = pytest.mark.faults

DISK_KB = 24_576
LEFT_KB = (0, 4, 16, 40, 80, 160, 320, 640, 1280, 2560)
"""Ten points at which a run meets the end of the disk, or does not."""
LIMIT_BYTES = (16_384, 65_536)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small disk in memory; skips where none may be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_KB}k,mode=0700", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no disk may be mounted here: run it as root")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@contextmanager
def filled(disk: Path, left_kb: int) -> Iterator[None]:
    """Leaves so much room and no more."""
    filler = disk / "filler"
    found = os.statvfs(disk)
    with filler.open("wb") as handle:
        os.posix_fallocate(handle.fileno(), 0, max(1, found.f_bavail * found.f_frsize - left_kb * 1024))
    yield
    filler.unlink()


def check_refused(done: "subprocess.CompletedProcess[str]") -> None:
    """One sentence and exit code 3, or nothing to say."""
    told = [line for line in done.stderr.splitlines() if line.startswith("em: ")]
    assert done.returncode in (0, 3), done.stderr
    assert len(told) == (done.returncode == 3), done.stderr
    assert "Traceback" not in done.stderr, done.stderr


@pytest.mark.parametrize("left_kb", LEFT_KB)
def test_a_run_on_a_full_disk_is_told_so_and_the_next_one_ends_it(
    made: Path, logs: Any, disk: Path, copy_of: Any, check_sound: Any, left_kb: int
) -> None:
    undisturbed = copy_of(made)
    assert undisturbed("run", logs["ivo"]).returncode == 0
    em = copy_of(made, disk / "home")
    before = em.document("state-hash")
    with filled(disk, left_kb):
        done = em("run", logs["ivo"])
        check_refused(done)
        if left_kb == 0:
            assert done.returncode == 3
            assert "make room" in done.stderr
            assert em.document("state-hash") == before
        assert em.document("facts", "--user", "ada")
    assert em("run", logs["ivo"]).returncode == 0
    assert em.document("state-hash") == undisturbed.document("state-hash")
    check_sound(em)


@pytest.mark.parametrize(
    "words",
    [
        ("land", "LOG"),
        ("forget", "--user", "ada", "--entity", "Torvald", "--yes"),
        ("correct", "--user", "ada", "--subject", "user", "--relation", "lives_in", "--object", "Lagos"),
        ("token", "create", "--user", "ada"),
    ],
    ids=lambda words: words[0],
)
def test_a_command_on_a_full_disk_does_all_or_nothing(
    made: Path, logs: Any, disk: Path, copy_of: Any, memory_of: Any, check_sound: Any, words: tuple[str, ...]
) -> None:
    words = tuple(str(logs["ivo"]) if word == "LOG" else word for word in words)
    undisturbed, em = copy_of(made), copy_of(made, disk / "home")
    for where in (undisturbed, em):
        with filled(disk, 0) if where is em else filled(disk, DISK_KB):
            done = where(*words)
            check_refused(done)
            assert done.returncode == (3 if where is em else 0)
    assert em(*words).returncode == 0
    for where in (undisturbed, em):
        assert where("run").returncode == 0
    assert memory_of(em) == memory_of(undisturbed)
    check_sound(em)


@pytest.mark.parametrize("limit", LIMIT_BYTES)
def test_a_file_that_may_not_grow_is_told_of(made: Path, logs: Any, copy_of: Any, check_sound: Any, limit: int) -> None:
    """What stands for a full disk where none can be mounted."""
    undisturbed, em = copy_of(made), copy_of(made, made.parent / f"limited-{limit}-{os.getpid()}")
    assert undisturbed("run", logs["ivo"]).returncode == 0
    check_refused(em("run", logs["ivo"], limit=limit))
    assert em("run", logs["ivo"]).returncode == 0
    assert em.document("state-hash") == undisturbed.document("state-hash")
    check_sound(em)


READING = (
    ("facts", "--user", "ada"), ("facts", "--user", "ada", "--as-of", "2026-03-05"),
    ("search", "where does Torvald work", "--user", "ada"), ("context", "where do I live", "--user", "ada"),
    ("bootstrap", "--user", "ada"), ("why-not", "aquarium", "--user", "ada"), ("infer", "--user", "ada"),
    ("gate", "as last time"), ("doctor",), ("state-hash",), ("verify-ledger",), ("check",),
    ("dead-letters", "list"), ("quarantine", "list"), ("token", "list"), ("settings",),
    ("forget", "--user", "ada", "--entity", "Torvald", "--dry-run"), ("repair",),
)  # fmt: skip
WRITING = (
    ("run",), ("land", "LOG"), ("forget", "--user", "ada", "--all", "--yes"), ("token", "create", "--user", "ada"),
    ("correct", "--user", "ada", "--subject", "user", "--relation", "lives_in", "--object", "Lagos"),
    ("snapshot", "--date", "2026-03-04"), ("export", "--user", "ada"),
)  # fmt: skip


@pytest.fixture
def read_only(made: Path, disk: Path, copy_of: Callable[..., Any]) -> Any:
    """A home on a disk that is mounted for reading alone."""
    em = copy_of(made, disk / "home")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    return em


def test_a_home_on_a_read_only_disk_can_be_read_and_says_so_to_writers(read_only: Any, logs: Any) -> None:
    edge_id = read_only.document("facts", "--user", "ada")[0]["edge_id"]
    for words in (*READING, ("why", edge_id)):
        done = read_only(*words)
        assert (done.returncode, "read-only" in done.stderr) == (0, False), (words, done.stderr)
        assert done.stdout or words[0] == "bootstrap", words
    for words in WRITING:
        done = read_only(*(logs["ivo"] if word == "LOG" else word for word in words))
        assert (done.returncode, done.stderr.count("\n")) == (3, 1), (words, done.stderr)
        assert "read-only" in done.stderr


MCP = (
    {"method": "initialize", "id": 1,
     "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
    {"method": "notifications/initialized"},
    {"method": "tools/call", "id": 2, "params": {"name": "em_query", "arguments": {"question": "Torvald"}}},
    {"method": "tools/call", "id": 3, "params": {"name": "em_context", "arguments": {"text": "where do I live"}}},
)  # fmt: skip


def test_agents_and_analysts_can_ask_a_home_on_a_read_only_disk(read_only: Any, root: Path, em_command: Any) -> None:
    import duckdb

    path = str(read_only.home / "snapshots" / "latest.duckdb")
    with duckdb.connect(path, read_only=True) as connection:
        assert connection.execute("SELECT count(*) FROM current_facts").fetchall()[0][0] > 0
    environment = {**os.environ, "PYTHONPATH": str(root)}
    command = [*em_command, "mcp", "--user", "ada", "--scope", "read", "--home", str(read_only.home)]
    process = subprocess.Popen(
        command, cwd=root, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin and process.stdout
    answers = {}
    for asked in MCP:
        process.stdin.write(orjson.dumps({"jsonrpc": "2.0", **asked}).decode() + "\n")
        process.stdin.flush()
        if "id" in asked:
            answer = orjson.loads(process.stdout.readline())
            answers[answer["id"]] = answer["result"]
    process.communicate()
    assert "Torvald" in str(answers[2]) and not answers[2].get("isError")
    assert not answers[3].get("isError")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can take a home away from somebody")
def test_a_home_without_permission_is_told_of(made: Path, copy_of: Any, logs: Any, root: Path, em_command: Any) -> None:
    if subprocess.run(["setpriv", "--version"], capture_output=True, check=False).returncode:
        pytest.skip("setpriv is not there")
    command = ["setpriv", "--reuid=65534", "--clear-groups", *em_command]
    environment = {**os.environ, "PYTHONPATH": str(root), "HOME": "/tmp"}
    started = subprocess.run([*command, "--help"], cwd="/", env=environment, capture_output=True, check=False)
    if started.returncode:
        pytest.skip("nobody but root can start the command from here")
    for words in (("facts", "--user", "ada"), ("land", str(logs["ivo"])), ("run",)):
        done = subprocess.run(
            [*command, *words, "--home", str(made)],
            cwd="/",
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr.count("\n")) == (3, 1), (words, done.stderr)
        assert "permission is denied" in done.stderr
