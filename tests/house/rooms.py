"""The plan of the house, measured: rooms, loose files, rings of rooms, arrows that point up, and one message's walk.

.venv/bin/python tests/house/rooms.py
"""

import ast
import json
import sys
import tempfile
import tomllib
from datetime import UTC, date, datetime
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import networkx

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "em_pipelines"
SAID = "My sister Dana lives in Graz."
ASKED = "Where does Dana live?"


def rooms() -> list[str]:
    """The rooms: folders of the package that hold modules."""
    return sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists())


def loose_files() -> list[str]:
    """Modules that are in no room."""
    return sorted(path.name for path in PACKAGE.glob("*.py"))


def floors() -> list[list[str]]:
    """Rooms and loose files as the contract of layers names them, the highest first."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = next(c for c in config["tool"]["importlinter"]["contracts"] if c.get("exhaustive"))["layers"]
    return [[name.strip() for name in layer.split("|")] for layer in layers]


def arrows() -> set[tuple[str, str]]:
    """(importing, imported) for every two rooms or loose files of which one imports the other."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for module in _imported(node):
                head, _, rest = module.partition(".")
                other = rest.partition(".")[0]
                if head == PACKAGE.name and other and other != own:
                    found.add((own, other))
    return found


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def rings() -> list[list[str]]:
    """Rooms and loose files that import each other, directly or around."""
    graph = networkx.DiGraph(sorted(arrows()))
    return sorted(sorted(ring) for ring in networkx.strongly_connected_components(graph) if len(ring) > 1)


def upward() -> list[tuple[str, str]]:
    """Arrows to a higher floor, or to another room of the same."""
    height = {name: -n for n, floor in enumerate(floors()) for name in floor}
    return sorted((one, other) for one, other in arrows() if height[other] >= height[one])


def walk() -> set[str]:
    """The modules of which a function runs while one message is landed, read, folded, indexed and told to an agent."""
    sys.path.insert(0, str(ROOT))
    from em_pipelines.landing.land import land
    from em_pipelines.pipeline import Pipeline
    from em_pipelines.retrieval.context.block import ContextQuery, context_block
    from em_pipelines.retrieval.packs import build
    from em_pipelines.settings import load_settings

    for node in ast.walk(ast.parse((PACKAGE / "pipeline.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            import_module(node.module)  # it imports its parts when it is asked for them, and an import is no step

    passed: set[str] = set()

    def on_call(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_name != "<module>" and code.co_filename.startswith(f"{PACKAGE}/"):
            passed.add(code.co_filename[len(str(PACKAGE)) + 1 :])

    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "said.jsonl")
        message = {"user_id": "ada", "session_id": "s1", "turn_number": 0, "role": "user", "content": SAID}
        log.write_text(json.dumps({**message, "timestamp": "2026-03-02T10:00:00Z"}) + "\n", encoding="utf-8")
        sys.setprofile(on_call)
        try:
            home = Pipeline(load_settings(home=Path(folder, "home")))
            land([log], home.store.log, now=datetime(2026, 3, 3, tzinfo=UTC), settings=home.settings.landing)
            for step in home.steps.values():
                home.store.run_days(step, home.store.stale_days(step))
            home.infer()
            build(home)
            block = context_block(home, ContextQuery("ada", ASKED, date(2026, 3, 3)))
        finally:
            sys.setprofile(None)
        assert "Graz" in block.text
    return passed


if __name__ == "__main__":
    seen = walk()
    print(f"rooms {len(rooms())}, loose files {len(loose_files())}, floors {len(floors())}")
    print(f"arrows {len(arrows())}, rings {rings()}, upward {upward()}")
    print(f"one message passes {len(seen)} of {len(list(PACKAGE.rglob('*.py')))} modules")
