"""Every example of every pattern file, run through the whole extractor; a case a file, which lists what is wrong."""

from collections.abc import Callable

import pytest

from em_pipelines.extraction.rules.patterns import PatternSpec, load_patterns

SPECS: dict[str, dict[str, PatternSpec]] = {}
"""By file, and by the pattern's id."""
for pattern in load_patterns():
    SPECS.setdefault(pattern.pattern_id.partition(".")[0], {})[pattern.pattern_id] = pattern.spec


@pytest.mark.parametrize("file", SPECS)
def test_examples_give_their_claims_and_no_others(file: str, claims_of: Callable[..., list[str]]) -> None:
    examples = [(pattern_id, example) for pattern_id, spec in SPECS[file].items() for example in spec.examples]
    read = [(f"{i}: {e.text}", sorted(claims_of(e.text)), sorted(e.claims)) for i, e in examples]
    assert read
    assert [one for one in read if one[1] != one[2]] == []


@pytest.mark.parametrize("file", SPECS)
def test_patterns_have_an_example_that_they_read_and_one_that_they_leave_alone(file: str, read) -> None:
    never_read, always_read = [], []
    for pattern_id, spec in SPECS[file].items():
        readings = [{claim.pattern_id for claim in read(e.text).claims} for e in spec.examples]
        is_kin = spec.relation == "=kin"
        if not any(("people.kin_phrase" if is_kin else pattern_id) in ids for ids in readings):
            never_read.append(pattern_id)
        if not is_kin and all(pattern_id in ids for ids in readings):
            always_read.append(pattern_id)
    assert (never_read, always_read) == ([], [])
