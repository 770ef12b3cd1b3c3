"""Parts of the landed log that are lost: doctor and run name them, nothing is folded away, a command accepts it."""

import shutil
from pathlib import Path

import orjson
import pytest

pytestmark = pytest.mark.slow

SAID = (
    {"content": "I live in Graz.", "session_id": "s1"},
    {"content": "My sister Dana works at the harbour.", "session_id": "s2"},
    {"content": "I like rhubarb.", "session_id": "s3"},
)


@pytest.fixture(scope="module")
def made(em, tmp_path_factory) -> Path:
    """A home in which ada said one thing a day."""
    folder = tmp_path_factory.mktemp("lost")
    rows = [
        {"user_id": "ada", "turn_number": 0, "role": "user", "timestamp": f"2026-03-0{n}T10:00:00Z", **said}
        for n, said in enumerate(SAID, start=1)
    ]
    (folder / "said.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)) + b"\n")
    assert em("run", folder / "said.jsonl", "--home", folder / "home").returncode == 0
    return folder


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made / "home", tmp_path / "home", symlinks=True))


def objects(em, home: Path) -> set[str]:
    done = em("facts", "--user", "ada", "--as-of", "2026-03-09", "--json", "--home", home)
    assert done.returncode == 0 or "is remembered" in done.stderr, done.stderr
    return {fact["object"] for fact in orjson.loads(done.stdout)}


def lose_a_day(home: Path) -> str:
    shutil.rmtree(home / "log" / "interactions" / "2026-03-02")
    return "log/interactions/2026-03-02/000001-*.jsonl is lost"


def lose_the_log(home: Path) -> str:
    shutil.rmtree(home / "log")
    return "log/manifest.jsonl: "


def lose_the_manifest(home: Path) -> str:
    (home / "log" / "manifest.jsonl").unlink()
    return "log/manifest.jsonl: "


def lose_a_day_before_there_was_a_manifest(home: Path) -> str:
    lose_the_manifest(home)
    (home / "record" / "log.head").unlink()
    lose_a_day(home)
    return "log/interactions/2026-03-02 is lost"


LOSSES = [lose_a_day, lose_the_log, lose_the_manifest, lose_a_day_before_there_was_a_manifest]


@pytest.mark.parametrize("lose", LOSSES, ids=lambda lose: lose.__name__)
def test_a_loss_is_named_and_nothing_is_folded_away(em, home: Path, lose) -> None:
    before = objects(em, home)
    named = lose(home)
    for command in (
        ("doctor",),
        ("run",),
        ("run", "--full"),
        ("repair",),
        ("forget", "--user", "ada", "--entity", "Graz", "--yes"),
    ):
        done = em(*command, "--home", home, COLUMNS="1000")
        assert done.returncode == (1 if command[0] in ("doctor", "repair") else 2)
        assert named in done.stderr
    assert "em restore DIR --lost" in em("run", "--home", home).stderr
    assert "em repair --apply --accept-loss" in em("run", "--home", home).stderr
    assert objects(em, home) == before
    assert "--accept-loss" in em("doctor", "--home", home, "--json").stdout


def test_what_lands_meanwhile_is_kept_and_not_folded(em, home: Path, native) -> None:
    named = lose_a_day(home)
    done = em(
        "run",
        native({"content": "I play the oboe.", "session_id": "s9", "timestamp": "2026-03-08T10:00:00Z"}),
        "--home",
        home,
    )
    assert done.returncode == 2
    assert named in done.stderr
    assert "oboe" not in objects(em, home)
    assert em("repair", "--apply", "--accept-loss", "--home", home).returncode == 0
    assert em("run", "--home", home).returncode == 0
    assert "oboe" in objects(em, home)


@pytest.mark.parametrize("lose", LOSSES, ids=lambda lose: lose.__name__)
def test_a_loss_that_is_accepted_leaves_the_memory_of_the_log_that_is_left(em, home: Path, lose) -> None:
    lose(home)
    done = em("repair", "--apply", "--accept-loss", "--home", home)
    assert done.returncode == 0, done.stderr
    assert "accepted the loss of" in done.stdout
    assert em("run", "--home", home).returncode == 0
    assert em("doctor", "--home", home).returncode == 0, em("doctor", "--home", home).stdout
    assert em("verify-ledger", "--home", home).returncode == 0
    left = {lose_the_log: set(), lose_the_manifest: {"Graz", "harbour", "rhubarb", "Dana"}}.get(
        lose, {"Graz", "rhubarb"}
    )
    assert {one.casefold() for one in objects(em, home)} <= {one.casefold() for one in left} | {"the harbour"}
    assert ("Graz" in objects(em, home)) == (lose is not lose_the_log)
    again = home.parent / "again"
    shutil.copytree(home / "log", again / "log")
    if lose is not lose_the_log:
        shutil.copytree(home / "record", again / "record")
        assert em("run", "--home", again).returncode == 0
        assert em("state-hash", "--home", again).stdout == em("state-hash", "--home", home).stdout


def test_a_segment_of_several_is_missed(em, home: Path, native) -> None:
    log = native({"content": "I play the oboe.", "session_id": "s9", "timestamp": "2026-03-02T11:00:00Z"})
    assert em("run", log, "--home", home).returncode == 0
    next((home / "log" / "interactions" / "2026-03-02").glob("000002-*")).unlink()
    done = em("run", "--home", home)
    assert done.returncode == 2
    assert "log/interactions/2026-03-02/000002-*.jsonl is lost" in done.stderr
    assert "oboe" in objects(em, home)
    assert em("land", log, "--home", home).returncode == 0  # its source again makes the very segment
    assert em("run", "--home", home).returncode == 0
    assert "oboe" in objects(em, home)


def test_a_loss_can_be_accepted_only_together_with_mending(em, home: Path) -> None:
    done = em("repair", "--accept-loss", "--home", home)
    assert done.returncode == 2
    assert "--apply" in done.stderr


def test_accepting_where_nothing_is_lost_changes_nothing(em, home: Path) -> None:
    before = (home / "log" / "manifest.jsonl").read_bytes()
    assert em("repair", "--apply", "--accept-loss", "--home", home).returncode == 0
    assert (home / "log" / "manifest.jsonl").read_bytes() == before


def test_a_day_that_an_erasure_emptied_is_not_missed(em, home: Path) -> None:
    assert em("forget", "--user", "ada", "--session", "s2", "--yes", "--home", home).returncode == 0
    assert not (home / "log" / "interactions" / "2026-03-02").exists()
    assert em("run", "--home", home).returncode == 0
    assert em("doctor", "--home", home).returncode == 0
