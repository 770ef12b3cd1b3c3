"""Claude.ai's data export: conversations.json, a list of conversations.

    [{"uuid": …, "name": …, "created_at": …, "chat_messages": [{"uuid": …, "parent_message_uuid": …,
      "sender": "human" or "assistant", "text": …, "created_at": …, "content": [{"type": "text", "text": …}],
      "attachments": [{"file_name": …, "extracted_content": …}], "files": [{"file_name": …}]}]}]

What stands is the branch that was written last; what the user wrote in others is kept as closed dead letters. What was
pasted or read out of a file is a quotation in the message: kept, and no word of who sent it. A message that holds text
which a tool brought in from the web or from elsewhere is untrusted. A message of nothing but calls and what they gave
has the role tool. Turns are places in chat_messages, from 0; line numbers are the conversation's, from 1.
"""

import re
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
    of_other_branch,
    quoted,
)
from em_pipelines.landing.formats.branches import Node, standing
from em_pipelines.landing.formats.openai import kind_of_part, text_of
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import Reason, Skip

_ROLES = {"human": "user", "assistant": "assistant"}
_SAID = ("text", "voice_note")
_KNOWN = ("text", "voice_note", "tool_use", "tool_result", "token_budget", "flag")
_CALLS = ("tool_use", "tool_result")
_OWN_TOOLS = frozenset(
    [
        "artifacts", "repl", "analysis_tool", "bash_tool", "create_file", "str_replace", "view", "present_files",
        "conversation_search", "recent_chats", "memory_user_edits", "ask_user_input_v0",
    ]
)  # fmt: skip
"""Tools that reach no further than the conversation, its sandbox and other conversations of the user."""
_IMAGE = re.compile(r"(?i)\.(?:png|jpe?g|webp|gif|heic|avif)$")


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
        if not messages:
            yield Ignored(number, Skip.EMPTY_CONVERSATION)
        stands = _standing(messages, conversation.get("current_leaf_message_uuid"))
        for turn, message in enumerate(messages):
            if turn in stands:
                yield _message(number, turn, message, conversation, source)
            else:
                yield of_other_branch(number, _message(number, turn, message, conversation, source))


def _standing(messages: list[Any], current: object) -> set[int]:
    """The places of messages on the branch that stands, and of what is no message; all where none says whom it
    follows, as in older exports."""
    names = {
        turn: id_of(found.get("uuid")) or f"#{turn}" for turn, found in enumerate(messages) if isinstance(found, dict)
    }
    if not any(messages[turn].get("parent_message_uuid") for turn in names):
        return set(range(len(messages)))
    stands = set(standing({name: _node(messages[turn]) for turn, name in names.items()}, current))
    return {turn for turn in range(len(messages)) if names.get(turn) in stands or turn not in names}


def _node(message: Fields) -> Node:
    at = instant_of(message.get("created_at"))
    return Node(id_of(message.get("parent_message_uuid")), at=at.timestamp() if at else None)


def _message(number: int, turn: int, message: Any, conversation: Fields, source: Source) -> Item:
    if not isinstance(message, dict):
        detail = f"conversation {number}, message {turn}: expected a JSON object, found {type(message).__name__}"
        return Rejected(number, Reason.NOT_AN_OBJECT, detail, dumps(message))
    text, blocks = _text(message), objects_of(message.get("content"))
    calls = [shown for block in blocks if (shown := _call(block))]
    is_call = bool(calls) and not text.strip()
    content = "\n".join(calls) if is_call else "\n".join([text, *_attached(message)]).strip("\n")
    if not content.strip():
        return Ignored(number, _why_nothing(blocks))
    sender, started_at = message.get("sender"), instant_of(conversation.get("created_at"))
    at = instant_of(message.get("created_at")) or (started_at + timedelta(seconds=turn) if started_at else None)
    role = _ROLES.get(sender, sender) if isinstance(sender, str) else sender
    fields = {
        "user_id": source.user(),
        "session_id": id_of(conversation.get("uuid")) or f"{source.name}#{number}",
        "turn_number": turn,
        "role": "tool" if is_call else role,
        "content": content,
        "timestamp": iso_or_none(at),
        "trust": "untrusted" if any(map(_is_from_elsewhere, blocks)) else None,
        "source_id": id_of(message.get("uuid")),
        "source_format": "claude",
    }
    return dated(
        number, fields, f"conversation {number}, message {turn}: no time; add `created_at` to the conversation"
    )


def _why_nothing(blocks: list[Fields]) -> Skip:
    """Why a message without words is none."""
    if any("thinking" in str(block.get("type")) for block in blocks):
        return Skip.REASONING
    is_unknown = any(block.get("type") not in _KNOWN and block.keys() - {"type"} for block in blocks)
    return Skip.UNKNOWN_CONTENT if is_unknown else Skip.EMPTY


def _text(message: Fields) -> str:
    # `text` is the older field; beside blocks it is empty, or says that some of them cannot be shown.
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    said: Any = text_of([part for part in parts if isinstance(part, str) or _is_said(part)])
    if not said and not any(block.get("type") in _CALLS for block in objects_of(content)):
        said = text_of(message.get("text"))
    return said if isinstance(said, str) else ""


def _is_said(block: object) -> bool:
    """Whether a block is text: that of other programs is called `input_text` or says no type."""
    if not isinstance(block, dict) or not any(block.get(name) for name in ("text", "parts")):
        return False
    return block.get("type") in _SAID or kind_of_part(block).endswith("text") or "type" not in block


def _call(block: Fields) -> str | None:
    """A call of a tool, or what it gave, as text."""
    if block.get("type") == "tool_use":
        return f"{id_of(block.get('name')) or 'tool'} {dumps(block.get('input')).decode()}"
    if block.get("type") != "tool_result":
        return None
    found = text_of(block.get("content"))
    return found if isinstance(found, str) else None


def _is_from_elsewhere(block: Fields) -> bool:
    """Whether a block holds what a tool brought in. What an answer cites is none: its words are the assistant's own."""
    if block.get("type") != "tool_result" or block.get("name") in _OWN_TOOLS:
        return False
    found = block.get("content")
    return any(map(_is_text, found)) if isinstance(found, list) else _is_text(found)


def _is_text(found: object) -> bool:
    """Whether something that a tool gave is more than the title and address of a page."""
    if isinstance(found, dict) and found.get("type") in ("knowledge", "text"):
        found = found.get("text")
    return bool(found.strip() if isinstance(found, str) else found)


def _attached(message: Fields) -> Iterator[str]:
    """What was sent along: by name, an image by that, and text that was read out of it or pasted as a quotation."""
    names = set()
    for attachment in objects_of(message.get("attachments")):
        name, text = attachment.get("file_name"), attachment.get("extracted_content")
        if isinstance(name, str) and name:
            names.add(name)
            yield f"[attachment: {name}]"
        elif isinstance(text, str) and text.strip():
            yield "[attachment]"
        if isinstance(text, str) and text.strip():
            yield quoted(text)
    for upload in objects_of(message.get("files") or message.get("files_v2")):
        name = upload.get("file_name")
        if isinstance(name, str) and name not in names:
            yield "[image]" if _IMAGE.search(name) else f"[attachment: {name}]"


FORMAT = Format("claude", sniff, convert)
