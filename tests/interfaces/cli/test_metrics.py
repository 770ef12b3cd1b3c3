"""`em metrics`: printed, as rows, and served to Prometheus."""

import os
import shutil
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from prometheus_client.parser import text_string_to_metric_families

from em_pipelines.serving.metrics.catalogue import METRICS

Served = Callable[..., Any]


def test_metrics_are_printed_and_the_same_as_rows(em, examples_home: Path) -> None:
    printed = em("metrics", "--home", examples_home)
    assert (printed.returncode, printed.stderr) == (0, "")
    families = [*text_string_to_metric_families(printed.stdout)]
    assert len(families) == len(METRICS)
    rows = orjson.loads(em("metrics", "--home", examples_home, "--json").stdout)
    assert len(rows) == sum(len(family.samples) for family in families)
    assert {row["metric"] for row in rows} <= {metric.name for metric in METRICS}
    assert [*rows[0]] == ["metric", "kind", "name", "labels", "value"]


def test_no_metric_tells_of_anybody(em, examples_home: Path) -> None:
    printed = em("metrics", "--home", examples_home).stdout
    for word in ("ada", "mirela", "tobias", "Dana", "Porto", "Vienna", str(examples_home)):
        assert word not in printed.split('"')


@pytest.fixture
def serving(em_command: tuple[str, ...], examples_home: Path) -> Served:
    """Serves the examples, and gives the address and the process."""

    @contextmanager
    def serve(*words: str, **environment: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
        process = subprocess.Popen(
            [*em_command, "metrics", *words, "--port", "0", "--home", str(examples_home)],
            env={**os.environ, **environment}, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        try:
            assert process.stderr
            said = process.stderr.readline()
            assert said.startswith("em metrics: serving on http://127.0.0.1:"), said
            yield said.split()[-1], process
        finally:
            process.kill()
            process.wait()
            process.stderr.close()

    return serve


def fetched(url: str, **headers: str) -> tuple[int, str, str]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=30) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, "", error.read().decode()


@pytest.mark.slow
@pytest.mark.parametrize("words", [("--serve",), ("serve",)])
def test_prometheus_fetches_what_is_printed(serving: Served, em, examples_home: Path, words: tuple[str, ...]) -> None:
    with serving(*words) as (url, process):
        status, kind, text = fetched(url)
        assert (status, kind) == (200, "text/plain; version=0.0.4; charset=utf-8")
        told, printed = text.splitlines(), em("metrics", "--home", examples_home).stdout.splitlines()
        aging = "em_queue_age_seconds{"
        assert [x for x in told if not x.startswith(aging)] == [x for x in printed if not x.startswith(aging)]
        assert fetched(url.replace("/metrics", "/"))[0] == 404
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


def test_with_a_token_whoever_asks_has_to_send_it(serving: Served) -> None:
    with serving("--serve", EM_METRICS_TOKEN="plum") as (url, _):
        status, _, said = fetched(url)
        assert (status, "Bearer" in said) == (401, True)
        assert fetched(url, Authorization="Bearer pear")[0] == 401
        assert fetched(url, Authorization="Bearer plum")[0] == 200


@pytest.mark.parametrize(
    ("words", "environment", "said"),
    [
        (("--serve", "--host", "0.0.0.0"), {}, "--allow-remote"),
        (("--serve", "--host", "example.org"), {}, "EM_METRICS_TOKEN"),
        (("--serve",), {"EM_METRICS_TOKEN": " "}, "EM_METRICS_TOKEN is empty"),
        (("--serve", "--json"), {}, "leave out --json"),
        (("--serve", "--host", "192.0.2.1", "--allow-remote"), {}, "choose another with --host and --port"),
    ],
)
def test_what_may_not_be_served_is_refused_in_a_sentence(
    em, examples_home: Path, words: tuple[str, ...], environment: dict[str, str], said: str
) -> None:
    done = em("metrics", *words, "--home", examples_home, **environment)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_home_that_is_not_there_has_no_metrics(em, tmp_path: Path) -> None:
    done = em("metrics", "--home", tmp_path / "none")
    assert done.returncode == 1
    assert "does not exist" in done.stderr


@pytest.mark.slow
def test_a_damaged_count_is_named_with_its_remedy(em, examples_home: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(examples_home, tmp_path / "home", symlinks=True))
    path = sorted((home / "lake" / "metrics").glob("*.parquet"))[0]
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 0xFF
    path.write_bytes(data)
    done = em("metrics", "--home", home)
    assert done.returncode == 2
    assert "em repair --apply" in done.stderr
    assert em("repair", "--apply", "--home", home).returncode == 0
    em("run", "--home", home)
    assert em("metrics", "--home", home).returncode == 0
