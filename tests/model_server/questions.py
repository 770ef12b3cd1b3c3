"""Questions to ask in tests."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from em_pipelines.llm.protocol import ChatRequest, Message

SCHEMA = {
    "type": "object",
    "properties": {"likes": {"type": "string"}},
    "required": ["likes"],
    "additionalProperties": False,
}


def question(text: str = "Ines likes plums.", **changes: Any) -> ChatRequest:
    """A request about a text, for the small model, with fields changed as named."""
    request = ChatRequest(
        user_id="ines",
        task="extraction",
        model="small",
        prompt_version="1",
        messages=(Message("system", "Say what is liked."), Message("user", text)),
        schema_name="likes",
        schema=SCHEMA,
        max_output_tokens=200,
        temperature=0.0,
        reference="seg_1",
        correlation_id="cor_1",
        at=datetime(2026, 3, 1, 10, tzinfo=UTC),
    )
    return replace(request, **changes)
