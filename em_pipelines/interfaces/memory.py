"""The memory of one user in one home, for agents in Python: in process, without a server, by the ways that `em` goes.

Whatever is written lands in the log and nowhere else, so it survives every rebuild, and what was forgotten stays away.
When it is seen:

    at once            observations and tags, archiving, corrections, added facts, what is to be forgotten; with
                       `add(…, learn=True)` what is learned from them, too
    after the next run what is learned from observations, and what of them can be found by a question
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, overload

from em_pipelines.errors import UsageError
from em_pipelines.governance.corrections import Fact
from em_pipelines.interfaces.agents.adding import Added, Facts, Messages, Shared
from em_pipelines.interfaces.agents.adding import add as take
from em_pipelines.interfaces.agents.asking import as_day, hits, known_facts, today
from em_pipelines.interfaces.agents.correctable import CorrectableMemory
from em_pipelines.interfaces.agents.frames import fact_frame, hit_frame, observation_frame
from em_pipelines.interfaces.agents.observations import Listing, Observation, Sender, Stored, listed, store, tell
from em_pipelines.interfaces.agents.opening import open_home
from em_pipelines.pipeline import Pipeline
from em_pipelines.redaction.veils import ARCHIVE
from em_pipelines.retrieval.documents import EXPERIENCE, FACT, MESSAGE, Hit
from em_pipelines.retrieval.domain_view import OWN, DomainView
from em_pipelines.retrieval.user_search import seen_from
from em_pipelines.serving.facts import FactQuery, KeptAs

if TYPE_CHECKING:
    import pandas as pd

    from em_pipelines.interfaces.agents.learning import Learned
    from em_pipelines.interfaces.agents.probes import Asks, Kind
    from em_pipelines.retrieval.context.block import Block
    from em_pipelines.retrieval.recall_gate import Reason
    from em_pipelines.serving.faded import Faded

WAIT_SECONDS, RUN_WAIT_SECONDS = 60.0, 600.0
"""For how long a run that is at work is waited for: by who adds, in the middle of a conversation, and by who runs."""
ORIGIN = "memory"
"""What stands for the format of what was stored from Python."""


class Memory(CorrectableMemory):
    """What one user's memory holds and takes in.

    `home` is a folder, or a Pipeline where models or settings are to be chosen; `user` is the id that the logs have.
    `actor` (user, agent) is who the ledger says was speaking, `origin` what stands for the format of what lands.
    With a `domain` nothing that was said in another is told, but by a search that crosses domains, and what is written
    is of it. Raises UsageError for an id that no log could have.
    """

    def __init__(
        self,
        home: Pipeline | Path | str,
        user: str,
        *,
        actor: str = "user",
        origin: str = ORIGIN,
        domain: str | None = None,
    ) -> None:
        super().__init__(home if isinstance(home, Pipeline) else open_home(home), user, actor, domain)
        self._origin = origin

    def __repr__(self) -> str:
        domain = f", domain={self.domain!r}" if self.domain else ""
        return f"Memory({str(self.home.path)!r}, {self.user!r}{domain})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of what the steps hold in memory. Nothing on the disk is open between calls, and the memory may be
        used again."""
        self.home.let_go()

    def add(  # noqa: PLR0913  (a public call, each argument by its name)
        self,
        messages: Messages = (),
        *,
        facts: Facts = (),
        session_id: str | None = None,
        timestamp: datetime | str | None = None,
        learn: bool = False,
        wait_seconds: float = WAIT_SECONDS,
    ) -> Added:
        """Adds messages, and facts that were extracted already: a text, a message or a list of them.

        A text is the user's. A message is a mapping as OpenAI's chat API has them (role, content), perhaps with fields
        of a native record (timestamp, session_id, turn_number, tags, speaker, …), or an object with `model_dump`. What
        says no conversation is of `session_id`, else of the conversation of its day; what says no time was said at
        `timestamp`, else now. Turn numbers go on where the conversation ends. Adding the same again adds nothing: a
        message without turn number is new where its words stand fewer times than they come here.

        What breaks a rule is left out, and told with its place and why; the rest lands. With `learn` the days of the
        messages are made at once, as `em run` makes them, so that facts, search and context know of them when this
        returns; what else is out of date is left to `em run`. For a run that is at work it waits up to `wait_seconds`:
        then `is_learned` is False, and the messages are learned from by the next run.

        Raises UsageError for a `timestamp` (a datetime, or ISO 8601) without offset, and with `learn` where a model is
        to read that nobody can ask; LockedError where another process keeps landing. Then nothing has landed.
        """
        if learn:
            _ = self.home.steps  # what cannot be learned from is refused before it lands
        shared = Shared.of(session_id, timestamp, self.domain)
        taken = take(self.home, self._sender, messages, facts, shared)
        if not learn:
            return taken.result()
        from em_pipelines.interfaces.agents.learning import learned  # noqa: PLC0415  (who only adds needs none of it)

        return learned(self.home, taken, wait_seconds=wait_seconds)

    def run(self, *, wait_seconds: float = RUN_WAIT_SECONDS) -> "Learned":
        """Makes everything that is out of date in the home, whoever it is of, and publishes the snapshot.

        As `em run` without a path, but without Dagster, its checks and its history: the next `em run` catches up on
        those. Raises LockedError where another run is at work for longer than `wait_seconds`.
        """
        from em_pipelines.interfaces.agents.learning import run  # noqa: PLC0415  (of this method alone)

        return run(self.home, wait_seconds=wait_seconds)

    @overload
    def search(self, query: str, *, k: int | None = ..., as_frame: Literal[False] = ..., **how: Any) -> list[Hit]: ...
    @overload
    def search(self, query: str, *, k: int | None = ..., as_frame: Literal[True], **how: Any) -> "pd.DataFrame": ...
    def search(
        self, query: str, *, k: int | None = None, as_frame: bool = False, **how: Any
    ) -> "list[Hit] | pd.DataFrame":
        """`retrieve_memories` by its short name; with `as_frame` in the types of `agents.frames.HIT_TYPES`."""
        found = self.retrieve_memories(query, k=k, **how)
        return hit_frame(found) if as_frame else found

    def store_observation(  # noqa: PLR0913  (a public call, each argument by its name)
        self,
        /,
        content: str,
        *,
        session_id: str,
        turn_number: int | None = None,
        role: str = "user",
        timestamp: datetime | None = None,
        tags: Iterable[str] = (),
        memory_type: str | None = None,
        **fields: Any,
    ) -> Stored:
        """Stores something that was said or seen; safe to repeat. Listed at once, learned from by the next run.

        `role` is user, assistant, system or tool: facts are learned from the user's words alone. Without `turn_number`
        it gets the next free one of its session, unless the session holds the same words already. `memory_type` is
        observation, decision, learning or event; `fields` are the others of a native record (speaker, channel,
        participants, domain, agent_id, trust, …). Raises UsageError where it breaks a rule of landing, or its turn
        stands with other content.
        """
        said = {
            "content": content, "role": role, "turn_number": turn_number, "tags": list(tags),
            "memory_type": memory_type, "timestamp": timestamp.isoformat() if timestamp else None, **fields,
        }  # fmt: skip
        return self.store_messages(session_id, [said])

    def store_messages(self, session_id: str, messages: Sequence[Mapping[str, Any]]) -> Stored:
        """Stores messages of one session, given as fields of native records, as `store_observation` does."""
        own = {OWN: self.domain} if self.domain else {}
        said = [own | {name: value for name, value in fields.items() if value is not None} for fields in messages]
        if self.domain and any(fields[OWN] != self.domain for fields in said):
            raise UsageError(f"storing messages: this memory is of the domain {self.domain!r:.80} alone")
        return store(self.home, self._sender, session_id, said)

    def add_facts(
        self,
        facts: Sequence[Mapping[str, Any]],
        *,
        session_id: str | None = None,
        timestamp: datetime | None = None,
    ) -> str:
        """Adds facts that an agent has extracted itself, and returns the id of the feedback; seen at once.

        Each has `relation` and `object`, perhaps `subject`, `attribute`, `polarity`, `temporal_type`, `statement`,
        `confidence` (at most 0.90 counts). They pass the checks of every other feedback; equal facts at an equal time
        are one. Raises UsageError for what is no fact.
        """
        said: dict[str, Any] = {"type": "add_facts", "facts": [dict(fact) for fact in facts], "session_id": session_id}
        return self.tell([said | ({"timestamp": timestamp.isoformat()} if timestamp else {})])[0]

    def tell(self, feedback: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
        """Gives feedback as records say it (`type` and its fields), and returns its ids; raises UsageError."""
        own = {OWN: self.domain} if self.domain else {}
        return tell(self.home, self._sender, [{**said, **own} for said in feedback])

    def retrieve_memories(  # noqa: PLR0913  (a public call, each argument by its name)
        self,
        /,
        query: str,
        *,
        k: int | None = None,
        kinds: Iterable[str] = (MESSAGE, FACT, EXPERIENCE),
        as_of: date | str | None = None,
        n_hops: int = 0,
        across_domains: bool = False,
        **narrowed: Any,
    ) -> list[Hit]:
        """What was said, is known of it, and recurs, best first, from the index of the last run; as `em search`.

        `narrowed` are fields of `retrieval.search.Search`: since, sessions, tags, entities, relations, min_confidence,
        thread, n_neighbours. Facts that were taken back since and archived messages are left out. Nothing is written.
        """
        domain = None if across_domains else self.domain
        wanted: dict[str, Any] = {"k": k, "kinds": kinds, "as_of": as_of, "n_hops": n_hops, "domain": domain}
        return hits(self.home, self.user, query, **wanted | narrowed)

    def search_by_tag(self, tag: str, *, limit: int = 50) -> list[Observation]:
        """Observations with a tag, newest first, those that no run has read yet, too; archived ones are left out."""
        return self.list_observations(tag=tag, limit=limit)

    @overload
    def list_observations(self, *, as_frame: Literal[False] = ..., **wanted: Any) -> list[Observation]: ...
    @overload
    def list_observations(self, *, as_frame: Literal[True], **wanted: Any) -> "pd.DataFrame": ...
    def list_observations(self, *, as_frame: bool = False, **wanted: Any) -> "list[Observation] | pd.DataFrame":
        """Observations, newest first, those that no run has read yet, too; see `Listing` for what can be asked. With
        `as_frame` a pandas DataFrame in the columns and types of `agents.frames.OBSERVATION_TYPES`."""
        found = listed(self.home, self.user, Listing(**{OWN: self.domain, **wanted}), self.home.archived)
        return observation_frame(found) if as_frame else found

    def archive_observation(self, session_id: str, turn_number: int, *, is_archived: bool = True) -> str:
        """Keeps an observation from being found or listed, at once, or with `is_archived` False lets it be found again.

        It is kept, and so are the facts that were learned from it. Returns the id of the feedback. Raises UsageError
        where there is no such observation.
        """
        known = self.list_observations(session_id=session_id, is_archived=None, limit=sys.maxsize)
        if not any(one.turn_number == turn_number for one in known):
            raise UsageError(f"archiving: session {session_id!r:.80} has no turn {turn_number}; see list_observations")
        said = {"type": ARCHIVE, "session_id": session_id, "turn_number": turn_number, "is_archived": is_archived}
        return self.tell([said])[0]

    @overload
    def facts(
        self,
        *,
        as_of: date | str | None = ...,
        known_at: date | str | None = ...,
        entity: str | None = ...,
        is_all: bool = ...,
        has_old: bool = ...,
        is_observed: bool = ...,
        as_frame: Literal[False] = ...,
    ) -> list[Fact]: ...
    @overload
    def facts(
        self,
        *,
        as_of: date | str | None = ...,
        known_at: date | str | None = ...,
        entity: str | None = ...,
        is_all: bool = ...,
        has_old: bool = ...,
        is_observed: bool = ...,
        as_frame: Literal[True],
    ) -> "pd.DataFrame": ...
    def facts(  # noqa: PLR0913  (a public call, each argument by its name)
        self,
        *,
        as_of: date | str | None = None,
        known_at: date | str | None = None,
        entity: str | None = None,
        is_all: bool = False,
        has_old: bool = False,
        is_observed: bool = False,
        as_frame: bool = False,
    ) -> "list[Fact] | pd.DataFrame":
        """What is known, best first, as `em facts`: feedback counts at once, what is to be forgotten is gone. With
        `has_old` what the person stated and has only faded, too, each fact with `is_old`; `faded` counts. With
        `is_observed` the sentences that are worth keeping instead, each with `owner`, `kind` and `text`.

        With `as_frame` a pandas DataFrame in the columns and types of `agents.frames.FACT_TYPES`. Raises NotMadeError
        where nothing is known because no run has read yet what was said.
        """
        day, known_on = as_day(as_of, "as_of"), as_day(known_at, "known_at")
        kept_as = KeptAs.OBSERVATIONS if is_observed else KeptAs.FACTS
        query = FactQuery(self.user, day or today(), known_on, entity, is_all, has_old, kept_as)
        found = known_facts(self.home, query, known_on or day or date.max, self.domain)
        return fact_frame(found) if as_frame else found

    def faded(self, as_of: date | str | None = None) -> "Faded":
        """How many facts are old, and how many have faded or expired, of all domains."""
        from em_pipelines.serving.faded import Faded, faded  # noqa: PLC0415 (of this method alone)

        day = as_day(as_of, "as_of") or today()
        found = faded(self.home.store, day, self.home.settings.decay, [self.user])
        return found[0] if found else Faded(self.user, 0, 0)

    def context(  # noqa: PLR0913  (a public call, each argument by its name)
        self,
        text: str,
        *,
        is_group: bool = False,
        thread: Sequence[str] = (),
        as_of: date | str | None = None,
        session_id: str | None = None,
        turn_number: int | None = None,
    ) -> "Block":
        """The block for an agent's prompt: what matters for `text`; in a group nothing above L1. With `session_id` a
        question that is in it counts as asked; `turn_number` is that of `text`, counted from a whole `thread`."""
        from em_pipelines.retrieval.context.block import ContextQuery, context_block  # noqa: PLC0415 (of this method alone)

        asked = ContextQuery(
            self.user, text, today(), is_group, tuple(thread), as_day(as_of, "as_of"), domain=self.domain,
            session_id=session_id, turn_number=turn_number,
        )  # fmt: skip
        return context_block(self.home, asked)

    def probes(self, /, context: str | None = None, *, limit: int = 1, **moment: Any) -> "Asks":
        """The questions that may be asked now, of a `context` those that fit it, and why others may not. What is
        handed out counts as asked. `moment` are other fields of `lifecycle.proactive.delivery.Situation`:
        session_id, turn_number, is_group."""
        return self._asks("probes", context, limit, moment)

    def starters(self, /, context: str | None = None, *, limit: int = 1, **moment: Any) -> "Asks":
        """The same of openings for a conversation: dates ahead, plans gone quiet, what fits a plan."""
        return self._asks("starters", context, limit, moment)

    def _asks(self, kind: "Kind", context: str | None, limit: int, moment: dict[str, Any]) -> "Asks":
        from em_pipelines.interfaces.agents.probes import asks  # noqa: PLC0415 (of these methods alone)
        from em_pipelines.lifecycle.proactive.delivery import Situation  # noqa: PLC0415

        situation = Situation(**{"now": datetime.now(UTC), "context": context, **moment})
        return asks(self.home, kind, self.user, situation, limit, self.view, is_noted=True)

    def bootstrap(self, *, as_of: date | str | None = None, is_group: bool = False) -> str:
        """What a session should start with, in fewer than 50 lines of Markdown; empty where nothing is known, or where
        memory cannot be read: no session waits for it. In a group nothing above L1. Raises UsageError for text that is
        no day."""
        from em_pipelines.retrieval.context.bootstrap import bootstrap  # noqa: PLC0415 (of this method alone)

        return bootstrap(self.home, self.user, as_day(as_of, "as_of") or today(), self.domain, is_group=is_group)

    def gate(self, /, text: str, **situation: Any) -> "Reason":
        """Whether memory should be asked before `text` is answered, and why; the decision is counted, the text is not
        kept. `situation` are other fields of `retrieval.recall_gate.Situation`."""
        from em_pipelines.retrieval.held import held  # noqa: PLC0415 (of this method alone)
        from em_pipelines.retrieval.recall_gate import Situation, recall  # noqa: PLC0415
        from em_pipelines.retrieval.recalls import count  # noqa: PLC0415

        reason = recall(Situation(text, **situation), held(self.home, self.user, text, today(), self.domain))
        count(self.home, reason, today())
        return reason

    @property
    def view(self) -> DomainView | None:
        """What may be told in the domain; None without one."""
        return seen_from(self.home, self.user, self.domain)

    @property
    def _sender(self) -> Sender:
        return Sender(self.user, self._origin, datetime.now(UTC))
