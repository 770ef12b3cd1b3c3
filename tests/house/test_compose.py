"""Dockerfile and compose.yaml, as far as they can be held without Docker: by the rules of the Compose Specification,
and by running what they run, on other ports and another home, from the wheel in an environment of its own.

https://github.com/compose-spec/compose-spec/blob/main/spec.md
"""

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TOP = {"name", "services", "volumes", "networks", "configs", "secrets"}
SERVICE = {
    "build", "image", "command", "init", "restart", "volumes", "cap_drop", "security_opt", "ports", "healthcheck",
    "depends_on", "environment",
}  # fmt: skip
HEALTH = {"test", "interval", "timeout", "start_period", "retries"}
DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:us|ms|s|m|h))+")
PORT = re.compile(r"127\.0\.0\.1:(\d+):(\d+)")
IMAGE = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*(?::[\w.-]+)?")
"""A name without a host of a registry."""
START_SECONDS = 180
STOP_SECONDS = 30


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    """The document, with what is merged into services in its place."""
    return dict(yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def dockerfile() -> list[tuple[str, str]]:
    """Instructions with their arguments, continued lines joined."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines]


def test_the_document_is_as_the_specification_wants_it(compose) -> None:
    assert {key for key in compose if not key.startswith("x-")} <= TOP
    for service in compose["services"].values():
        assert {*service} <= SERVICE
        assert IMAGE.fullmatch(service["image"])
        assert all(isinstance(word, str) for word in service["command"])
        assert service["restart"] in {"no", "always", "on-failure", "unless-stopped"}
        assert {volume.split(":")[0] for volume in service["volumes"]} <= {*compose["volumes"]}
        assert {*service.get("depends_on", {})} <= {*compose["services"]}
        for other in service.get("depends_on", {}).values():
            assert other["condition"] in {"service_started", "service_healthy", "service_completed_successfully"}


def test_every_service_says_whether_it_is_well(compose) -> None:
    for service in compose["services"].values():
        check = service["healthcheck"]
        assert {*check} <= HEALTH
        assert check["test"][0] == "CMD"
        assert all(DURATION.fullmatch(check[name]) for name in ("interval", "timeout", "start_period"))
        assert isinstance(check["retries"], int)


def test_nothing_is_published_but_on_loopback(compose) -> None:
    ports = [port for service in compose["services"].values() for port in service["ports"]]
    assert ports
    assert all(PORT.fullmatch(port) for port in ports)


def test_what_the_image_copies_is_there_and_not_kept_from_it(dockerfile) -> None:
    copied = [
        name for word, rest in dockerfile if word == "COPY" and "--from" not in rest for name in rest.split()[:-1]
    ]
    assert copied
    assert [name for name in copied if not (ROOT / name).exists()] == []
    kept = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert kept[0] == "*"
    assert {*copied} == {line.removeprefix("!") for line in kept if line.startswith("!")}


def test_images_have_plain_names_and_a_python_that_the_project_takes(dockerfile) -> None:
    images = [rest.split()[0] for word, rest in dockerfile if word == "FROM"]
    assert images
    assert all(re.fullmatch(r"python:3\.(1[1-9])-slim", image) for image in images)


def test_the_container_runs_as_nobody_of_importance_over_the_volume(compose, dockerfile) -> None:
    told = [word for word, _ in dockerfile]
    user = next(rest for word, rest in dockerfile if word == "USER")
    assert user not in {"root", "0"}
    assert told.index("USER") < told.index("CMD")
    environment = dict(word.split("=", 1) for word, rest in dockerfile if word == "ENV" for word in shlex.split(rest))
    volume = next(rest for word, rest in dockerfile if word == "VOLUME")
    assert environment["EM_HOME"] == volume
    assert environment["DAGSTER_HOME"] == f"{volume}/dagster"
    for service in compose["services"].values():
        assert [mount.split(":")[1] for mount in service["volumes"]] == [volume]
        assert "user" not in service
        assert "privileged" not in service


def test_what_the_image_copies_is_enough_to_build_the_wheel(dockerfile, tmp_path: Path) -> None:
    for word, rest in dockerfile:
        if word == "COPY" and "--from" not in rest:
            for name in rest.split()[:-1]:
                copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile
                copy(ROOT / name, tmp_path / name)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "dist").glob("*.whl"))


@pytest.mark.slow
def test_services_start_are_well_and_stop_when_they_are_told_to(compose, dockerfile, installed, tmp_path) -> None:
    home = tmp_path / "memory"
    home.mkdir(mode=0o700)
    empty = tmp_path / "elsewhere"
    empty.mkdir()
    told = dict(word.split("=", 1) for word, rest in dockerfile if word == "ENV" for word in shlex.split(rest))
    told = {name: value.replace("/memory", str(home)) for name, value in told.items()}
    environment = {**os.environ, **told, "PATH": f"{installed}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("PYTHONPATH", None)
    running: list[subprocess.Popen[bytes]] = []
    try:
        for name, service in compose["services"].items():
            port = PORT.fullmatch(service["ports"][0])[2]
            free = free_port()
            words = [word.replace(port, free) for word in service["command"]]
            assert words != service["command"], f"{name}: its port is in its command"
            with (tmp_path / f"{name}.log").open("wb") as log:
                one = subprocess.Popen(
                    words, cwd=empty, env=environment, stdout=log, stderr=log, start_new_session=True
                )
            running.append(one)
            check = [word.replace(port, free) for word in service["healthcheck"]["test"][1:]]
            deadline = time.monotonic() + START_SECONDS
            while subprocess.run(check, env=environment, capture_output=True, check=False).returncode:
                assert one.poll() is None, (tmp_path / f"{name}.log").read_text(errors="replace")
                assert time.monotonic() < deadline, (tmp_path / f"{name}.log").read_text(errors="replace")
            if name == "mcp":
                with pytest.raises(urllib.error.HTTPError, match="401"):
                    urllib.request.urlopen(f"http://127.0.0.1:{free}/mcp", timeout=10)
        assert (home / "dagster" / "dagster.yaml").exists()
    finally:
        for one in reversed(running):
            one.send_signal(signal.SIGTERM)
        for one in running:
            try:
                one.wait(STOP_SECONDS)
            finally:
                if one.poll() is None:
                    os.killpg(one.pid, signal.SIGKILL)


def free_port() -> str:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return str(held.getsockname()[1])
