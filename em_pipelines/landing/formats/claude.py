"""Claude.ai's data export: conversations.json, a list of conversations.

    [{"uuid": …, "name": …, "created_at": …, "chat_messages": [{"uuid": …, "sender": "human" or "assistant",
      "text": …, "created_at": …, "content": [{"type": "text", "text": …}], "attachments": […]}]}]

Line numbers are the conversation's, from 1.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from em_pipelines.landing.formats.base import (
    Fields,
    Format,
    Ignored,
    Item,
    Rejected,
    Sample,
    Source,
    dated,
    dumps,
    id_of,
    instant_of,
    iso_or_none,
    json_conversations,
    objects_of,
)
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import Reason

_ROLES = {"human": "user", "assistant": "assistant"}


def sniff(sample: Sample) -> bool:
    """Whether it is a document that holds chat messages."""
    return sample.text.lstrip()[:1] in ("[", "{") and sample.has("chat_messages")


def convert(file: InputFile, source: Source) -> Iterator[Item]:
    """Yields the messages of each conversation in order. Raises RuleError on a broken document."""
    for item in json_conversations(file):
        if isinstance(item, Rejected):
            yield item
            continue
        number, conversation = item
        messages = conversation.get("chat_messages")
        if not isinstance(messages, list):
            detail = f"conversation {number}: chat_messages: expected a list of messages"
            yield Rejected(number, Reason.MISSING_FIELD, detail, dumps(conversation))
            continue
        for turn, message in enumerate(messages):
            yield _message(number, turn, message, conversation, source)


def _message(number: int, turn: int, message: Any, conversation: Fields, source: Source) -> Item:
    if not isinstance(message, dict):
        detail = f"conversation {number}, message {turn}: expected a JSON object, found {type(message).__name__}"
        return Rejected(number, Reason.NOT_AN_OBJECT, detail, dumps(message))
    content = _content(message)
    if not content.strip():
        return Ignored(number)
    sender, started_at = message.get("sender"), instant_of(conversation.get("created_at"))
    at = instant_of(message.get("created_at")) or (started_at + timedelta(seconds=turn) if started_at else None)
    fields = {
        "user_id": source.user(),
        "session_id": id_of(conversation.get("uuid")) or f"{source.name}#{number}",
        "turn_number": turn,
        "role": _ROLES.get(sender, sender) if isinstance(sender, str) else sender,
        "content": content,
        "timestamp": iso_or_none(at),
        "source_id": id_of(message.get("uuid")),
        "source_format": "claude",
    }
    return dated(
        number, fields, f"conversation {number}, message {turn}: no time; add `created_at` to the conversation"
    )


def _content(message: Fields) -> str:
    # `text` is the older field; newer exports leave it empty where content has blocks of several types.
    texts = [
        block["text"]
        for block in objects_of(message.get("content"))
        if block.get("type") == "text" and isinstance(block.get("text"), str)
    ]
    text = "\n".join(texts) or message.get("text")
    names = [
        f"[attachment: {attachment['file_name']}]"
        for attachment in objects_of(message.get("attachments"))
        if isinstance(attachment.get("file_name"), str)
    ]
    return "\n".join([text if isinstance(text, str) else "", *names]).strip("\n")


FORMAT = Format("claude", sniff, convert)
