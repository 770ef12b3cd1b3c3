"""Which document of an answer is read: the first complete one that fits, behind the reasoning."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.llm.documents import documents, last_document, whole_document, without_echo, without_reasoning

ANSWER = '{"likes": "plums"}'
DRAFT = '{"likes": "pears"}'


@pytest.mark.parametrize(
    "text",
    [
        f"<think>Perhaps {DRAFT}, but no.</think>\n{ANSWER}",
        f'<think>Perhaps {{"likes": "pe</think>{ANSWER}',
        f"<Thinking>\nPerhaps {DRAFT}\n</Thinking>\n\n{ANSWER}",
        f"Perhaps {DRAFT}. No.\n</think>\n{ANSWER}",
        f"<think>one <think>two</think> {DRAFT}</think>{ANSWER}",
        f"[THINK]Perhaps {DRAFT}[/THINK]{ANSWER}",
        f"<seed:think>Perhaps {DRAFT}</seed:think>{ANSWER}",
        f"<|channel|>analysis<|message|>Perhaps {DRAFT}<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}",
        f"{ANSWER}\n<think>or was it {DRAFT}",
    ],
)
def test_reasoning_is_no_answer(text: str) -> None:
    assert list(documents(without_reasoning(text))) == [{"likes": "plums"}]


@pytest.mark.parametrize("text", [f"<think>Perhaps {DRAFT}", f"<think>Perhaps {ANSWER} and so on"])
def test_reasoning_without_an_end_hides_all_that_follows(text: str) -> None:
    assert list(documents(without_reasoning(text))) == []


@pytest.mark.parametrize("text", ["", ANSWER, '{"likes": "the word </think>"}', "no marks at all { }"])
def test_what_has_no_reasoning_stays_as_it_is(text: str) -> None:
    assert without_reasoning(text) == text


@pytest.mark.parametrize(
    "text",
    [
        f"A draft: {DRAFT}\nThe answer: {ANSWER}",
        f"Of the talk {{about fruit}}, here it is: {ANSWER} Hope it {{helps}}!",
        f'An example is {{"name": "x"}}. {ANSWER}',
        json.dumps({"answer": json.loads(ANSWER)}),
        f"[{DRAFT}, {ANSWER}]",
        f'{{"likes": "pe\n\nAgain: {ANSWER}',
    ],
)
def test_the_last_complete_document_that_fits_is_read(text: str) -> None:
    assert last_document(text, lambda one: "likes" in one) == {"likes": "plums"}


def test_of_a_key_that_comes_twice_the_first_value_with_something_in_it_counts() -> None:
    assert whole_document('{"a": [], "b": 1, "a": [1], "b": 2, "a": []}') == {"a": [1], "b": 1}


@given(st.text(max_size=200), st.text(max_size=200))
def test_no_text_makes_it_raise(before: str, behind: str) -> None:
    for text in (before, f"{before}<think>{behind}", f"{before}</think>{behind}"):
        list(documents(without_reasoning(text)))
        whole_document(text)


@pytest.mark.parametrize("text", ["[" * 60_000, '{"a":' * 3_000, '{"a":[' * 3_000, "{" * 60_000])
def test_depth_is_no_document(text: str) -> None:
    found: list[dict[str, Any]] = list(documents(text))
    assert found == []


def test_a_prompt_that_comes_back_is_no_answer() -> None:
    example = '{"likes": "the example of the prompt, which is a long line, longer than any answer repeats"}'
    prompt = f"Say what is liked.\n{example}\n{{}}\nInes likes plums."
    assert without_echo(prompt, prompt) == ""
    assert without_echo(f"{prompt}\n{ANSWER}", prompt) == ANSWER
    assert without_echo("{}", prompt) == "{}", "a short line may well be an answer"
