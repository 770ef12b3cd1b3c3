"""The alias file: what it may say, and the error for what it may not."""

import re
from pathlib import Path

import pytest

from em_pipelines.errors import SettingsError
from em_pipelines.resolution.user_registry import NO_ALIASES, load_aliases

PAGE = Path(__file__).parents[2] / "docs" / "resolution.md"


def test_the_example_of_the_page_is_read(tmp_path: Path) -> None:
    example = re.search(r"^```yaml\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert example
    (tmp_path / "aliases.yaml").write_text(example[1], encoding="utf-8")
    found = load_aliases(None, tmp_path)
    assert found.of("mirela")["rui"].name == "Rui Tavares"
    assert found.of("anybody")["k8s"].name == "Kubernetes"
    assert found.digest != NO_ALIASES.digest


def test_no_file_is_no_aliases_but_a_named_one_must_be_there(tmp_path: Path) -> None:
    assert load_aliases(None, tmp_path) is NO_ALIASES
    with pytest.raises(SettingsError, match="alias file"):
        load_aliases(tmp_path / "mine.yaml", tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, 2]", "no users with entries"),
        ("u: {a: b}", "u: not a list"),
        ("u: [{name: A}]", "u, entry 1: aliases"),
        ("u: [{name: A, aliases: [B]}, {name: C, aliases: [b]}]", "u, entry 2: 'b' stands in entry 1"),
        ("u: [{name: A, aliases: [B], type: ghost}]", "u, entry 1: type"),
        ("u: [", "while parsing"),
    ],
)
def test_a_bad_entry_is_named(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "aliases.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=re.escape(said)):
        load_aliases(None, tmp_path)
