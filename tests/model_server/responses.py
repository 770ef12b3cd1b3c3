"""The bodies of the Responses API and of cited web pages, as the scripted server gives them."""

from typing import Any

from tests.model_server.script import Call, Step


def response(call: Call, step: Step) -> dict[str, Any]:
    """The body of a response: the searches it made, what they found, and what it says."""
    text = step.text(call)
    is_whole = step.finish_reason in {"stop", "refusal"}
    body: dict[str, Any] = {
        "id": f"resp_{call.number}",
        "object": "response",
        "created_at": 0,
        "model": call.body.get("model"),
        "status": "failed" if step.error_code else "completed" if is_whole else "incomplete",
        "error": {"code": step.error_code, "message": "it failed"} if step.error_code else None,
        "incomplete_details": None if is_whole else {"reason": _reason(step.finish_reason)},
        "output": [*_searches(call, step), _message(text, step)],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    if step.has_usage:
        n_prompt, n_completion = -(-call.n_prompt_characters // 4), -(-len(text) // 4)
        body["usage"] = {
            "input_tokens": n_prompt,
            "input_tokens_details": {"cached_tokens": step.cached_tokens, "cache_write_tokens": 0},
            "output_tokens": n_completion,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": n_prompt + n_completion,
        }
    return body


def citations(step: Step) -> list[dict[str, Any]]:
    """The cited pages as Chat Completions has them."""
    return [{"type": "url_citation", "url_citation": cited} for cited in _cited(step)]


def _reason(finish_reason: str) -> str:
    return "max_output_tokens" if finish_reason == "length" else finish_reason


def _cited(step: Step) -> list[dict[str, Any]]:
    return [{"start_index": 0, "end_index": 0, "url": url, "title": title} for url, title in step.pages if title]


def _searches(call: Call, step: Step) -> list[dict[str, Any]]:
    """A page that has a title is cited, too; one without stands among the sources of the search alone."""
    sources = [{"type": "url", "url": url} for url, _ in step.pages]
    return [
        {
            "id": f"ws_{call.number}_{number}",
            "type": "web_search_call",
            "status": "completed",
            "action": {"type": "search", "query": "what was asked", "sources": sources if number == 0 else []},
        }
        for number in range(step.n_searches)
    ]


def _message(text: str, step: Step) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "refusal", "refusal": text}
    if step.finish_reason != "refusal":
        part = {
            "type": "output_text",
            "text": text,
            "annotations": [{"type": "url_citation", **c} for c in _cited(step)],
        }
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
