"""Tools that read: scope read is enough. Nothing here writes to memory."""

from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal

import orjson
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from em_pipelines.interfaces.agents.graph_page import MAX_PAGE_ITEMS, Part, graph_page
from em_pipelines.interfaces.agents.probes import asks
from em_pipelines.interfaces.agents.provenance import provenance
from em_pipelines.interfaces.agents.reply import Audience, check_reply
from em_pipelines.interfaces.mcp.callers import Who
from em_pipelines.interfaces.mcp.desk import Desk
from em_pipelines.interfaces.mcp.forms import (
    MAX_FACTS,
    AsOf,
    Checked,
    ContextShown,
    FindingShown,
    Found,
    Gated,
    GraphShown,
    HitShown,
    ImportedFound,
    ImportedShown,
    Kind,
    Name,
    Probes,
    ProbeShown,
    Query,
    Relation,
    SessionId,
    Share,
    Starters,
    StarterShown,
    StartShown,
    Text,
)
from em_pipelines.lifecycle.proactive.delivery import Situation

Kinds = Annotated[
    list[Literal["message", "fact", "experience"]], Field(min_length=1, description="What is looked for.")
]
Turn = Annotated[
    int | None, Field(ge=0, description="Which message of the conversation comes next, from 0; unknown if left out.")
]
InGroup = Annotated[bool, Field(description="Whether others read along: then nothing is asked or proposed.")]


class ReadingTools:
    """The tools over one desk, for whoever calls: each method is one, its docstring what clients read."""

    def __init__(self, desk: Desk, who: Who) -> None:
        self._desk = desk
        self._who = who

    def em_query(  # noqa: PLR0913  (the arguments of one tool)
        self,
        query: Annotated[Query, Field(min_length=1)],
        limit: Annotated[int, Field(ge=1, le=50, description="Hits of a kind at most.")] = 8,
        kinds: Kinds = ["message", "fact", "experience"],  # noqa: B006 (a schema)
        as_of: AsOf = None,
        since: Annotated[date | None, Field(description="Said on this day or later (YYYY-MM-DD).")] = None,
        session_id: Annotated[SessionId, Field(description="Said in this conversation alone.")] = "",
        entities: Annotated[list[Name], Field(max_length=8, description="About one of these names alone.")] = [],  # noqa: B006
        relations: Annotated[
            list[Relation], Field(max_length=16, description="Facts of one of these alone, and who says them.")
        ] = [],  # noqa: B006
        tags: Annotated[list[Name], Field(max_length=32, description="Messages with one of these tags alone.")] = [],  # noqa: B006
        min_confidence: Annotated[Share, Field(description="Of facts.")] = 0.0,
        hops: Annotated[int, Field(ge=0, le=2, description="Steps along the graph from what is found.")] = 0,
    ) -> Found:
        """Find what was said, is known or recurs, best first. Search before you say that you do not know."""
        with self._desk.reading(self._who()) as memory:
            hits = memory.retrieve_memories(
                query, k=limit, kinds=kinds, as_of=as_of, since=since, sessions=[session_id] if session_id else (),
                entities=entities, relations=relations, tags=tags, min_confidence=min_confidence, n_hops=hops,
            )  # fmt: skip
        fields = HitShown.model_fields
        return Found(hits=[HitShown(**{name: getattr(hit, name) for name in fields}) for hit in hits])

    def em_context(  # noqa: PLR0913  (the arguments of one tool)
        self,
        query: Query,
        is_group: Annotated[
            bool, Field(description="Whether others read along: then nothing personal is in it.")
        ] = False,
        thread: Annotated[list[Text], Field(max_length=50, description="The turns before it, oldest first.")] = [],  # noqa: B006
        as_of: AsOf = None,
        session_id: Annotated[SessionId, Field(description="With it a question in the block counts as asked.")] = "",
        turn_number: Turn = None,
    ) -> ContextShown:
        """Get the block of memory that belongs before the question: facts, plans and quotes that matter to it."""
        moment: dict[str, Any] = {"session_id": session_id or None, "turn_number": turn_number}
        with self._desk.reading(self._who()) as memory:
            block = memory.context(query, is_group=is_group, thread=thread, as_of=as_of, **moment)
        return ContextShown(
            text=block.text, n_tokens=block.n_tokens, edge_ids=list(block.edge_ids), turns=list(block.turns),
            experience_ids=list(block.experience_ids), probe_ids=list(block.probe_ids),
        )  # fmt: skip

    def em_bootstrap(
        self,
        is_group: Annotated[
            bool, Field(description="Whether others read along: then nothing personal is in it.")
        ] = False,
        as_of: AsOf = None,
    ) -> StartShown:
        """Get what a session should start with: who it is, what is due and planned, what failed lately, which rules
        apply."""
        with self._desk.reading(self._who()) as memory:
            text = memory.bootstrap(as_of=as_of, is_group=is_group)
        return StartShown(text=text, n_lines=text.count("\n"))

    def em_gate(
        self,
        query: Query,
        confidence: Annotated[Share | None, Field(description="How sure you are of your answer, 0 to 1.")] = None,
        is_error_retry: Annotated[bool, Field(description="Whether the last try failed.")] = False,
    ) -> Gated:
        """Ask whether to look into memory before you answer. The decision is counted, the words are not kept."""
        with self._desk.reading(self._who()) as memory:
            reason = memory.gate(query, confidence=confidence, is_error_retry=is_error_retry)
        return Gated(recall=reason.is_recall, reason=reason.value)

    def em_get_probes(
        self,
        query: Annotated[Text, Field(description="What the conversation is about; any context if left out.")] = "",
        limit: Annotated[int, Field(ge=1, le=20, description="Probes at most; no more are offered than may be.")] = 1,
        session_id: SessionId = "",
        turn_number: Turn = None,
        is_group: InGroup = False,
    ) -> Probes:
        """Get a question that would close a gap in memory, to ask once what the person wants is served. It counts as
        asked; report what became of it. Where nothing is offered, the reason says why."""
        moment = _situation(query, session_id, turn_number, is_group=is_group)
        with self._desk.reading(self._who()) as memory:
            found = asks(memory.home, "probes", memory.user, moment, limit, memory.view, is_noted=True)
        shown = [ProbeShown(**{name: row[name] for name in ProbeShown.model_fields}) for row in found.rows]
        return Probes(probes=shown, reason=found.why_none, until=found.until)

    def em_get_starters(
        self,
        query: Annotated[Text, Field(description="What the conversation is about; any context if left out.")] = "",
        limit: Annotated[int, Field(ge=1, le=20, description="Starters at most.")] = 1,
        session_id: SessionId = "",
        turn_number: Turn = None,
        is_group: InGroup = False,
    ) -> Starters:
        """Get an opening for a conversation: a date ahead, a plan gone quiet, something that fits a plan. It counts as
        said; report what became of it. Where nothing is offered, the reason says why."""
        moment = _situation(query, session_id, turn_number, is_group=is_group)
        with self._desk.reading(self._who()) as memory:
            found = asks(memory.home, "starters", memory.user, moment, limit, memory.view, is_noted=True)
        shown = [StarterShown(**{name: row[name] for name in StarterShown.model_fields}) for row in found.rows]
        return Starters(starters=shown, reason=found.why_none, until=found.until)

    def em_get_provenance(
        self,
        id: Annotated[str, Field(min_length=1, max_length=200, description="Id of a fact (edge_…) or entity (ent_…).")],
    ) -> dict[str, Any]:
        """Explain why memory holds something: the sentences it comes from, every change, what time did to it."""
        with self._desk.reading(self._who()) as memory:
            found = provenance(memory.home, memory.user, id, _today(), memory.view)
        if found is None:
            raise ToolError(f"there is nothing with the id {id!r:.80} in this memory; em_graph_snapshot lists the ids")
        document: dict[str, Any] = orjson.loads(orjson.dumps(found, default=str))
        return document

    def em_graph_snapshot(
        self,
        offset: Annotated[int, Field(ge=0, description="next_offset of the page before.")] = 0,
        limit: Annotated[int, Field(ge=1, le=MAX_PAGE_ITEMS, description="Items a page.")] = 200,
    ) -> GraphShown:
        """Page through everything that is known now: facts as edges, people and things as nodes."""
        with self._desk.reading(self._who()) as memory:
            page = graph_page(memory.home, memory.user, memory.facts(), Part(offset, limit), memory.view)
            faded = memory.faded()
        return GraphShown(
            nodes=page.nodes, edges=page.edges, n_items=page.n_items, next_offset=page.next_offset,
            n_old=faded.n_old, n_faded=faded.n_gone,
        )  # fmt: skip

    def em_list_imported(  # noqa: PLR0913  (the arguments of one tool)
        self,
        file: Annotated[Name, Field(description="Of this file alone.")] = "",
        kind: Annotated[Kind | None, Field(description="Of this kind of import alone.")] = None,
        relations: Annotated[list[Relation], Field(max_length=16, description="Facts of one of these alone.")] = [],  # noqa: B006
        is_rejected: Annotated[bool, Field(description="List what was turned away instead.")] = False,
        offset: Annotated[int, Field(ge=0, description="next_offset of the page before.")] = 0,
        limit: Annotated[int, Field(ge=1, le=MAX_FACTS, description="Facts a page.")] = 50,
    ) -> ImportedFound:
        """List facts of contacts, calendars and notes that wait until the person has looked at them.

        They are not known yet: ask the person, and pass on what they decide with em_review_imported.
        """
        with self._desk.reading(self._who()) as memory:
            found = memory.list_imported(file=file or None, kind=kind, is_rejected=is_rejected)
        wanted = [one for one in found if not relations or one.relation in relations]
        page, end = wanted[offset : offset + limit], offset + limit
        fields = ImportedShown.model_fields
        return ImportedFound(
            facts=[ImportedShown(**{name: getattr(one, name) for name in fields}) for one in page],
            n_items=len(wanted),
            next_offset=end if end < len(wanted) else None,
        )

    def em_check_reply(
        self,
        text: Annotated[str, Field(max_length=50_000, description="What you are about to say.")],
        audience: Annotated[Literal["user", "group", "public"], Field(description="Who will read it.")] = "group",
    ) -> Checked:
        """Check a text before it goes out, for personal data and secrets that its audience should not see."""
        with self._desk.reading(self._who()) as memory:
            found = check_reply(memory.home, memory.user, memory.facts(), text, Audience(audience), memory.view)
        shown = [
            FindingShown(
                start=one.start, end=one.end, kind=one.kind, privacy_level=one.privacy_level,
                edge_id=one.edge_id or None, detail=one.detail,
            )
            for one in found
        ]  # fmt: skip
        return Checked(is_safe=not shown, findings=shown)


def _situation(query: str, session_id: str, turn_number: int | None, *, is_group: bool) -> Situation:
    return Situation(datetime.now(UTC), session_id or None, turn_number, is_group, query or None)


def _today() -> date:
    return datetime.now(UTC).date()
