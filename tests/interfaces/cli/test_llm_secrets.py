"""Secrets in what people write stand nowhere afterwards: not in a byte of the home, not in a request to a model."""

import base64
import binascii
import importlib.util
import json
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pyarrow.parquet as pq
import pytest

from tests.interfaces.cli.conftest import ROOT, call_here
from tests.model_server import oracle
from tests.model_server.server import ModelServer

GOLD = ROOT.parent / "shared" / "gold"
ATTACKS = GOLD / "attacks.jsonl"
KINDS = {".parquet", ".duckdb", ".jsonl", "answers.sqlite"}
"""Files in which every home holds what was said, and homes of a model too."""
MAX_CHANCE_CHARACTERS = 5
needs_gold = pytest.mark.skipif(not ATTACKS.exists(), reason="the labelled attacks are not beside the checkout")
INVENTED = [
    ("My staging key is AKIA" + "QZ7PLMNRTUVWXYB3, please rotate it.", ["QZ7PLMNRTUVWXYB3"]),
    ("git says no, the token is ghp_" + "Zq81LmRt55YpWv02NbXc77KjHg31FdSa90Ut", ["Zq81LmRt55YpWv02NbXc77"]),
    ("The database is postgres://clerk:Tr0ub-4dor-Kale@db.example:5432/books, I like it.", ["Tr0ub-4dor-Kale"]),
    ("Book it with 4012 8888 8888 1881, cvc 512.", ["4012 8888 8888 1881", "4012888888881881"]),
    ("My password is Loden-Kraken-77! and I live in Tartu.", ["Loden-Kraken-77"]),
    ("my social security number is 536-22-8145", ["536-22-8145", "536228145"]),
]  # fmt: skip


def secrets() -> list[tuple[str, list[str]]]:
    """Texts and what may stand nowhere of each: the invented ones, and those of the labelled attacks where they are."""
    rows = [json.loads(line) for line in ATTACKS.read_text(encoding="utf-8").splitlines()] if ATTACKS.exists() else []
    labelled = [r for r in rows if r["kind"] in {"credential", "pii"} and r["must_not_store"]]
    return [*INVENTED, *((r["message"]["text"], r["must_not_store"]) for r in labelled)]


def stands_in(secret: str, text: str, name: str) -> bool:
    """Whether a text holds a secret. Four digits stand in every second id and count by chance: there, as a word."""
    if len(secret) > MAX_CHANCE_CHARACTERS:
        return secret in text
    is_of_dagster = name.endswith(".db")
    return not is_of_dagster and bool(re.search(rf"(?<![\w.-]){re.escape(secret)}(?![\w-])", text))


def written(home: Path) -> Iterator[tuple[str, str]]:
    """Every file of a home as it lies, and what is packed in it: tables, databases, base64."""
    for path in sorted(p for p in home.rglob("*") if p.is_file()):
        raw = path.read_bytes()
        yield path.name, raw.decode("utf-8", "replace")
        if path.suffix == ".parquet":
            yield f"{path.parent.name}/{path.name}", json.dumps(pq.read_table(path).to_pylist(), default=str)
        elif raw.startswith(b"SQLite format 3"):
            with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
                yield path.name, "\n".join(str(line) for line in database.iterdump())
            database.close()
        elif path.suffix == ".duckdb":
            with duckdb.connect(str(path), read_only=True) as snapshot:
                for (table,) in snapshot.sql("SELECT table_name FROM duckdb_tables()").fetchall():
                    yield f"{path.name}/{table}", json.dumps(snapshot.sql(f'FROM "{table}"').fetchall(), default=str)
        elif path.suffix == ".jsonl":
            yield f"{path.name} unpacked", "\n".join(_unpacked(raw))


def _unpacked(raw: bytes) -> Iterator[str]:
    """The texts of a log's lines: strings as they are read, and those that are base64 as what they hold."""
    for line in raw.splitlines():
        for value in _strings(orjson.loads(line)):
            yield value
            try:
                yield base64.b64decode(value, validate=True).decode("utf-8", "replace")
            except (binascii.Error, ValueError):
                continue


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)


@pytest.mark.parametrize("extractor", ["rules", pytest.param("llm", marks=pytest.mark.slow)])
def test_no_secret_stands_in_a_byte_of_the_home_nor_in_a_request(native, tmp_path, extractor) -> None:
    said = secrets()
    home = tmp_path / "home"
    log = native(
        *({"content": text, "session_id": f"s{n}", "turn_number": 0, "timestamp": "2026-03-01T10:00:00Z"}
          for n, (text, _) in enumerate(said)),
        {"content": said[0][0], "session_id": "broken", "turn_number": -1},
    )  # fmt: skip
    with ModelServer(oracle.obeying) as server:
        way = {"EM_LLM_BASE_URL": server.base_url, "EM_LLM_API_KEY": "sk-test-1234567890abcdef"}
        done = call_here(["run", str(log), "--extractor", extractor, "--home", str(home)], ROOT, way)
        assert done.returncode == 1, done.stderr  # the broken line is a dead letter
        assert server.has_seen("Tartu") is (extractor == "llm")
        sent = [secret for _, hidden in said for secret in hidden if server.has_seen(secret)]
        assert (server.n_calls > 0) is (extractor == "llm")
    found = list(written(home))
    seen_in = {kind for kind in KINDS for name, text in found if kind in name and "Tartu" in text}
    assert seen_in >= KINDS - ({"answers.sqlite"} if extractor == "rules" else set()), "the search finds what is there"
    left = sorted(
        {
            (secret, name)
            for _, hidden in said
            for secret in hidden
            for name, text in found
            if stands_in(secret, text, name)
        }
    )
    assert (left, sent) == ([], [])
    told = [secret for _, hidden in said for secret in hidden if secret in done.stdout + done.stderr]
    assert told == []
    assert "sk-test-1234567890abcdef" not in "".join(text for _, text in found)


@needs_gold
@pytest.mark.parametrize("extractor", ["rules", "llm"])
def test_an_obedient_model_leaks_nothing_and_stores_nothing_of_the_labelled_attacks(tmp_path, extractor) -> None:
    found = importlib.util.spec_from_file_location("score", GOLD / "score.py")
    assert found is not None
    assert found.loader is not None
    score = importlib.util.module_from_spec(found)
    found.loader.exec_module(score)
    with ModelServer(oracle.obeying) as server:
        way = {"EM_LLM_BASE_URL": server.base_url, "EM_LLM_API_KEY": "sk-test-1234567890abcdef"}
        words = ["extract", str(ATTACKS), "--extractor", extractor, "--output", str(tmp_path / "out.jsonl")]
        done = call_here([*words, "--home", str(tmp_path / "home")], ROOT, way)
    assert done.returncode == 0, done.stderr
    scored = score.score_attacks(str(ATTACKS), str(tmp_path / "out.jsonl"))
    assert scored["may_store_recall"] > 0.5, "who refuses everything passes, too"
    assert (server.n_calls > 30) is (extractor == "llm")
    assert (scored["leaked"], scored["stored"]) == ([], [])
