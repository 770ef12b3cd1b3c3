"""What recurs in the tables of a home, and the step that makes of it what the nights come to."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.lifecycle.consolidation.consolidate import BEGINNING, Worded, consolidate
from em_pipelines.lifecycle.consolidation.evidence import Cluster
from em_pipelines.lifecycle.consolidation.identifiers import shown_category, shown_skill
from em_pipelines.lifecycle.consolidation.nights import History
from em_pipelines.lifecycle.consolidation.safety import SafetyRules, may_be_shown
from em_pipelines.lifecycle.consolidation.said import NOTED, clusters_of_facts, clusters_of_observations
from em_pipelines.lifecycle.consolidation.settings import ConsolidationSettings
from em_pipelines.lifecycle.consolidation.skills import NOWHERE, Elsewhere, clusters_of_skills, profiles
from em_pipelines.schema.table import Records, Tables
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.derived import (
    CURRENT_EDGES,
    EXPERIENCE_LINKS,
    EXPERIENCES,
    PROMOTIONS,
    RULES,
    SKILL_PROFILES,
)
from em_pipelines.schema.tables.graph import ENTITIES, GRAPH_OPS
from em_pipelines.schema.tables.raw import SKILL_INVOCATIONS
from em_pipelines.storage.step import Window

if TYPE_CHECKING:
    from em_pipelines.lifecycle.pool.sharing import Sharing

RewordWithin = Callable[[Mapping[str, Any], Collection[str]], Worded | None]
"""(row of experiences, names of the skills of its user) → the rule in a model's words."""


def windows(settings: ConsolidationSettings) -> tuple[Window, ...]:
    """What a night looks over."""
    return (
        Window(SKILL_INVOCATIONS, settings.window_days),
        Window(GRAPH_OPS, settings.window_days),
        Window(MESSAGES, settings.window_days, "memory_type", NOTED),
    )


def recurring(tables: Tables, settings: ConsolidationSettings, elsewhere: Elsewhere = NOWHERE) -> list[Cluster]:
    """Everything that happened, by what belongs together. `tables` are what the step is given, `elsewhere` is what
    others say has helped."""
    edges, entities = (tables[f"state_{table.name}"].to_pylist() for table in (CURRENT_EDGES, ENTITIES))
    own = {row["entity_id"]: row for row in entities}
    names = {entity_id: own.get(row["merged_into"], row)["canonical_name"] for entity_id, row in own.items()}
    return [
        *clusters_of_skills(tables[SKILL_INVOCATIONS.name].to_pylist(), settings, elsewhere),
        *clusters_of_facts(tables[GRAPH_OPS.name].to_pylist(), edges, names),
        *clusters_of_observations(tables[MESSAGES.name].to_pylist()),
    ]


@dataclass(frozen=True)
class ConsolidationRun:
    """Makes what the nights of a history come to, by template or in the words of `reword`; with
    what a pool told beside it where there is a `sharing`."""

    history: History
    settings: ConsolidationSettings
    safety: SafetyRules
    reword: RewordWithin | None = None
    sharing: "Sharing | None" = None

    def run(self, _: date, tables: Tables, __: Records) -> Tables:
        """The tables of derived.CONSOLIDATED at the end of the last night that stands."""
        tables = self._seen(tables)
        called = tables[SKILL_INVOCATIONS.name].to_pylist() if self.sharing else []
        found = recurring(tables, self.settings, self.sharing.helped(called) if self.sharing else NOWHERE)
        told = self._profiles(tables)
        known = skills_of(told)
        made = consolidate(
            found, self.history, self.settings, self.safety,
            lambda row: self.reword(row, known.get(row["user_id"], ())) if self.reword else None,
        )  # fmt: skip
        shared = (
            self.sharing.rows(made.experiences, called, self.history, self.safety, self.settings)
            if self.sharing
            else []
        )
        rows: dict[Any, list[dict[str, Any]]] = {
            EXPERIENCES: [*made.experiences, *shared],
            RULES: made.rules,
            EXPERIENCE_LINKS: made.links,
            PROMOTIONS: made.promotions,
            SKILL_PROFILES: told,
        }
        return {table.name: table.from_rows(of_table) for table, of_table in rows.items()}

    def _seen(self, tables: Tables) -> Tables:
        """The tables without what happened after that night: it is no background of what happened before."""
        checkpoint = self.history.checkpoint
        end = checkpoint.end if checkpoint is not None else BEGINNING
        looked_over = {window.table.name: tables[window.table.name] for window in windows(self.settings)}
        until = {name: rows.filter(pc.less(rows["timestamp"], pa.scalar(end, rows["timestamp"].type)))
                  for name, rows in looked_over.items()}  # fmt: skip
        return {**tables, **until}

    def _profiles(self, tables: Tables) -> list[dict[str, Any]]:
        """How each skill has fared, but for names that may not be shown."""
        return [
            {
                **row,
                "skill_name": name,
                "failure_modes": [
                    mode for mode in map(shown_category, row["failure_modes"]) if may_be_shown((mode,), self.safety)
                ],
            }
            for row in profiles(tables[SKILL_INVOCATIONS.name].to_pylist())
            if may_be_shown((name := shown_skill(row["skill_name"]),), self.safety)
        ]


def skills_of(profiled: Iterable[Mapping[str, Any]]) -> dict[str, set[str]]:
    """The names of each user's skills, of rows of skill_profiles."""
    found: dict[str, set[str]] = {}
    for row in profiled:
        found.setdefault(row["user_id"], set()).add(row["skill_name"])
    return found
