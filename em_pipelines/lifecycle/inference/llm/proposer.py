"""Asking a model what else follows: one question a user, through the gateway that remembers every answer.

A user whose facts are what they were is not asked about again, on whatever day. Whoever gets no answer this time has
what follows by rules, and is asked about in the next run.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import partial
from itertools import groupby
from typing import Any

import pyarrow as pa

from em_pipelines.errors import LockedError, ModelError
from em_pipelines.lifecycle.inference.infer import PROPOSALS
from em_pipelines.lifecycle.inference.llm import question
from em_pipelines.lifecycle.inference.llm.question import Ground, ProposedEdge
from em_pipelines.lifecycle.inference.settings import InferenceSettings
from em_pipelines.llm import ladder
from em_pipelines.llm.asking import Asking, OpenAsking
from em_pipelines.llm.protocol import ChatAnswer, ChatRequest
from em_pipelines.schema.ids import content_id

_LOGGER = logging.getLogger(__name__)
TASK = "inference"


@dataclass(frozen=True, slots=True)
class Proposed:
    """What was proposed (columns of PROPOSALS). `n_waiting` users got no answer this time, `n_given_up` users never
    got one that could be read."""

    rows: pa.Table
    n_waiting: int = 0
    n_given_up: int = 0


class ModelProposer:
    """Asks `model` through what `open_asking` opens; nothing is opened where there is nothing to ask."""

    def __init__(self, model: str, open_asking: OpenAsking, settings: InferenceSettings) -> None:
        self.model = model
        self._open_asking = open_asking
        self._settings = settings

    def propose(self, grounds: pa.Table, as_of: date) -> Proposed:
        """Asks about each user's facts (columns of `grounds`). An answer that is known costs nothing."""
        rows = [row for row in grounds.to_pylist() if row["relation"] not in question.WITHHELD]
        users = [list(group) for _, group in groupby(rows, key=lambda row: row["user_id"])]
        wanted = [self._chosen(facts) for facts in users if len(facts) > 1]
        return asyncio.run(self._ask_all(wanted, as_of)) if wanted else Proposed(PROPOSALS.empty_table())

    def _chosen(self, facts: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The newest facts, newest first. Confidence plays no part: it fades daily, and every day would ask anew."""
        newest = sorted(facts, key=lambda row: row["edge_id"])
        newest.sort(key=lambda row: row["learned_at"], reverse=True)
        return newest[: self._settings.max_facts_a_question]

    async def _ask_all(self, wanted: Sequence[Sequence[Ground]], as_of: date) -> Proposed:
        async with self._open_asking() as asking:
            if asking.collect is not None:
                await _tried("collecting batches", asking.collect())
            climbs = await asyncio.gather(*(self._ask(asking, facts, as_of) for facts in wanted))
            await _tried("sending a batch", asking.gateway.flush())
        proposals = [row for facts, climb in zip(wanted, climbs, strict=True) for row in self._proposals(facts, climb)]
        waiting = [climb for climb in climbs if climb.outcome is ladder.Outcome.PENDING]
        n_given_up = sum(climb.outcome is ladder.Outcome.EXHAUSTED for climb in climbs)
        self._warn(waiting, n_given_up)
        return Proposed(pa.Table.from_pylist(proposals, schema=PROPOSALS), len(waiting), n_given_up)

    def _warn(self, waiting: Sequence[ladder.Climb[list[ProposedEdge]]], n_given_up: int) -> None:
        """Says in the log how many users got no answer."""
        if waiting or n_given_up:
            _LOGGER.warning(
                "inference: the model %s gave no answer about %d users (%s) and never a readable one about %d; for "
                "them only rules conclude, and the next run asks again about the former",
                self.model, len(waiting), ", ".join(sorted({str(c.error_type) for c in waiting})) or "none", n_given_up,
            )  # fmt: skip

    def _proposals(self, facts: Sequence[Ground], climb: ladder.Climb[list[ProposedEdge]]) -> list[dict[str, Any]]:
        """What was proposed about the facts that the answered rung showed; nothing where none was answered."""
        if climb.value is None:
            return []
        shown = facts[: self._windows(facts)[climb.rung]]
        return question.proposals(climb.value, shown, self._settings.max_proposals_a_user)

    async def _ask(self, asking: Asking, facts: Sequence[Ground], as_of: date) -> ladder.Climb[list[ProposedEdge]]:
        return await ladder.climb(
            [partial(self._request, facts, window, as_of) for window in self._windows(facts)],
            _read,
            gateway=asking.gateway,
            store=asking.store,
            clock=asking.clock,
            settings=asking.ladder,
        )

    @staticmethod
    def _windows(facts: Sequence[Ground]) -> tuple[int, int, int, int]:
        """How many facts each rung of the ladder shows: all, all again, the newer half, the newest quarter."""
        n_facts = len(facts)
        return n_facts, n_facts, max(2, n_facts // 2), max(2, n_facts // 4)

    def _request(self, facts: Sequence[Ground], window: int, as_of: date) -> ChatRequest:
        user_id = facts[0]["user_id"]
        reference = content_id("facts", user_id)
        return ChatRequest(
            user_id=user_id,
            task=TASK,
            model=self.model,
            prompt_version=content_id("prompt", question.SYSTEM)[-12:],
            messages=question.messages(facts[:window]),
            schema_name="edges",
            schema=question.SCHEMA,
            max_output_tokens=self._settings.max_output_tokens,
            temperature=0.0,
            reference=reference,
            correlation_id=content_id("cor", reference, as_of),
            at=datetime.combine(as_of, time(), UTC),
        )


def _read(answer: ChatAnswer) -> list[ProposedEdge]:
    return question.read(answer.text)


async def _tried(what: str, act: Any) -> None:
    """Does what can be done later as well."""
    try:
        await act
    except (ModelError, LockedError) as error:
        _LOGGER.warning("%s failed: %s", what, error)
