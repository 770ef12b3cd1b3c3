import pytest

from em_pipelines.errors import PatternError
from em_pipelines.extraction.rules.patterns import compile_file, compile_frame, load_patterns

GOOD = """
group: test
patterns:
  - id: like
    frame: "{subject} <like> {object:thing}"
    relation: likes
    examples: [{text: I like moss., claims: [user | likes | moss]}]
"""


def test_frame_comes_apart_at_its_verb() -> None:
    left, lemmas, right = compile_frame("{subject} <work> ... at|for {object:org} !to")
    assert [e.kind for e in left] == ["slot"]
    assert lemmas == {"work"}
    assert [e.kind for e in right] == ["gap", "word", "slot", "not"]


@pytest.mark.parametrize(
    ("broken", "named"),
    [
        (GOOD.replace("relation: likes", "relation: adores"), "like"),
        (GOOD.replace("<like>", "like"), "test.like"),
        (GOOD.replace(":thing", ":gizmo"), "test.like"),
        (GOOD.replace("{object:thing}", "{thing:thing}"), "test.like"),
        (GOOD.replace("<like>", "<flibber>"), "flibber"),
        (GOOD.replace("<like>", "<like> <love>"), "test.like"),
        (GOOD.replace("relation: likes", "relation: has_attribute"), "like"),
        (GOOD.replace("relation: likes", "relation: likes\n    colour: red"), "like"),
        (GOOD.replace("    examples: [{text: I like moss., claims: [user | likes | moss]}]\n", ""), "like"),
        (GOOD + GOOD.split("patterns:\n")[1], "test.like"),
        ("group: [", "broken.yaml"),
        ("- 1", "broken.yaml"),
    ],
)
def test_bad_pattern_file_is_refused_with_its_name_and_the_patterns(tmp_path, broken: str, named: str) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(broken, encoding="utf-8")
    with pytest.raises(PatternError, match=r"broken\.yaml") as refused:
        compile_file(path)
    assert named in str(refused.value)


def test_good_file_compiles(tmp_path) -> None:
    path = tmp_path / "good.yaml"
    path.write_text(GOOD, encoding="utf-8")
    assert [pattern.pattern_id for pattern in compile_file(path)] == ["test.like"]


def test_folder_without_patterns_is_refused(tmp_path) -> None:
    with pytest.raises(PatternError, match=r"no \.yaml"):
        load_patterns(tmp_path)
