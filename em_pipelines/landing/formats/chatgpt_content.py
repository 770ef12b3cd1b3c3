"""What a message of ChatGPT's export says, who says it, and what of it is nobody's word."""

import re
from typing import Any

from em_pipelines.landing.formats.base import Fields, id_of, objects_of
from em_pipelines.landing.formats.openai import text_of
from em_pipelines.landing.reasons import Skip

_HIDDEN = ("is_visually_hidden_from_conversation", "is_user_system_message")
_TO_ITSELF = ("thoughts", "reasoning_recap")
_INSTRUCTIONS = "user_editable_context"
_MEMORY = "model_editable_context"
_FROM_ELSEWHERE = ("tether_quote", "tether_browsing_display", "tether_browsing_code", "sonic_webpage")
_OWN_TOOLS = frozenset(
    ["python", "container", "code_interpreter", "dalle", "image_gen", "t2uay3k", "canmore", "bio", "user_settings"]
)
"""Tools that make something of what was said, and bring nothing in; of a name all up to the first dot."""
_KNOWN = (*_FROM_ELSEWHERE, "text", "code", "multimodal_text", "execution_output", "system_error")
"""Types of content that say what they say in `parts`, `text` or `result`, and nothing where those are empty."""
_ABOUT = ("content_type", "language", "response_format_name")
_SPOKEN = "audio_transcription"
_FENCED = re.compile(r"```\n?(.*?)\n?```", re.DOTALL)


def why_not(message: Fields) -> Skip | None:
    """Why a message is not landed; None where it is."""
    kind = _part(message, "content").get("content_type")
    if kind in _TO_ITSELF:
        return Skip.REASONING
    if kind == _MEMORY or "bio" in (message.get("recipient"), _part(message, "author").get("name")):
        return Skip.MODEL_MEMORY
    metadata = _part(message, "metadata")
    is_hidden = any(metadata.get(name) for name in _HIDDEN) or _part(message, "author").get("role") == "system"
    if is_hidden or message.get("weight") in (0, 0.0):
        return Skip.HIDDEN
    if content_of(message).strip():
        return None
    holds_more = any(value for name, value in _part(message, "content").items() if name not in _ABOUT)
    return Skip.UNKNOWN_CONTENT if holds_more and kind not in _KNOWN else Skip.EMPTY


def custom_instructions(message: Fields) -> str:
    """What the user has written in the settings, about themselves and on answers; empty in any other message."""
    content, told = _part(message, "content"), _part(message, "metadata").get("user_context_message_data")
    if isinstance(told, dict):
        said = [told.get("about_user_message"), told.get("about_model_message")]
    elif content.get("content_type") == _INSTRUCTIONS:
        # The words around the fences are the program's.
        said = [_fenced(content.get(name)) for name in ("user_profile", "user_instructions")]
    else:
        return ""
    return "\n".join(text.strip() for text in said if isinstance(text, str) and text.strip())


def _fenced(text: Any) -> Any:
    found = _FENCED.search(text) if isinstance(text, str) else None
    return found[1] if found else text


def role_of(message: Fields) -> object:
    """Who speaks; what the assistant writes to a tool is a tool's."""
    role = _part(message, "author").get("role")
    return "tool" if role == "assistant" and _is_call(message) else role


def _is_call(message: Fields) -> bool:
    return message.get("recipient") not in (None, "", "all", "assistant")


def is_from_elsewhere(message: Fields) -> bool:
    """Whether a message holds text that a tool brought in from the web, from files or from elsewhere. What an answer
    cites is none: its words are the assistant's own, and titles and snippets beside them are no part of it."""
    author = _part(message, "author")
    is_fetched = _part(message, "content").get("content_type") in _FROM_ELSEWHERE or (
        author.get("role") == "tool" and str(author.get("name")).partition(".")[0] not in _OWN_TOOLS
    )
    return is_fetched and bool(content_of(message).strip())


def is_spoken(message: Fields) -> bool:
    """Whether it was said aloud and written down by the program."""
    parts = objects_of(_part(message, "content").get("parts"))
    return any(part.get("content_type") == _SPOKEN for part in parts)


def content_of(message: Fields) -> str:
    """The text of a message, a word in brackets for each thing in it that is none, and names of what was uploaded."""
    content = _part(message, "content")
    found = text_of(_said(message, content))
    text = found if isinstance(found, str) else ""
    if text and role_of(message) == "tool" and _is_call(message):
        text = f"{message.get('recipient')} {text}"
    return "\n".join([text, *_attached(message)]).strip("\n")


def _said(message: Fields, content: Fields) -> Any:
    """Where a message keeps its words: parts, text or a result, or content that is no object."""
    if not content:
        return message.get("content")
    parts = content.get("parts")
    return parts if isinstance(parts, list | str) else content.get("text") or content.get("result")


def _attached(message: Fields) -> list[str]:
    uploads = objects_of(_part(message, "metadata").get("attachments"))
    shown = [
        upload for upload in uploads if not str(upload.get("mime_type") or upload.get("mimeType")).startswith("image/")
    ]
    return [f"[attachment: {name}]" for upload in shown if (name := id_of(upload.get("name")))]


def _part(message: Fields, name: str) -> Fields:
    found = message.get(name)
    return found if isinstance(found, dict) else {}
