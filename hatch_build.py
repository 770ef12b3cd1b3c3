"""The layout of the wheel: all of it lies below `em_pipelines`, so that nobody's own `assets` stands in its way.

In the repository `assets/`, `resources/`, `sensors/` and `quality/` stand at the root, where people who know Dagster
look for them. In the wheel they are `em_pipelines.orchestration.assets` and so on, and what imports them says so. Why:
docs/decisions/2026-11-22-layout-of-the-wheel.md.
"""

import ast
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "em_pipelines"
MOVED = ("assets", "resources", "sensors", "quality")
BELOW = f"{PACKAGE}.orchestration"
DOCSTRING = (
    "The Dagster side of the package: assets, resources, sensors and checks, which stand at the root of the repository."
)
NAMES = "|".join(MOVED)
FROM = re.compile(rf"^([ \t]*from )((?:{NAMES})(?:\.\w+)*)(?= import\b)", re.MULTILINE)
STRING = re.compile(rf"""(["'])((?:{NAMES})(?:\.\w+)+)\1""")
"""A string that may be the dotted name of a module, by which Dagster is told what to import."""


def rewritten(text: str, modules: frozenset[str]) -> str:
    """Source code as it stands in the wheel. `modules` are the dotted names of all that move.

    Raises ValueError for an import that cannot be moved by a longer name (`import assets.daily` binds another one).
    """
    moved = FROM.sub(rf"\1{BELOW}.\2", text)
    moved = STRING.sub(lambda m: f"{m[1]}{BELOW}.{m[2]}{m[1]}" if m[2] in modules else m[0], moved)
    left = [name for name in _imported(moved) if name.partition(".")[0] in MOVED]
    if left:
        raise ValueError(
            f"building the wheel: found an import of {left[0]} that is none of `from … import …`; write it so"
        )
    return moved


def layout(root: Path, target: Path) -> dict[str, str]:
    """Writes sources as they stand in the wheel below `target` and returns what lies where: source → path in the wheel.

    Files of the package that mention nothing that moved are left to the build.
    """
    paths = [path for name in MOVED for path in sorted((root / name).rglob("*")) if _is_shipped(path)]
    modules = frozenset(_dotted(path.relative_to(root)) for path in paths if path.suffix == ".py")
    opening = target / "__init__.py"
    opening.write_text(f'"""{DOCSTRING}"""\n', encoding="utf-8")
    placed = {str(opening): f"{BELOW.replace('.', '/')}/__init__.py"}
    for path in [*paths, *sorted((root / PACKAGE).rglob("*.py"))]:
        name = path.relative_to(root)
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".py":
            copy.write_text(rewritten(path.read_text(encoding="utf-8"), modules), encoding="utf-8")
        else:
            shutil.copyfile(path, copy)
        is_moved = name.parts[0] in MOVED
        if is_moved or copy.read_bytes() != path.read_bytes():
            placed[str(copy)] = f"{BELOW.replace('.', '/')}/{name.as_posix()}" if is_moved else name.as_posix()
    return placed


def _is_shipped(path: Path) -> bool:
    return path.is_file() and "__pycache__" not in path.parts


def _dotted(path: Path) -> str:
    return ".".join(path.with_suffix("").parts)


def _imported(text: str) -> list[str]:
    nodes = list(ast.walk(ast.parse(text)))
    whole = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return whole + [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]


class LayoutHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the sources where the wheel has them; an editable installation leaves them where they are."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before a build of the wheel."""
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        build_data["force_include"] |= layout(Path(self.root), Path(self._folder.name))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Called by hatchling after it."""
        if version != "editable":
            self._folder.cleanup()
