"""The wheel: what it is called by, that it works where others have an `assets` of their own, and how it is laid out."""

import json
import shutil
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from em_pipelines.storage.step import code_digest
from hatch_build import MOVED, layout, rewritten

ROOT = Path(__file__).parents[2]
MODULES = frozenset({"assets.daily", "resources.home", "resources.event_storage"})
CLASH = 'raise ImportError("this is a package of somebody else\'s")\n'
DIGESTED = ("em_pipelines.graph.fold", "em_pipelines.lifecycle.decay", "em_pipelines.extraction.messages")
LOG = {"user_id": "ines", "session_id": "chat-1", "turn_number": 0, "role": "user"}
ASK = """
import json
import em_pipelines.definitions as definitions
from em_pipelines.storage.step import code_digest
graph = definitions.defs().resolve_asset_graph()
print(json.dumps([definitions.__file__, len(graph.get_all_asset_keys()), [code_digest(name) for name in %r]]))
"""


@pytest.mark.parametrize(
    ("written", "shipped"),
    [
        ("from assets.daily import op_name\n", "from em_pipelines.orchestration.assets.daily import op_name\n"),
        (
            "def late():\n    from resources import home\n",
            "def late():\n    from em_pipelines.orchestration.resources import home\n",
        ),
        ('NAME = "resources.event_storage"\n', 'NAME = "em_pipelines.orchestration.resources.event_storage"\n'),
        ('GROUP = "quality"\n', 'GROUP = "quality"\n'),
        ('TOLD = "assets.daily is a module"\n', 'TOLD = "assets.daily is a module"\n'),
        ('OTHER = "assets.none"\n', 'OTHER = "assets.none"\n'),
        ("from assets_of_mine import one\n", "from assets_of_mine import one\n"),
        ("from mine.assets import one\n", "from mine.assets import one\n"),
    ],
)
def test_imports_and_names_of_modules_are_those_of_the_wheel(written: str, shipped: str) -> None:
    assert rewritten(written, MODULES) == shipped


@pytest.mark.parametrize("written", ["import assets.daily\n", "import json, resources\n", "import quality as q\n"])
def test_an_import_that_binds_another_name_stops_the_build(written: str) -> None:
    with pytest.raises(ValueError, match=r"from … import …"):
        rewritten(written, MODULES)


def test_every_file_of_the_dagster_side_goes_below_the_package(tmp_path: Path) -> None:
    placed = layout(ROOT, tmp_path)
    for name in MOVED:
        for path in (ROOT / name).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert f"em_pipelines/orchestration/{path.relative_to(ROOT).as_posix()}" in placed.values()
    assert not (ROOT / "em_pipelines" / "orchestration").exists()


@pytest.fixture
def folder_with_a_clash(tmp_path: Path) -> Path:
    """A folder of a Dagster project of somebody else's, whose packages are called as ours are."""
    for name in MOVED:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(CLASH, encoding="utf-8")
    message = {**LOG, "content": "My sister Dana lives in Graz.", "timestamp": "2026-03-02T10:00:00Z"}
    (tmp_path / "said.jsonl").write_text(json.dumps(message) + "\n", encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_the_wheel_takes_no_top_level_name_but_its_own(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"em_pipelines"}
    assert len(names) == len(set(names))
    assert "em_pipelines/orchestration/quality/sql/messages_complete.sql" in names


@pytest.mark.slow
def test_em_run_works_beside_packages_of_the_same_names(done, installed: Path, folder_with_a_clash: Path) -> None:
    summary = done(installed / "em", "run", "said.jsonl", "--home", "memory", cwd=folder_with_a_clash)
    assert "dagster dev -m em_pipelines.definitions" in summary
    told = json.loads(
        done(installed / "em", "facts", "--user", "ines", "--home", "memory", "--json", cwd=folder_with_a_clash)
    )
    assert "Graz" in json.dumps(told)
    done(installed / "em", "check", "--home", "memory", cwd=folder_with_a_clash)


@pytest.mark.slow
def test_dagster_loads_the_definitions_beside_packages_of_the_same_names(
    done, installed: Path, folder_with_a_clash: Path
) -> None:
    python = installed / "python"
    validate = ("-m", "dagster", "definitions", "validate", "-m", "em_pipelines.definitions", "-d", ".")
    done(python, *validate, cwd=folder_with_a_clash)
    where, n_assets, digests = json.loads(done(python, "-c", ASK % (DIGESTED,), cwd=folder_with_a_clash))
    assert ROOT not in Path(where).parents
    assert n_assets > 20
    assert digests == [code_digest(name) for name in DIGESTED], "a home would be made again by the other layout"


@pytest.mark.slow
def test_a_home_of_a_checkout_is_current_for_the_wheel(
    done, installed: Path, examples_home: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    shutil.copytree(examples_home, home, symlinks=True)
    done(installed / "em", "facts", "--user", "mirela", "--as-of", "2026-09-25", "--home", home, cwd=tmp_path)
    before = modified(home)
    assert "out of date" not in done(installed / "em", "status", "--home", home, cwd=tmp_path)
    done(installed / "em", "run", "--home", home, cwd=tmp_path)
    changed = {path for path, when in modified(home).items() if before[path] != when}
    # Who reads an old day has the rows of its states made again, and a run gives them up.
    assert {path for path in changed if pq.read_metadata(path).num_rows} == set()
    assert "em_pipelines.orchestration" in (home / "dagster" / "dagster.yaml").read_text(encoding="utf-8")


def modified(home: Path) -> dict[Path, int]:
    """When each file of the tables was written."""
    return {path: path.stat().st_mtime_ns for path in (home / "lake").rglob("*.parquet")}
