"""Health, money and identity documents are told from work, study and manners of speaking."""

import pytest

from em_pipelines.guard.sensitive import categories, sensitive_spans

EXAMPLES = [(name, example) for name, category in categories().items() for example in category.examples]


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[f"{n}: {e['text']}" for n, e in EXAMPLES])
def test_an_example_of_the_word_file_is_found_where_it_says(name: str, example: dict) -> None:
    found = [example["text"][start:end] for start, end in sensitive_spans(example["text"], (name,))]
    assert found == example.get("found", [])
