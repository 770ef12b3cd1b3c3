"""Tools that write: messages, facts and corrections with scope write, erasure with scope admin.

Everything lands in the log by the rules of every other way in; the ledger says that an agent was speaking.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from em_pipelines.errors import LockedError
from em_pipelines.governance.audit.rows import World
from em_pipelines.governance.corrections import Fact, Given
from em_pipelines.interfaces.mcp.callers import Who
from em_pipelines.interfaces.mcp.desk import ACTOR, Desk
from em_pipelines.interfaces.mcp.forms import (
    MAX_FACTS,
    MAX_MESSAGES,
    MAX_NAME,
    Added,
    Corrected,
    Decided,
    Deleted,
    FactGiven,
    FactShown,
    Name,
    ProbeOutcome,
    Relation,
    Reported,
    ReportedMessage,
    SessionId,
    StarterOutcome,
    WithheldShown,
)
from em_pipelines.interfaces.memory import Memory
from em_pipelines.landing.erasure_requests import Scope
from em_pipelines.language.name_keys import name_key

RUN_WAIT_SECONDS = 3.0
"""For how long an erasure waits for a run that is at work; then the run is left to carry it out."""
EdgeId = Annotated[str, Field(max_length=200, description="Id of a fact; or name it by relation and object.")]

SeedId = Annotated[str, Field(min_length=8, max_length=200)]


class WritingTools:
    """The tools over one desk, for whoever calls: each method is one, its docstring what clients read."""

    def __init__(self, desk: Desk, who: Who) -> None:
        self._desk = desk
        self._who = who

    def em_report_interaction(  # noqa: PLR0913  (the arguments of one tool)
        self,
        session_id: Annotated[SessionId, Field(min_length=1)],
        messages: Annotated[list[ReportedMessage], Field(max_length=MAX_MESSAGES, description="In order.")] = [],  # noqa: B006 (a schema)
        first_turn: Annotated[int, Field(ge=0, description="Turn number of the first of them.")] = 0,
        channel: Annotated[
            Literal["text", "voice", "group", "email"], Field(description="By which way they talk.")
        ] = "text",
        participants: Annotated[list[Name], Field(max_length=200, description="Humans present.")] = [],  # noqa: B006
        domain: Annotated[str, Field(max_length=256, description="Scope of recall.")] = "",
        agent_id: Annotated[str, Field(max_length=256, description="Which agent took part.")] = "",
        trust: Annotated[
            Literal["trusted", "untrusted"],
            Field(description="untrusted where web or tool output was read: no facts then."),
        ] = "trusted",
        recalled: Annotated[list[str], Field(max_length=200, description="Ids of the facts that you used.")] = [],  # noqa: B006
        probes: Annotated[list[ProbeOutcome], Field(max_length=20, description="What became of probes.")] = [],  # noqa: B006
        starters: Annotated[list[StarterOutcome], Field(max_length=20, description="What became of starters.")] = [],  # noqa: B006
    ) -> Reported:
        """Report what was said, and what of memory was used. May be repeated and extended: nothing is stored twice.

        Facts are learned from it by the next run.
        """
        if not (messages or recalled or probes or starters):
            raise ToolError("there is nothing to report: give messages, recalled, probes or starters")
        shared = {
            "channel": channel, "participants": participants, "domain": domain or None, "agent_id": agent_id or None,
            "trust": trust,
        }  # fmt: skip
        said = [
            {**shared, "turn_number": first_turn + place, **message.model_dump(mode="json", exclude_none=True)}
            for place, message in enumerate(messages)
        ]
        with self._desk.writing(self._who()) as memory:
            _check_known(memory, recalled)
            stored = memory.store_messages(session_id, said)
            told: list[dict[str, Any]] = [{"type": f"probe_{one.outcome}", "probe_id": one.probe_id} for one in probes]
            told += [{"type": f"starter_{one.outcome}", "starter_id": one.starter_id} for one in starters]
            told += [{"type": "recalled", "edge_ids": recalled}] if recalled else []
            # Said when the last message was, so that a repeated report is known by its content.
            ids = memory.tell([{**one, "session_id": session_id, "timestamp": stored.said_at} for one in told])
        return Reported(
            n_new=stored.n_new, n_known=stored.n_known, n_erased=stored.n_erased, turns=list(stored.turns),
            feedback_ids=list(ids),
            withheld=[
                WithheldShown(turn_number=stored.turns[one.index], reasons=dict(one.reasons)) for one in stored.withheld
            ],
        )  # fmt: skip

    def em_user_correction(  # noqa: PLR0913  (the arguments of one tool)
        self,
        action: Annotated[
            Literal["correct", "confirm", "retract"],
            Field(description="correct: new_object is right; confirm: it is right; retract: it is wrong."),
        ],
        edge_id: EdgeId = "",
        subject: Annotated[
            str, Field(min_length=1, max_length=MAX_NAME, description="user: the remembered person.")
        ] = "user",
        relation: Annotated[Relation | None, Field(description="Of the closed vocabulary; or give edge_id.")] = None,
        object: Annotated[Name, Field(description="What the fact says; of a correction, what was wrong.")] = "",
        new_object: Annotated[Name, Field(description="Of a correction: what is right.")] = "",
        attribute: Annotated[Name, Field(description="The key, of has_attribute.")] = "",
    ) -> Corrected:
        """Pass on what the user says about memory itself. It counts at once, and whatever is extracted anew later."""
        if (action == "correct") != bool(new_object):
            raise ToolError("new_object is what is right: give it to correct, and leave it out to confirm or retract")
        said: dict[str, Any] = {
            "edge_id": edge_id or None, "subject": subject, "relation": relation, "attribute": attribute or None
        }  # fmt: skip
        with self._desk.writing(self._who()) as memory:
            if action == "correct":
                given = memory.correct(new_object, old_object=object or None, **said)
            else:
                act = memory.confirm if action == "confirm" else memory.retract
                given = act(object=object or None, **said)
            now = _as_they_stand(memory, given, new_object or object)
        return Corrected(
            feedback_id=given.feedback_id, before=_shown(given.facts), now=_shown(now), notes=list(given.notes)
        )

    def em_add_facts(
        self,
        facts: Annotated[list[FactGiven], Field(min_length=1, max_length=MAX_FACTS, description="What you extracted.")],
        session_id: SessionId = "",
    ) -> Added:
        """Add facts that you have extracted yourself. They pass the usual safety checks and are seen at once."""
        given = [fact.model_dump(mode="json", exclude_none=True) for fact in facts]
        wanted = {(fact.relation, name_key(fact.object)) for fact in facts}
        with self._desk.writing(self._who()) as memory:
            feedback_id = memory.add_facts(given, session_id=session_id or None)
            now = [f for f in memory.facts() if (f["relation"], name_key(_value(f))) in wanted]
        return Added(feedback_id=feedback_id, facts=_shown(now))

    def em_review_imported(
        self,
        action: Annotated[
            Literal["accept", "reject"],
            Field(description="accept: they count from now on; reject: they are turned away, and stay away."),
        ],
        seed_ids: Annotated[
            list[SeedId], Field(min_length=1, max_length=MAX_FACTS, description="Ids that em_list_imported gave.")
        ],
    ) -> Decided:
        """Pass on what the person decides about imported facts that wait. Never decide for them."""
        with self._desk.writing(self._who()) as memory:
            act = memory.accept_imported if action == "accept" else memory.reject_imported
            done = act(seed_ids)
        return Decided(decided=list(done.decided), withheld=list(done.withheld))

    def em_delete_edge(
        self,
        edge_id: Annotated[str, Field(min_length=1, max_length=200, description="Id of the fact.")],
        preview_only: Annotated[bool, Field(description="Say what would go, and erase nothing.")] = False,
    ) -> Deleted:
        """Erase a fact for good, with the words that it was said in, everywhere. To hide it only, retract it."""
        with self._desk.writing(self._who()) as memory:
            scope = Scope.named(memory.user, fact=edge_id, entity=None, session=None)
            return _erased(memory, scope, is_preview=preview_only)

    def em_delete_node(
        self,
        entity: Annotated[
            str, Field(min_length=1, max_length=MAX_NAME, description="A name of it, or its id (ent_…).")
        ],
        preview_only: Annotated[bool, Field(description="Say what would go, and erase nothing.")] = False,
    ) -> Deleted:
        """Erase a person or thing for good: every sentence that names it, its facts, everywhere. Cannot be undone."""
        with self._desk.writing(self._who()) as memory:
            world = World(memory.home.store.lake, memory.user)
            named = world.name(entity) if entity in world.entities else entity
            scope = Scope.named(memory.user, fact=None, entity=named, session=None)
            return _erased(memory, scope, is_preview=preview_only)


def _erased(memory: Memory, scope: Scope, *, is_preview: bool) -> Deleted:
    """Erases now, or leaves it to the run that is at work."""
    from em_pipelines.governance.erasure.forget import ask_to_forget, forget, preview  # noqa: PLC0415  (50 ms)

    if is_preview:
        facts = list(preview(memory.home, scope).facts)
        return Deleted(status="preview", facts=facts, certificate=None, request_id=None)
    try:
        with memory.home.lock("run", timeout_seconds=RUN_WAIT_SECONDS):
            pass
    except LockedError:
        request = ask_to_forget(memory.home, scope, actor=ACTOR, now=datetime.now(UTC))
        return Deleted(status="pending", facts=[], certificate=None, request_id=request.request_id)
    done = forget(memory.home, scope, actor=ACTOR)
    status: Literal["erased", "nothing_found"] = "erased" if done.result == "erased" else "nothing_found"
    return Deleted(status=status, facts=[], certificate=done.as_document(), request_id=done.certificate_id)


def _check_known(memory: Memory, edge_ids: Sequence[str]) -> None:
    known = {fact["edge_id"] for fact in memory.facts(is_all=True)} if edge_ids else set()
    if unknown := [edge_id for edge_id in edge_ids if edge_id not in known]:
        raise ToolError(f"there is no fact with the id {unknown[0]!r:.80} in this memory; nothing was stored")


def _as_they_stand(memory: Memory, given: Given, right: str) -> list[Fact]:
    """The facts that a feedback was about, and those whose object is what it says is right, where it says that."""
    about = {fact["edge_id"] for fact in given.facts}
    facts = memory.facts(is_all=True)
    return [f for f in facts if f["edge_id"] in about or (right and name_key(str(f["object"])) == name_key(right))]


def _shown(facts: Iterable[Fact]) -> list[FactShown]:
    return [FactShown(**{name: fact[name] for name in FactShown.model_fields}) for fact in facts]


def _value(fact: Fact) -> str:
    said = str(fact["object"])
    return said.partition(": ")[2] or said if fact["relation"] == "has_attribute" else said
