"""ChatGPT's data export: conversations.json, a list of conversations, each a tree of messages.

    [{"id": …, "title": …, "create_time": 1790183100.0, "current_node": ID,
      "mapping": {ID: {"message": {"author": {"role": …}, "create_time": …, "content": {"content_type": "text",
                  "parts": [TEXT or {image}]}, "metadata": {…}}, "parent": ID, "children": [ID]}}}]

What is landed is the branch that the user last saw: from current_node up to the root. Turn numbers are the depth in
the tree, so that a longer export of the same conversation gives the same numbers. Line numbers are the
conversation's, from 1.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

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
)
from em_pipelines.landing.formats.openai import text_of
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import Reason

_HIDDEN = ("is_visually_hidden_from_conversation", "is_user_system_message")


def sniff(sample: Sample) -> bool:
    """Whether it is a document that holds mappings of nodes."""
    return sample.text.lstrip()[:1] in ("[", "{") and sample.has("mapping", "parent", "children")


def convert(file: InputFile, source: Source) -> Iterator[Item]:
    """Yields the messages of the chosen branch of each conversation. Raises RuleError on a broken document."""
    for item in json_conversations(file):
        if isinstance(item, Rejected):
            yield item
            continue
        number, conversation = item
        mapping = conversation.get("mapping")
        if not isinstance(mapping, dict):
            detail = f"conversation {number}: mapping: expected the tree of messages"
            yield Rejected(number, Reason.MISSING_FIELD, detail, dumps(conversation))
            continue
        yield from _messages(number, conversation, chosen_branch(mapping, conversation.get("current_node")), source)


def chosen_branch(mapping: Fields, current: object) -> list[Fields]:
    """The nodes from the root to the current one; without one, to the last leaf. Loops are cut."""
    nodes = {k: v for k, v in mapping.items() if isinstance(v, dict)}
    if not isinstance(current, str) or current not in nodes:
        leaves = [k for k, v in nodes.items() if not v.get("children")]
        current = leaves[-1] if leaves else None
    branch: list[Fields] = []
    while isinstance(current, str) and current in nodes:
        node = nodes.pop(current)
        branch.append(node)
        current = node.get("parent")
    return branch[::-1]


def _messages(number: int, conversation: Fields, branch: list[Fields], source: Source) -> Iterator[Item]:
    session_id = (
        id_of(conversation.get("conversation_id")) or id_of(conversation.get("id")) or f"{source.name}#{number}"
    )
    started_at = instant_of(conversation.get("create_time"))
    for turn, node in enumerate(branch):
        message = node.get("message")
        if not isinstance(message, dict):
            continue  # the root holds none
        content, role = _content(message), _role(message)
        if _is_hidden(message) or role == "system" or not content.strip():
            yield Ignored(number)
            continue
        fields = {
            "user_id": source.user(),
            "session_id": session_id,
            "turn_number": turn,
            "role": role,
            "content": content,
            "timestamp": iso_or_none(_time(message, started_at, turn)),
            "source_id": id_of(message.get("id")),
            "source_format": "chatgpt",
        }
        detail = f"conversation {number}, message {turn}: no time; add `create_time` to the conversation"
        yield dated(number, fields, detail)


def _role(message: Fields) -> object:
    author = message.get("author")
    return author.get("role") if isinstance(author, dict) else None


def _is_hidden(message: Fields) -> bool:
    metadata = message.get("metadata")
    return isinstance(metadata, dict) and any(metadata.get(name) for name in _HIDDEN)


def _content(message: Fields) -> str:
    content = message.get("content")
    if not isinstance(content, dict):
        return ""
    if content.get("content_type") in ("thoughts", "reasoning_recap", "model_editable_context"):
        return ""  # what the model said to itself
    parts = content.get("parts")
    found = text_of(parts) if isinstance(parts, list) else content.get("text") or content.get("result")
    return found if isinstance(found, str) else ""


def _time(message: Fields, started_at: datetime | None, turn: int) -> datetime | None:
    own = instant_of(message.get("create_time"))
    return own or (started_at + timedelta(seconds=turn) if started_at else None)


FORMAT = Format("chatgpt", sniff, convert)
