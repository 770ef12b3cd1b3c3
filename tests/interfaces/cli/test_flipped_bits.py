"""A bit that is flipped in any file of a home: every command gives what it gave, or a refusal that names the file and
what to do; and the memory that is left is the one of before, or cannot be had at all."""

import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import orjson
import pytest

ROUNDS = 220
SEED = 2026
SAID = {
    "ada": (
        "I live in Graz.",
        "My sister Dana plays the oboe.",
        "I like rhubarb cake.",
        "Torvald works at the harbour.",
    ),
    "bo": ("I like gooseberries.", "I have moved to Linz."),
}
ALIASES = "ada:\n  - name: Dana\n    aliases: [Danita]\n"
REMEDY = re.compile(r"`em [a-z]|backup|delete (it|the file)|move (it|the file) away|em\.yaml|see docs/|see `em ")


class Kind(NamedTuple):
    """Files by patterns below the home, and the commands that show what becomes of them."""

    patterns: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]


FACTS = ("facts", "--user", "ada", "--as-of", "2026-03-09", "--json")
SEARCH = ("search", "who plays the oboe", "--user", "ada", "--as-of", "2026-03-09", "--json")
CONTEXT = ("context", "Where do I live?", "--user", "ada", "--as-of", "2026-03-09")
AGAIN = ("land", "said.jsonl", "--json")
DIFF = ("diff", "2026-03-04", "latest", "--json")
HASH = ("state-hash", "--json")
KINDS = {
    "log": Kind(
        ("log/[a-z]*_*/*/*.jsonl", "log/interactions/*/*.jsonl", "log/feedback/*/*.jsonl"), (("run", "--full"),)
    ),
    "manifest": Kind(("log/manifest.jsonl", "record/log.head"), (FACTS, ("run",), AGAIN)),
    "partitions": Kind(("lake/*/*.parquet",), (FACTS, HASH, ("run",))),
    "states": Kind(("lake/edges/*.parquet", "lake/entities/*.parquet"), (FACTS, SEARCH, CONTEXT)),
    "packs": Kind(("packs/*/*", "packs/*/*/*"), (SEARCH, CONTEXT)),
    "snapshots": Kind(("snapshots/*.duckdb",), (("run",), DIFF)),
    "ledger": Kind(("record/ledger.*l", "record/ledger.head"), (("verify-ledger",),)),
    "tombstones": Kind(("record/tombstones.jsonl",), (AGAIN, ("run",))),
    "salt": Kind(("record/salt",), (AGAIN, ("run",), SEARCH)),
    "tokens": Kind(("record/tokens.jsonl",), (("token", "list", "--json"), AGAIN)),
    "dead letters": Kind(("log/dead_letters/*/*.jsonl",), (("dead-letters", "list", "--json"), ("run", "--full"))),
    "notes": Kind(
        (
            "lake/.current.json",
            "lake/.footers.json",
            "log/.sessions.json",
            "packs/built.json",
            "snapshots/.digests.json",
        ),
        (FACTS, AGAIN, ("run",), HASH),
    ),
    "certificates": Kind(("record/certificates/*.json",), (FACTS, ("run",))),
    "aliases": Kind(("aliases.yaml",), (("run",),)),
    "settings": Kind(("../em.yaml",), (FACTS,)),
}
MAY_SAY_OTHERWISE = ("aliases", "settings")
"""What people write by hand: another word in it is theirs, as long as it can be read."""


@pytest.fixture(scope="module")
def made(em, tmp_path_factory) -> Path:
    """A folder with em.yaml, a log and a home: two people, a correction, an erasure, a dead letter, two snapshots."""
    folder = tmp_path_factory.mktemp("whole")
    lines = [
        orjson.dumps(
            {
                "user_id": user, "session_id": f"s{n}", "turn_number": 0, "role": "user", "content": content,
                "timestamp": f"2026-03-0{n}T10:00:00Z",
            }
        )
        for user, said in SAID.items()
        for n, content in enumerate(said, start=1)
    ]  # fmt: skip
    (folder / "said.jsonl").write_bytes(b"\n".join(lines) + b'\n{"user_id": "ada", "content": "half\n')
    (folder / "em.yaml").write_text("fold:\n  reinforcement_step: 0.05\n", encoding="utf-8")
    home = folder / "home"
    home.mkdir()
    (home / "aliases.yaml").write_text(ALIASES, encoding="utf-8")
    assert em("run", "said.jsonl", "--home", home, cwd=folder).returncode == 1
    fact = orjson.loads(em(*FACTS, "--entity", "rhubarb cake", "--home", home, cwd=folder).stdout)
    assert em("confirm", fact[0]["edge_id"], "--user", "ada", "--home", home, cwd=folder).returncode == 0
    assert em("forget", "--user", "ada", "--entity", "Torvald", "--yes", "--home", home, cwd=folder).returncode == 0
    assert em("token", "create", "--user", "ada", "--home", home, cwd=folder).returncode == 0
    assert em("snapshot", "--date", "2026-03-04", "--home", home, cwd=folder).returncode == 0
    assert em("run", "--home", home, cwd=folder).returncode == 0
    assert em("run", "--home", home, cwd=folder).returncode == 0
    for path in home.rglob("*"):
        if path.is_file() and not path.is_symlink():
            os.utime(path, ns=(10**18, 10**18))  # long ago, so that everything is noted
    assert em("run", "--home", home, cwd=folder).returncode == 0
    return folder


@pytest.fixture(scope="module")
def wanted(em, made: Path) -> Callable[[tuple[str, ...]], str]:
    """What a command prints on a home as it was made."""
    known: dict[tuple[str, ...], str] = {}

    def ask(command: tuple[str, ...]) -> str:
        if command not in known:
            own = Path(shutil.copytree(made, made.parent / "asked", symlinks=True))
            known[command] = told(em(*command, "--home", own / "home", cwd=own).stdout, own)
            shutil.rmtree(own)
        return known[command]

    return ask


def told(out: str, folder: Path) -> str:
    """What was printed, whatever the folder was called."""
    return re.sub(r"\s+", " ", out.replace(str(folder), "FOLDER"))


def flipped(path: Path, rng: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


def names_of(path: Path, home: Path) -> list[str]:
    """What a sentence may call a file: its name; of a segment, its folder and number; of an answer's part, the pack."""
    parts = path.relative_to(home).parts if path.is_relative_to(home) else (path.name,)
    more = {
        "log": ["/".join(parts[1:3]), "manifest.jsonl", "log.head"],
        "packs": [f"packs/{parts[1]}" if len(parts) > 1 else "packs"],
        "record": ["HOME/record", "record", "salt"],
        "em.yaml": ["reading settings"],
    }
    return [path.name, path.stem, *more.get(parts[0], [])]


def judge(kind: str, done: subprocess.CompletedProcess[str], said: str, path: Path, folder: Path) -> str | None:
    """What is wrong with what a command did; None where it did what it did before, or refused in a sentence."""
    if told(done.stdout, folder) == said and done.returncode in (0, 1):
        return None
    if done.returncode == 0:
        is_of_a_run = done.args[0] == "run"  # it may have mended something; what is known is asked afterwards
        return None if is_of_a_run or kind in MAY_SAY_OTHERWISE else f"other output: {done.stdout[:500]}"
    if done.stderr.strip().count("\n") or not done.stderr.strip().startswith("em: "):
        return f"no one sentence: {done.stderr[:500]}"
    if not any(name in done.stderr for name in names_of(path, folder / "home")):
        return f"names no file: {done.stderr[:500]}"
    return None if REMEDY.search(done.stderr) else f"no remedy: {done.stderr[:500]}"


@pytest.mark.faults
@pytest.mark.parametrize("kind", KINDS)
def test_a_flipped_bit_ends_in_the_right_state_or_in_a_refusal(
    em, kind: str, made: Path, wanted, tmp_path: Path
) -> None:
    rng = random.Random(f"{SEED} {kind}")
    home = made / "home"
    files = sorted({path for pattern in KINDS[kind].patterns for path in home.glob(pattern) if path.stat().st_size})
    files = [path for path in files if path.is_file() and not path.is_symlink()] or [made / "em.yaml"]
    problems = []
    for number in range(-(-ROUNDS // len(KINDS))):
        victim = rng.choice(files)
        folder = Path(shutil.copytree(made, tmp_path / str(number), symlinks=True))
        path = folder / victim.relative_to(made)
        flipped(path, rng)
        for command in (*KINDS[kind].commands, HASH):
            said = wanted(command)
            done = em(*command, "--home", folder / "home", cwd=folder)
            if problem := judge(kind, done, said, path, folder):
                problems.append(f"{victim.relative_to(made)}: em {command[0]}: {problem}")
        shutil.rmtree(folder)
    assert problems == []


@pytest.mark.faults
def test_doctor_names_every_kind_of_damage(em, made: Path, tmp_path: Path) -> None:
    for name in ("log/interactions", "lake/edges", "packs", "snapshots", "record/ledger.jsonl", "log/manifest.jsonl"):
        folder = Path(shutil.copytree(made, tmp_path / name.replace("/", "-"), symlinks=True))
        base = folder / "home" / name
        files = [base] if base.is_file() else sorted(p for p in base.rglob("*.*") if p.is_file() and p.stat().st_size)
        path = next(p for p in files if p.suffix in {".jsonl", ".parquet", ".arrow", ".duckdb"} and not p.is_symlink())
        if name == "snapshots":
            path = (base / "latest.duckdb").resolve()
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 8
        path.write_bytes(data)
        done = em("doctor", "--home", folder / "home", cwd=folder)
        assert done.returncode == 1, name
        shutil.rmtree(folder)


def test_the_rounds_are_enough() -> None:
    assert -(-ROUNDS // len(KINDS)) * len(KINDS) >= 200
