"""Models that tag a sequence, and files that are none."""

from pathlib import Path

import pytest

from em_pipelines.errors import PatternError
from em_pipelines.extraction import quoted_material
from em_pipelines.guard import standing_instructions
from em_pipelines.language.fitted_models import marginals


@pytest.mark.parametrize("held", [None, b"", b"no model", b"lCRF" + bytes(400)], ids=["none", "empty", "text", "zeros"])
def test_a_damaged_model_is_named(tmp_path: Path, held: bytes | None) -> None:
    path = tmp_path / "quoted.crfsuite"
    if held is not None:
        path.write_bytes(held)
    with pytest.raises(PatternError, match=r"reading the model quoted\.crfsuite: .*restore the file"):
        marginals(path, [["word i"]], ("opens",))


def test_a_model_of_another_task_is_named() -> None:
    with pytest.raises(PatternError, match=r"reading the model quoted\.crfsuite: found no label 'instruction'"):
        marginals(quoted_material.MODEL, [["word i"]], standing_instructions.LABELS)


def test_an_item_has_a_chance_for_each_label() -> None:
    found = marginals(standing_instructions.MODEL, [["first"], ["nothing"]], standing_instructions.LABELS)
    assert [len(its) for its in found] == [2, 2]
    assert all(0 <= chance <= 1 for its in found for chance in its)
    assert marginals(standing_instructions.MODEL, [], standing_instructions.LABELS) == []
