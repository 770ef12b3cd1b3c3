"""Every example of every pattern file, run through the whole extractor."""

from collections.abc import Callable

import pytest

from em_pipelines.extraction.rules.patterns import load_patterns

SPECS = {pattern.pattern_id: pattern.spec for pattern in load_patterns()}
EXAMPLES = [(pattern_id, example) for pattern_id, spec in SPECS.items() for example in spec.examples]


@pytest.mark.parametrize(("pattern_id", "example"), EXAMPLES, ids=[f"{i}: {e.text}" for i, e in EXAMPLES])
def test_example_gives_its_claims_and_no_others(pattern_id: str, example, claims_of: Callable[..., list[str]]) -> None:
    assert sorted(claims_of(example.text, channel=example.channel)) == sorted(example.claims)


@pytest.mark.parametrize("pattern_id", sorted(SPECS))
def test_pattern_has_an_example_that_it_reads_and_one_that_it_leaves_alone(pattern_id: str, read) -> None:
    readings = [
        {claim.pattern_id for claim in read(e.text, channel=e.channel).claims} for e in SPECS[pattern_id].examples
    ]
    is_kin = SPECS[pattern_id].relation == "=kin"
    assert any(("people.kin_phrase" if is_kin else pattern_id) in found for found in readings)
    assert is_kin or any(pattern_id not in found for found in readings)
