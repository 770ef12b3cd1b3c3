"""A session of OpenAI's Agents SDK that is a conversation in memory (extra `openai-agents`).

    session = MemorySession("chat-1", "my-memory", "nora")
    await Runner.run(agent, "I moved to Voss.", session=session)

Every item is a turn of the log: what the user and the agent say as any message, so that facts are learned from the
user's words; all else (calls, their outputs, reasoning), and messages with more to them than words, as the SDK has
them, in turns of the role tool. What comes back is what went in, but for masked secrets. The log is append-only, so
`pop_item` and `clear_session` hide (docs/decisions/2026-11-22-sessions-and-stores.md).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import orjson

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.agents.adding import Taken
from em_pipelines.interfaces.agents.appending import Turn, append, archiving, turns_of
from em_pipelines.interfaces.agents.observations import Sender, tell
from em_pipelines.interfaces.async_memory import AsyncMemory
from em_pipelines.interfaces.memory import WAIT_SECONDS
from em_pipelines.landing.formats.openai import spoken
from em_pipelines.pipeline import Pipeline

try:
    from agents.memory import SessionSettings
    from agents.memory.session_settings import resolve_session_limit
except ImportError as error:
    raise ImportError("opening sessions for OpenAI's Agents SDK: install the extra openai-agents") from error

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

ORIGIN = "openai-agents"
ITEM, REPLACES = "openai_item", "replaces_turn_before"
SPOKEN = ("user", "assistant", "system")
FROM_OUTSIDE = frozenset({"web_search_call", "mcp_call", "computer_call_output"})
"""Items that bring what strangers wrote: a conversation with one of them is untrusted, and no facts are learned."""
_ID = re.compile(r"(?:call|msg|fc|fco|rs|ws|mcp|mcpr|ctc|cu|ci|ig|fs|toolu|chatcmpl)_[\w-]{1,128}")
"""Ids by which a call and its output find each other. They look like tokens, and masked all would be one."""
_KEPT_ID = "hex:"


class MemorySession:
    """The SDK's protocol Session over one conversation of one user.

    `memory` is a home (a folder or Pipeline) with `user`, or an AsyncMemory. With `learn` facts are learned after each
    `add_items`, as by `Memory.add(…, learn=True)`. With `erases`, `clear_session` erases for good instead of hiding.
    Raises UsageError for ids that no log could have.
    """

    session_settings: SessionSettings | None

    def __init__(  # noqa: PLR0913  (a public call, each argument by its name)
        self,
        session_id: str,
        memory: AsyncMemory | Pipeline | Path | str,
        user: str | None = None,
        *,
        learn: bool = False,
        erases: bool = False,
        session_settings: SessionSettings | None = None,
    ) -> None:
        if not isinstance(memory, AsyncMemory):
            if user is None:
                raise UsageError("opening a session: say whose it is, or hand over an AsyncMemory")
            memory = AsyncMemory(memory, user, actor="agent", origin=ORIGIN)
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self.memory = memory
        self._learns = learn
        self._erases = erases

    def __repr__(self) -> str:
        return f"MemorySession({self.session_id!r}, {self.memory!r})"

    async def get_items(self, limit: int | None = None) -> "list[TResponseInputItem]":
        """The conversation, oldest first; with a limit its newest items."""
        wanted = resolve_session_limit(limit, self.session_settings)
        items = await self.memory.read(lambda: self._standing(self.memory.reading.home))
        chosen = items if wanted is None else items[max(0, len(items) - wanted) :] if wanted > 0 else []
        return [cast("TResponseInputItem", one.item) for one in chosen]

    async def add_items(self, items: "list[TResponseInputItem]") -> None:
        """Puts items behind the conversation, all or none. Raises UsageError for what is no item."""
        said = [fields for item in items for fields in _turns_for(cast("Mapping[str, Any]", item))]
        if said:
            await self.memory.write(self._add, said)

    async def pop_item(self) -> "TResponseInputItem | None":
        """The newest item, which is not told any more; None of an empty conversation. It stays in the log, and what
        was learned from it stays known: what is wrong is retracted, what is to be gone forgotten."""
        return cast("TResponseInputItem | None", await self.memory.write(self._pop))

    async def clear_session(self) -> None:
        """Hides all items of the conversation, from search as well; what was learned from it stays known. A session
        that `erases` erases it with all that was learned from it alone, everywhere, for good."""
        await self.memory.write(self._clear)

    def _standing(self, home: Pipeline) -> "list[_Item]":
        return _items_of(turns_of(home, self.memory.user, self.session_id))

    def _sender(self) -> Sender:
        return Sender(self.memory.user, ORIGIN, datetime.now(UTC))

    def _add(self, said: Sequence[dict[str, Any]]) -> None:
        home = self.memory.writing.home
        own = {"domain": self.memory.domain} if self.memory.domain else {}
        append(home, self._sender(), self.session_id, [own | fields for fields in said])
        if self._learns:
            from em_pipelines.interfaces.agents.learning import learned  # noqa: PLC0415  (who only keeps needs none)

            taken = Taken(sessions={(self.memory.user, self.session_id)})
            learned(home, taken, wait_seconds=WAIT_SECONDS)

    def _pop(self) -> dict[str, Any] | None:
        items = self._standing(self.memory.writing.home)
        if not items:
            return None
        self._hide(items[-1:])
        return items[-1].item

    def _clear(self) -> None:
        items = self._standing(self.memory.writing.home)
        if items and self._erases:
            self.memory.writing.forget(session_id=self.session_id)
        else:
            self._hide(items)

    def _hide(self, items: "Iterable[_Item]") -> None:
        turns = [turn for one in items for turn in one.turns]
        if turns:
            tell(self.memory.writing.home, self._sender(), archiving(self.session_id, turns))


@dataclass(frozen=True, slots=True)
class _Item:
    """An item, and the turns that hold it."""

    item: dict[str, Any]
    turns: tuple[int, ...]


def _turns_for(item: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The turns for an item: what it says, and the item itself where that is not all."""
    if not isinstance(item, Mapping) or not (item.get("type") or item.get("role")):
        raise UsageError(f"adding items: expected a message or an item with a type, found {item!r:.80}")
    is_message = item.get("role") in (*SPOKEN, "developer")
    said = spoken(item) if is_message else None
    turns = [{"role": said["role"], "content": said["content"] or ""}] if said else []
    if said and dict(item) == turns[0]:
        return turns
    kept = _as_kept(item, replaces=bool(turns))
    trust = "untrusted" if item.get("type") in FROM_OUTSIDE else "trusted"
    return [*turns, {"role": "tool", "content": kept, "trust": trust}]


def _as_kept(item: Mapping[str, Any], *, replaces: bool) -> str:
    """The item itself as text. Raises UsageError for one that is no JSON."""
    try:
        return orjson.dumps({ITEM: _with_ids(dict(item), _hidden_id), REPLACES: replaces}).decode()
    except (TypeError, RecursionError) as error:
        raise UsageError(f"adding items: an item of type {item.get('type')!r:.40} is no JSON: {error}") from error


def _items_of(turns: Sequence[Turn]) -> list[_Item]:
    """The items that turns hold, those among them that came another way; of what was cut since, the words are left."""
    items: list[_Item] = []
    for turn in turns:
        if turn.role in SPOKEN:
            items.append(_Item({"role": turn.role, "content": turn.content}, (turn.turn_number,)))
            continue
        kept = _kept(turn.content)
        if kept is None:
            continue
        before = items[-1].turns if items and kept[REPLACES] and items[-1].turns == (turn.turn_number - 1,) else ()
        if before:
            items.pop()
        items.append(_Item(_with_ids(kept[ITEM], _shown_id), (*before, turn.turn_number)))
    return items


def _kept(content: str) -> dict[str, Any] | None:
    try:
        found = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) and isinstance(found.get(ITEM), dict) and REPLACES in found else None


def _with_ids(item: dict[str, Any], change: Any) -> dict[str, Any]:
    return item | {
        name: change(item[name]) for name in ("id", "call_id", "approval_request_id") if isinstance(item.get(name), str)
    }


def _hidden_id(identifier: str) -> str:
    return _KEPT_ID + identifier.encode().hex() if _ID.fullmatch(identifier) else identifier


def _shown_id(identifier: str) -> str:
    is_kept = identifier.startswith(_KEPT_ID)
    return bytes.fromhex(identifier.removeprefix(_KEPT_ID)).decode() if is_kept else identifier
