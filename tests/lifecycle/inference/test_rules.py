"""The rule file: what ships is sound in form, and a bad rule is named with its reason."""

import re
from pathlib import Path

import pytest

from em_pipelines.errors import PermanentError, RuleFileError
from em_pipelines.lifecycle.inference.rules import Walk, parse_rules, rules_of
from em_pipelines.lifecycle.inference.settings import InferenceSettings


def test_the_shipped_rules_can_be_read() -> None:
    rules = rules_of(InferenceSettings())
    assert [rule.rule_id for rule in rules] == sorted({rule.rule_id for rule in rules})
    assert all(rule.about for rule in rules)


def test_a_rule_is_laid_out_as_a_path() -> None:
    (rule,) = parse_rules("""rules:
      - id: colleague
        about: Both work there.
        when: [one works_at firm, other works_at|member_of firm]
        then: other colleague_of one
        unless: one manages other
        types: {firm: organization, one: [person, animal]}""")
    assert rule.path == (Walk(("works_at",), False), Walk(("works_at", "member_of"), True))
    assert (rule.subject, rule.conclusion, rule.object) == (2, "colleague_of", 0)
    assert rule.unless == ("manages", 0, 2)
    assert rule.types == (("person", "animal"), ("organization",), None)


GOOD = {"id": "a-rule", "about": "x", "when": "[a part_of b, b part_of c]", "then": "a part_of c"}
BAD = [
    ({"id": "A rule"}, "id:"),
    ({"id": "model"}, "what a model proposes"),
    ({"about": None}, "about:"),
    ({"about": "''"}, "about:"),
    ({"more": "x"}, "more:"),
    ({"when": "[]"}, "found 0 patterns"),
    ({"when": "[a part_of b, b part_of c, c part_of d, d part_of e]"}, "found 4 patterns"),
    ({"when": "[a part_of b c, b part_of c]"}, "found 4 words"),
    ({"when": "[a part_of a, a part_of c]"}, "from a thing to itself"),
    ({"when": "[a belongs_to b, b part_of c]"}, "'belongs_to' is no relation of the vocabulary"),
    ({"when": "[a part_of|has_age b, b part_of c]"}, "leads to a literal"),
    ({"when": "[a part_of b, c part_of d]"}, "share 0 variables"),
    ({"when": "[a part_of b, b has_part a]"}, "share 2 variables"),
    ({"when": "[a part_of b, a part_of c, a part_of d]"}, "no chain"),
    ({"when": "[a part_of b, b part_of c, c part_of a]"}, "no chain"),
    ({"then": "a part_of d"}, "then: the variable 'd'"),
    ({"then": "a part_of a"}, "from a thing to itself"),
    ({"then": "a same c"}, "rules of one pattern"),
    ({"then": "a part_of|located_in c"}, "name one relation"),
    ({"then": "a is_inside c"}, "'is_inside' is no relation"),
    ({"then": "a has_name c"}, "leads to a literal"),
    ({"when": "[a likes b]", "then": "b inverse a"}, "'likes' has no inverse"),
    ({"unless": "a part_of z"}, "unless: the variable 'z'"),
    ({"unless": "a part_of|likes c"}, "unless: one edge"),
    ({"types": "{z: person}"}, "types: the variable 'z'"),
    ({"types": "{a: people}"}, "'people' is no entity type"),
    ({"types": "{a: []}"}, "no entity type"),
    ({"stated_only": "'yes'"}, "stated_only:"),
]


def written(rule: dict[str, str | None]) -> str:
    fields = ", ".join(f"{key}: {value}" for key, value in rule.items() if value is not None)
    return f"rules:\n  - {{{fields}}}\n"


def test_the_rule_that_the_bad_ones_are_made_from_is_good() -> None:
    assert len(parse_rules(written({**GOOD}))) == 1


@pytest.mark.parametrize(("change", "reason"), BAD, ids=[reason for _, reason in BAD])
def test_a_bad_rule_is_named_with_its_reason(change: dict[str, str | None], reason: str) -> None:
    with pytest.raises(RuleFileError, match=re.escape(reason)) as raised:
        parse_rules(written({**GOOD, **change}), "mine.yaml")
    assert isinstance(raised.value, PermanentError)
    assert "mine.yaml" in str(raised.value)
    assert str(change.get("id", "a-rule")) in str(raised.value)


@pytest.mark.parametrize("text", ["rules: [", "[]", "", "rules: {}", "rules: []\nmore: 1"])
def test_a_file_without_rules_is_refused(text: str) -> None:
    with pytest.raises(RuleFileError, match="reading the rule file"):
        parse_rules(text)


@pytest.mark.parametrize("text", ["rules: [x]", "rules: [null]"])
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(RuleFileError, match="rule 1 "):
        parse_rules(text)


def test_an_id_stands_for_one_rule() -> None:
    with pytest.raises(RuleFileError, match=r"rule 2 \(a-rule\): another rule has this id"):
        parse_rules(written({**GOOD}) + written({**GOOD}).removeprefix("rules:\n"))


def test_a_file_of_ones_own_takes_the_place_of_the_shipped_one(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(written({**GOOD}))
    assert [rule.rule_id for rule in rules_of(InferenceSettings(rules_file=path))] == ["a-rule"]
    with pytest.raises(RuleFileError, match=r"set inference\.rules_file to a file"):
        rules_of(InferenceSettings(rules_file=tmp_path / "none.yaml"))
