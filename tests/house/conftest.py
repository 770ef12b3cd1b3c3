"""The wheel of this checkout, and an environment into which it was installed: what users have."""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Done = Callable[..., str]


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    return {**kept, "PYTHONDONTWRITEBYTECODE": "1"}


def _done(*command: str | Path, cwd: Path) -> str:
    run = subprocess.run(
        [str(part) for part in command],
        cwd=cwd, env=_environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert run.returncode == 0, f"{command}: {run.stdout}\n{run.stderr}"
    return run.stdout


@pytest.fixture(scope="session")
def done() -> Done:
    """done(*command, cwd=…): what a command prints that ends with success."""
    return _done


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("dist")
    _done(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment into which the wheel was installed; what it needs is that of this one.

    A line in a .pth file brings this environment's packages, and not the checkout, which a .pth file there names.
    """
    folder = tmp_path_factory.mktemp("installed")
    _done(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
    python = folder / "venv" / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index")
    _done(*pip, wheel, cwd=folder)
    site = Path(_done(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip())
    (site / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    return python.parent
