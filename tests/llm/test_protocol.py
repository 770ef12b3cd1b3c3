"""Requests: what their key hangs on."""

from datetime import UTC, datetime

import pytest

from em_pipelines.llm.protocol import Message
from tests.model_server.questions import SCHEMA, question


@pytest.mark.parametrize(
    "change",
    [
        {"user_id": "milo"}, {"task": "inference"}, {"model": "large"}, {"prompt_version": "2"},
        {"messages": (Message("user", "Ines likes plums."),)}, {"schema_name": "loves"},
        {"schema": {**SCHEMA, "required": []}}, {"max_output_tokens": 201}, {"temperature": 0.5},
    ],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_what_determines_the_answer_and_the_user_change_the_key(change: dict[str, object]) -> None:
    assert question(**change).key != question().key


@pytest.mark.parametrize(
    "change", [{"reference": "seg_2"}, {"correlation_id": "cor_2"}, {"at": datetime(2026, 4, 1, tzinfo=UTC)}]
)
def test_what_a_call_is_for_does_not(change: dict[str, object]) -> None:
    assert question(**change).key == question().key


def test_the_order_of_a_schema_does_not_change_the_key() -> None:
    assert question(schema=dict(reversed(SCHEMA.items()))).key == question().key


def test_tokens_of_a_prompt_include_the_schema() -> None:
    bare = question("12345678", schema={})
    assert bare.n_prompt_tokens == (len("Say what is liked.") + 8 + 2) / 4
    assert question("12345678").n_prompt_tokens > bare.n_prompt_tokens + 25
