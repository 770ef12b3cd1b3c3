"""ChatGPT's data export: conversations.json (or conversations-000.json and so on), a list of conversations, each a tree
of messages.

    [{"id": …, "title": …, "create_time": 1790183100.0, "current_node": ID,
      "mapping": {ID: {"message": {"author": {"role": …}, "create_time": …, "content": {"content_type": "text",
                  "parts": [TEXT or {image}]}, "metadata": {…}}, "parent": ID, "children": [ID]}}}]

What is landed is the branch that the user last saw: from current_node up to the root. What the user wrote in others is
kept as closed dead letters. Turn numbers are the depth in
the tree, so that a longer export of the same conversation gives the same numbers. Custom instructions, which every
conversation repeats, land once, as the user's. A message with text that a tool brought in from the web, from
files or from elsewhere is untrusted; where it is hidden, the next one is. Line numbers are the conversation's, from 1.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from em_pipelines.landing.formats.base import (
    Fields,
    Format,
    Ignored,
    Item,
    Rejected,
    Remark,
    Sample,
    Source,
    dated,
    dumps,
    id_of,
    instant_of,
    iso_or_none,
    json_conversations,
    of_other_branch,
)
from em_pipelines.landing.formats.branches import Node, standing
from em_pipelines.landing.formats.chatgpt_content import (
    content_of,
    custom_instructions,
    is_from_elsewhere,
    is_spoken,
    role_of,
    why_not,
)
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import Reason, Skip
from em_pipelines.landing.records import NO_CONVERSATION
from em_pipelines.language.counting import counted


def sniff(sample: Sample) -> bool:
    """Whether it is a document that holds mappings of nodes."""
    return sample.text.lstrip()[:1] in ("[", "{") and sample.has("mapping", "parent", "children")


def convert(file: InputFile, source: Source) -> Iterator[Item]:
    """Yields the messages of the chosen branch of each conversation. Raises RuleError on a broken document."""
    instructions = _Instructions(source)
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
        if not any(map(_holds_message, mapping.values())):
            yield Ignored(number, Skip.EMPTY_CONVERSATION)
        branch = chosen_branch(mapping, conversation.get("current_node"))
        others = _beside(branch, mapping)
        if conversation.get("is_do_not_remember") is True:
            yield from [Ignored(number, Skip.NOT_TO_REMEMBER)] * sum(map(_holds_message, branch))
            yield from [Ignored(number, Skip.OTHER_BRANCH)] * len(others)
            continue
        yield from _messages(number, conversation, branch, source, instructions)
        found = (_messages(number, conversation, [node], source, _Instructions(source)) for node in others)
        yield from (of_other_branch(number, next(messages, None)) for messages in found)
    if instructions.found:
        told = counted(len(instructions.found), "text", ("lands", "land"))
        yield Remark(f"{source.name}: {told} as custom instructions, beside the conversations")
    yield from instructions.items()


def chosen_branch(mapping: Fields, current: object) -> list[Fields]:
    """The nodes from the root to the current one; without one, to the last leaf. Loops are cut."""
    found = {name: node for name, node in mapping.items() if isinstance(node, dict)}
    return [found[name] for name in standing({name: _node(node) for name, node in found.items()}, current)]


def _beside(branch: list[Fields], mapping: Fields) -> list[Fields]:
    """The nodes with messages on other branches."""
    chosen = {id(node) for node in branch}
    return [node for node in mapping.values() if _holds_message(node) and id(node) not in chosen]


def _node(node: Fields) -> Node:
    message, children = node.get("message"), node.get("children")
    at = instant_of(message.get("create_time")) if isinstance(message, dict) else None
    named = tuple(child for child in children if isinstance(child, str)) if isinstance(children, list) else ()
    return Node(id_of(node.get("parent")), named, at.timestamp() if at else None)


def _holds_message(node: Any) -> bool:
    return isinstance(node, dict) and isinstance(node.get("message"), dict)


def _messages(
    number: int, conversation: Fields, branch: list[Fields], source: Source, instructions: "_Instructions"
) -> Iterator[Item]:
    session_id = (
        id_of(conversation.get("conversation_id")) or id_of(conversation.get("id")) or f"{source.name}#{number}"
    )
    shared = {
        "user_id": source.user(),
        "session_id": session_id,
        "agent_id": id_of(conversation.get("gizmo_id")) or id_of(conversation.get("default_model_slug")),
        "source_format": "chatgpt",
    }
    clock = _Clock(conversation, branch)
    from_elsewhere = False
    for turn, node in enumerate(branch):
        message = node.get("message")
        if not isinstance(message, dict):
            continue  # the root holds none
        at = clock.tell(message, turn)
        from_elsewhere |= is_from_elsewhere(message)
        said = custom_instructions(message)
        skip = Skip.REPEATED if said and not instructions.take(said, at, number) else why_not(message)
        if said and skip is not Skip.REPEATED:
            continue  # it comes with the others behind all conversations
        if skip:
            yield Ignored(number, skip)
            continue
        fields = {
            **shared,
            "turn_number": turn,
            "role": role_of(message),
            "content": content_of(message),
            "timestamp": iso_or_none(at),
            "channel": "voice" if is_spoken(message) else None,
            "trust": "untrusted" if from_elsewhere else None,
            "source_id": id_of(message.get("id")),
        }
        from_elsewhere = False  # one message that says so is enough for all of the conversation
        detail = f"conversation {number}, message {turn}: no time; add `create_time` to the conversation"
        yield dated(number, fields, detail)


class _Clock:
    """Times of messages; one without comes a second after the one before it, and a second a message after the beginning
    of the conversation."""

    def __init__(self, conversation: Fields, branch: list[Fields]) -> None:
        own = (instant_of(node["message"].get("create_time")) if _holds_message(node) else None for node in branch)
        first = next((at - timedelta(seconds=turn) for turn, at in enumerate(own) if at), None)
        started_at, ended_at = (instant_of(conversation.get(name)) for name in ("create_time", "update_time"))
        self._started_at = started_at or first or ended_at
        self._before: datetime | None = None

    def tell(self, message: Fields, turn: int) -> datetime | None:
        """The time of the next message."""
        at = instant_of(message.get("create_time"))
        if at is None and self._started_at:
            at = self._started_at + timedelta(seconds=turn)
            at = max(at, self._before + timedelta(seconds=1)) if self._before else at
        self._before = at or self._before
        return at


@dataclass(slots=True)
class _Instructions:
    """Custom instructions of one file: each text once, as of the first conversation that had it."""

    source: Source
    found: dict[str, tuple[datetime | None, int]] = field(default_factory=dict)

    def take(self, text: str, at: datetime | None, number: int) -> bool:
        """Takes in a text as of a time; whether it is new."""
        is_new = text not in self.found
        earliest, first = self.found.get(text, (at, number))
        if at and (earliest is None or at < earliest):
            earliest, first = at, number
        self.found[text] = (earliest, first)
        return is_new

    def items(self) -> Iterator[Item]:
        """A message each, in a conversation of its own."""
        for text, (at, number) in self.found.items():
            digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
            fields = {
                "user_id": self.source.user(),
                "session_id": f"{NO_CONVERSATION}{digest}",
                "turn_number": 0,
                "role": "user",
                "content": text,
                "timestamp": iso_or_none(at),
                "source_format": "chatgpt",
            }
            yield dated(number, fields, f"conversation {number}: custom instructions without a time")


FORMAT = Format("chatgpt", sniff, convert)
