"""What a step runs and opens is what its version covers, and a change makes exactly that again."""

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import Settings, load_settings
from em_pipelines.storage.step import PACKAGE, CodeBase

ROOT = Path(__file__).parents[2]
Seen = dict[str, dict[str, list[str]]]
LANDING = {"interactions", "skill_invocations", "feedback", "world_events", "dead_letters", "erasures"}
ALL = LANDING | {
    "messages", "segments", "extraction", "sessions", "resolution", "fold", "decay", "audit", "inference",
}  # fmt: skip
SQL_STEPS = {"fold", "decay", "audit", "inference"}
GUARDED = {"messages", "extraction", "sessions", "resolution", "fold"}
STALE_AFTER: dict[str, set[str]] = {
    "errors.py": GUARDED | {"inference"},
    "schema/ids.py": {"segments", "audit", *GUARDED} - {"sessions"},
    "schema/table.py": ALL,
    "schema/tables/record.py": {"audit"},
    "schema/vocabulary.py": ALL - LANDING,
    "language/sentences.py": {*GUARDED},
    "language/cleaning.py": {"segments", *GUARDED},
    "language/masking.yaml": GUARDED,
    "guard/embedded.yaml": GUARDED,
    "guard/injection.yaml": GUARDED,
    "guard/screening.py": GUARDED,
    "language/name_matching.py": {"extraction"},
    "storage/duckdb_engine.py": SQL_STEPS,
    "storage/lake.py": set(),
    "storage/tombstones.py": {"extraction"},
    "llm/gateway.py": set(),
    "observability/work.py": set(),
    "landing/tables.py": LANDING,
    "landing/land.py": set(),
    "extraction/messages.py": {"messages"},
    "extraction/segmentation.py": {"segments", "extraction"},
    "extraction/sessions.py": {"sessions"},
    "extraction/settings.py": {"segments", "extraction"},
    "extraction/verification.py": {"extraction"},
    "extraction/rules/extractor.py": {"extraction"},
    "extraction/patterns/work.yaml": {"extraction"},
    "language/en/word_lists/nouns.yaml": {"extraction", "resolution", "fold"},
    "extraction/llm/prompt.py": set(),
    "extraction/feedback_statements.py": {"resolution", "fold"},
    "resolution/data/nicknames.yaml": {"resolution"},
    "resolution/registry.py": {"resolution"},
    "graph/sql/live.sql": {"fold"},
    "graph/sql/macros.sql": {"fold", "audit"},
    "graph/confidence_decay.py": {"fold", "decay", "audit"},
    "lifecycle/sql/current_edges.sql": {"decay", "audit"},
    "lifecycle/inference/sql/chains.sql": {"inference"},
    "lifecycle/revision/night.py": set(),
    "redaction/veils.py": set(),
    "serving/facts.py": set(),
    "retrieval/search.py": set(),
    "governance/audit/sql/trail.sql": {"audit"},
    "governance/corrections.py": set(),
    "evaluation/scoring.py": set(),
    "interfaces/cli/app.py": set(),
    "settings.py": set(),
    "steps.py": set(),
}
"""File of the package → steps that are out of date when it changes, with the rules extractor. Every room has one."""
EVERY_NTH = 8
"""Of these files so many are between two that the fast suite changes."""


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package in a folder of its own, to be changed."""
    folder = tmp_path_factory.mktemp("copy") / PACKAGE.name
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__", "corpora"))
    return folder


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, ...]]:
    """The modules whose code each step's version covers: that of its run, and those of who it asks."""
    pipeline = Pipeline(load_settings(home=tmp_path_factory.mktemp("home")))
    steps = {**pipeline.steps, "inference": pipeline.inference}
    found = {name: (step.run.__module__,) for name, step in steps.items()}
    found["extraction"] += (type(pipeline.extractor).__module__, pipeline.checks.second_reader.module)
    return found


def versions(package: Path, roots: dict[str, tuple[str, ...]]) -> dict[str, str]:
    code = CodeBase(package)
    return {name: code.digest(*modules) for name, modules in roots.items()}


@pytest.fixture(scope="module")
def unchanged(copied: Path, roots: dict[str, tuple[str, ...]]) -> dict[str, str]:
    return versions(copied, roots)


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=() if n % EVERY_NTH == 0 else pytest.mark.slow) for n, one in enumerate(STALE_AFTER)],
)
def test_a_change_makes_stale_what_depends_on_it_and_nothing_else(
    name: str, copied: Path, roots: dict[str, tuple[str, ...]], unchanged: dict[str, str]
) -> None:
    path = copied / name
    kept = path.read_bytes()
    path.write_bytes(kept + b"\n")
    try:
        after = versions(copied, roots)
    finally:
        path.write_bytes(kept)
    assert {step for step in roots if unchanged[step] != after[step]} == STALE_AFTER[name]


def test_every_room_has_a_file_that_is_changed() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert rooms - {name.partition("/")[0] for name in STALE_AFTER} == set()


def test_the_roots_are_those_that_versions_cover(settings: Settings, roots: dict[str, tuple[str, ...]]) -> None:
    pipeline = Pipeline(settings)
    code = CodeBase()
    assert pipeline.extractor.version.startswith(code.digest(type(pipeline.extractor).__module__)[:12])
    assert {name: module for name, (module, *_) in roots.items()} == {
        name: step.run.__module__ for name, step in {**pipeline.steps, "inference": pipeline.inference}.items()
    }


@pytest.mark.parametrize("was", ["lives_in ", pytest.param("located_in ", marks=pytest.mark.slow)])
def test_a_relation_that_is_functional_no_more_changes_the_versions_of_who_compares(
    was: str, copied: Path, roots: dict[str, tuple[str, ...]]
) -> None:
    path = copied / "schema" / "vocabulary.py"
    kept = path.read_text()
    before = versions(copied, roots)
    assert was.strip() in kept
    path.write_text(kept.replace(was.strip(), "dwells_in", 1))
    try:
        after = versions(copied, roots)
    finally:
        path.write_text(kept)
    assert before["fold"] != after["fold"]
    assert before["extraction"] != after["extraction"]


@pytest.mark.slow
def test_imports_are_read_as_python_reads_them() -> None:
    code = CodeBase()
    misread = {}
    for module in sorted(code.modules):
        tree = ast.parse(code.file_of(module).read_text(encoding="utf-8"))
        missed = {name for name in _imports(tree) & code.modules if name != module} - code.imported(module)
        if missed:
            misread[module] = missed
    assert misread == {}


def _imports(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


@pytest.mark.slow
def test_every_data_file_of_a_stage_belongs_to_a_module() -> None:
    code = CodeBase()
    named = {path for module in code.modules for path in code.sources(module)}
    data = {path for suffix in ("*.sql", "*.yaml", "*.txt") for path in PACKAGE.rglob(suffix)}
    assert {str(path.relative_to(PACKAGE)) for path in data - named} == set()


@pytest.fixture(scope="module")
def seen_by_steps(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """What each step `ran` and opened of the package, was `given` and `asked` for, in a process of its own, on a log
    that gives it something to do."""
    folder = tmp_path_factory.mktemp("traced")
    script = Path(__file__).with_name("traced_steps.py")
    command = [sys.executable, str(script), str(ROOT / "examples" / "logs" / "mirela"), str(folder / "home")]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(orjson.loads(done.stdout))


@pytest.fixture
def traced(seen_by_steps: Seen) -> dict[str, list[str]]:
    return seen_by_steps["ran"]


def uncovered(code: CodeBase, traced: dict[str, list[str]], roots: dict[str, tuple[str, ...]]) -> Iterator[str]:
    """What a step ran or opened that its version does not cover, as "step: file"."""
    for step, modules in roots.items():
        covered = {str(path.relative_to(PACKAGE)) for path in code.sources(*modules)}
        yield from (f"{step}: {path}" for path in traced[step] if path not in covered)


@pytest.mark.slow
def test_a_version_covers_all_that_its_step_runs_and_opens(
    traced: dict[str, list[str]], roots: dict[str, tuple[str, ...]]
) -> None:
    of_nothing_landed = {"skill_invocations", "world_events", "dead_letters", "erasures"}
    assert {name for name, paths in traced.items() if not paths} <= of_nothing_landed
    assert set(uncovered(CodeBase(), traced, roots)) == set()


@pytest.mark.slow
@pytest.mark.parametrize("left_out", ["em_pipelines.graph.relations", "em_pipelines.guard.screening"])
def test_an_import_that_is_left_out_of_the_hash_is_noticed(
    left_out: str, traced: dict[str, list[str]], roots: dict[str, tuple[str, ...]]
) -> None:
    class Forgetful(CodeBase):
        def imported(self, module: str) -> frozenset[str]:
            return super().imported(module) - {left_out}

    missed = {line.partition(": ")[2] for line in uncovered(Forgetful(), traced, roots)}
    assert left_out.removeprefix("em_pipelines.").replace(".", "/") + ".py" in missed


@pytest.mark.slow
def test_every_table_that_a_step_declares_is_read_and_no_other(seen_by_steps: Seen, settings: Settings) -> None:
    pipeline = Pipeline(settings)
    for name, step in {**pipeline.steps, "inference": pipeline.inference}.items():
        if step.log_kind:
            continue
        states = {f"state_{table.name}" for table in (*step.previous, *step.latest)}
        declared = {*states, *(table.name for table in step.inputs), *(["state_days"] if step.is_dated else [])}
        assert set(seen_by_steps["given"][name]) == declared, name
        assert set(seen_by_steps["asked"][name]) == declared, name
