"""Reading facts: what held at the end of a day, as memory knew it then or at another time.

Feedback that has landed and is not folded yet is laid over what a reader sees, so that corrections are effective at
once (`em_pipelines.serving.overlay`).
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.errors import NotMadeError
from em_pipelines.graph.confidence_decay import DecaySettings
from em_pipelines.landing.tables import feedback_table, landing_run
from em_pipelines.language.name_keys import name_key
from em_pipelines.lifecycle.decay import current_edges
from em_pipelines.schema.rows import CurrentEdgeRow, FeedbackRow
from em_pipelines.schema.table import Table, rows_of
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.graph import EDGES, ENTITIES
from em_pipelines.schema.tables.raw import FEEDBACK
from em_pipelines.schema.vocabulary import INSTRUCTION, MAY_BE_PHRASE, OBSERVATIONS, Mechanism, Status
from em_pipelines.storage.duckdb_engine import bind, fetch, scratch, statement
from em_pipelines.storage.step import Step
from em_pipelines.storage.store import Store

if TYPE_CHECKING:
    from em_pipelines.graph.rounds import FoldSettings
    from em_pipelines.guard.sensitive import SafetySettings
    from em_pipelines.resolution.settings import ResolutionSettings
    from em_pipelines.resolution.user_registry import Aliases


@dataclass(frozen=True)
class Overlay:
    """How feedback that waits is to be read: rows of `feedback` by user, and the rules of registry and fold."""

    feedback: Sequence[FeedbackRow]
    aliases: "Aliases"
    resolution: "ResolutionSettings"
    fold: "FoldSettings"
    decay: DecaySettings
    safety: "SafetySettings"


def waiting_feedback(store: Store, user_id: str, until: date) -> list[FeedbackRow]:
    """The rows of `feedback` of one user, said up to the end of a day, that no fold has seen.

    Looked at are days of which the table is not what has landed, and those that were never folded: of the others the
    fold has seen what the table holds.
    """
    days = [day for day in store.log.days("feedback") if day <= until]
    if not days:
        return []
    folded = [day for day in days if store.lake.has(EDGES, day)]
    changed = store.outdated(Step.of_log(FEEDBACK, landing_run(FEEDBACK)), folded, store.look())
    found: list[FeedbackRow] = []
    for day in sorted(changed | (set(days) - set(folded))):
        seen = set(store.lake.read(FEEDBACK, day)["feedback_id"].to_pylist()) if day in changed else set()
        rows = cast("Iterator[FeedbackRow]", rows_of(feedback_table(store.log.read("feedback", day))))
        found += [row for row in rows if row["user_id"] == user_id and row["feedback_id"] not in seen]
    return found


def is_awaited(store: Store, user_id: str) -> bool:
    """Whether messages of a user have landed that no run has read. Days read after they landed are not looked into; of
    the others, which may be a home that was copied without its times, the messages are compared."""
    root = store.log.local_root
    if root is None:
        return False
    for day in store.log.days("interactions"):
        landed_at = Path(root, "interactions", day.isoformat()).stat().st_mtime
        read_at = store.lake.modified_at(MESSAGES, day)
        is_read = read_at is not None and read_at.timestamp() >= landed_at
        if is_read:
            continue
        said = {
            (record["session_id"], record["turn_number"])
            for record in store.log.read("interactions", day)
            if record["user_id"] == user_id
        }
        found = store.lake.find(MESSAGES, day, "user_id", [user_id])
        if said.difference(zip(found["session_id"].to_pylist(), found["turn_number"].to_pylist(), strict=True)):
            return True
    return False


def check_made(store: Store, user_id: str, doing: str) -> None:
    """For who has found nothing of a user: raises NotMadeError where that is so because nothing was read yet."""
    if is_awaited(store, user_id):
        raise NotMadeError(
            f"{doing}: messages of {user_id!r:.80} have landed, and no run has read them yet; `em run` does, ask then"
        )


HERE = Path(__file__).parent
SHOWN = ("active", "contradicted")
TOLD_FROM = 0.40
"""The effective confidence below which a fact is background alone; what a person stated is old from there on."""
ALWAYS_OR_AHEAD = ("attribute", "plan", "wish")
BEST_FIRST = [
    ("effective_confidence", "descending"),
    *((name, "ascending") for name in ("subject", "relation", "object", "edge_id")),
]
PRECISION_CHARACTERS = {"year": 4, "month": 7, "day": 10}


class KeptAs(StrEnum):
    """What of memory is asked for."""

    FACTS = "facts"
    OBSERVATIONS = "observations"
    BOTH = "both"
    WITH_INSTRUCTIONS = "facts and standing instructions"

    def of(self, edges: pa.Table) -> pa.Table:
        """The edges that are asked for."""
        if self is KeptAs.BOTH:
            return edges
        kinds = [kind for kind in OBSERVATIONS if kind != INSTRUCTION or self is not KeptAs.WITH_INSTRUCTIONS]
        is_observation = pc.is_in(edges["relation"], pa.array(kinds))
        return edges.filter(is_observation if self is KeptAs.OBSERVATIONS else pc.invert(is_observation))


@dataclass(frozen=True, slots=True)
class FactQuery:
    """Which facts: of one user, as they held at the end of `as_of`.

    `known_at` asks what memory knew at the end of that day instead of then; `entity` keeps facts with that name (or
    alias) at either end; `is_all` keeps every status; `kept_as` says whether facts that a relation fits are asked for,
    observations, or both. `has_old` adds what the person stated and has only faded, also
    what was purged from the archive: each fact then says by `is_old` whether it may be out of date.
    """

    user_id: str
    as_of: date
    known_at: date | None = None
    entity: str | None = None
    is_all: bool = False
    has_old: bool = False
    kept_as: KeptAs = KeptAs.FACTS


class FactRow(CurrentEdgeRow):
    """A row of `standing`: one of `current_edges`, with names and types of its ends; names as shown and normalised."""

    subject: str
    object: str
    subject_type: str
    object_type: str | None
    subject_keys: list[str]
    object_keys: list[str]
    end_keys: list[str]
    is_old: bool


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a user: facts in every status as rows with names, best first, and their entities."""

    rows: list[FactRow]
    entities: pa.Table


def facts(  # noqa: PLR0913  (what is asked, and how much of it is told)
    store: Store,
    query: FactQuery,
    decay: DecaySettings,
    waiting: Overlay | None = None,
    is_hidden: Callable[[FactRow], bool] = lambda _: False,
    told: Callable[[FactRow], FactRow | None] = lambda row: row,
) -> list[dict[str, Any]]:
    """Returns the facts, best first, as JSON-able dicts with effective confidence (0 to 1).

    `waiting` is the person's feedback up to then that no fold has seen yet; `is_hidden` says which rows are about to be
    erased, `told` how much of one is for who asks, None for nothing. A user of whom nothing is known has no
    facts: the list is empty. Raises CorruptTableError where a partition cannot be read, never an empty list for it.
    """
    key = name_key(query.entity) if query.entity else None
    return [
        shown(row) | ({"is_old": stands["is_old"]} if query.has_old else {})
        for stands in cast("list[FactRow]", standing(store, query, decay, waiting).to_pylist())
        if not is_hidden(stands) and _holds(stands, query) and (row := told(stands)) is not None
        if key is None or key in row["end_keys"] or _names(row, key)
    ]


def _names(row: FactRow, key: str) -> bool:
    """Whether an observation has a name, given as it is compared, among its words."""
    return row["relation"] in OBSERVATIONS and f" {key} " in f" {name_key(row['object'])} "


def standing(
    store: Store,
    query: FactQuery,
    decay: DecaySettings,
    waiting: Overlay | None = None,
    columns: Sequence[str] = ("*",),
) -> pa.Table:
    """The facts of a user and a day in any status, best first, before anything is left out: the columns of
    current_edges, and names (`subject`, `object`; normalised: `subject_keys`, `object_keys`, `end_keys`).

    Who needs some `columns` alone, those of BEST_FIRST among them, gets them sooner.
    """
    return _standing(store, query, decay, waiting, columns)[0]


def known(store: Store, query: FactQuery, decay: DecaySettings, waiting: Overlay | None = None) -> Known:
    """Everything known of the user then, whatever its status or name, for who needs ids and entities besides; raises
    as `facts` does."""
    rows, entities = _standing(store, query, decay, waiting)
    return Known(cast("list[FactRow]", rows.to_pylist()), entities)


def rows_of_users(store: Store, users: Sequence[str], as_of: date, decay: DecaySettings) -> dict[str, list[FactRow]]:
    """The facts at the end of a day in every status, as `known` has them, and withdrawn observations, as retracted, of
    each of many users: asked for together, they cost what one does."""
    with scratch() as connection:
        edges, entities = (_of_users(store, table, as_of, users) for table in (EDGES, ENTITIES))
        edges = pa.concat_tables([KeptAs.FACTS.of(edges), _withdrawn_observations(edges)])
        rows = named_facts(edges, entities, as_of, decay, connection)
    found: dict[str, list[FactRow]] = {user: [] for user in users}
    for row in cast("list[FactRow]", rows.to_pylist()):
        found[row["user_id"]].append(row)
    return found


def _of_users(store: Store, table: Table, until: date, users: Sequence[str]) -> pa.Table:
    day = store.lake.latest(table, until)
    return store.lake.find(table, day, "user_id", users) if day else table.empty()


def _standing(
    store: Store, query: FactQuery, decay: DecaySettings, waiting: Overlay | None, columns: Sequence[str] = ("*",)
) -> tuple[pa.Table, pa.Table]:
    """Facts with names, and entities."""
    known_at = query.known_at or query.as_of
    with scratch() as connection:
        edges, entities = (_of_user(store, table, known_at, query.user_id, connection) for table in (EDGES, ENTITIES))
        if waiting:
            # It takes the fold and all that reads what people say: a tenth of a second, and mostly nothing waits.
            from em_pipelines.serving.overlay import laid_over  # noqa: PLC0415

            edges, entities = laid_over(edges, entities, waiting, known_at, connection)
        reading = decay.keeping() if query.has_old else decay
        edges = query.kept_as.of(_without_denied(edges))
        return named_facts(edges, entities, query.as_of, reading, connection, columns), entities


def withdrawn(rows: Sequence[Mapping[str, Any]]) -> set[str]:
    """The facts that people took back, or put another value in the place of: not those that time has overtaken."""
    corrections = {row["edge_id"] for row in rows if row["source_mechanism"] == Mechanism.USER_CORRECTION}
    return {
        row["edge_id"]
        for row in rows
        if row["status"] == Status.RETRACTED
        or (row["status"] == Status.SUPERSEDED and row["superseded_by"] in corrections)
    }


def _withdrawn_observations(edges: pa.Table) -> pa.Table:
    """The observations that people retracted or corrected, all with the status retracted."""
    observed = KeptAs.OBSERVATIONS.of(edges)
    gone = withdrawn(observed.select(["edge_id", "status", "superseded_by", "source_mechanism"]).to_pylist())
    found = observed.filter(pc.is_in(observed["edge_id"], pa.array(sorted(gone), pa.string())))
    field = found.schema.field("status")
    status = pa.array([Status.RETRACTED.value] * len(found), field.type)
    return found.set_column(found.schema.get_field_index("status"), field, status)


def _without_denied(edges: pa.Table) -> pa.Table:
    """One person's edges: an observation is retracted where a fact of its sentence was withdrawn, and superseded where
    one was."""
    is_over = pc.is_in(edges["status"], pa.array([Status.RETRACTED.value, Status.SUPERSEDED.value]))
    if not pc.any(is_over).as_py():
        return edges
    columns = ["edge_id", "status", "superseded_by", "source_mechanism", "provenance", "relation"]
    rows = edges.select(columns).to_pylist()
    gone, places = withdrawn(rows), defaultdict(list)
    for row in rows:
        if row["status"] in (Status.RETRACTED, Status.SUPERSEDED) and row["relation"] not in OBSERVATIONS:
            status = Status.RETRACTED if row["edge_id"] in gone else Status.SUPERSEDED
            for said in row["provenance"]:
                places[said["session_id"], said["turn_number"]].append((said["span_start"], said["span_end"], status))
    statuses = [
        _status_of(row, places) if row["relation"] in OBSERVATIONS and row["status"] == Status.ACTIVE else row["status"]
        for row in rows
    ]
    changed = pa.array(statuses, edges.schema.field("status").type)
    return edges.set_column(edges.schema.get_field_index("status"), edges.schema.field("status"), changed)


def _status_of(row: Mapping[str, Any], places: Mapping[tuple[str, int], list[tuple[int, int, Status]]]) -> str:
    """The status of an observation, given those of what is over: spans and statuses by turn."""
    found = {
        status
        for said in row["provenance"]
        for start, end, status in places.get((said["session_id"], said["turn_number"]), ())
        if start < said["span_end"] and said["span_start"] < end
    }
    return next((one.value for one in (Status.RETRACTED, Status.SUPERSEDED) if one in found), str(row["status"]))


def named_facts(  # noqa: PLR0913  (the state, the day, and what reads them)
    edges: pa.Table,
    entities: pa.Table,
    as_of: date,
    decay: DecaySettings,
    connection: duckdb.DuckDBPyConnection,
    columns: Sequence[str] = ("*",),
) -> pa.Table:
    """Facts as they stand, with names, best first."""
    current = current_edges(edges, entities, as_of, decay, connection)
    connection.execute(f"CREATE OR REPLACE TEMP VIEW standing AS {current.sql}")
    connection.execute(f"SET VARIABLE told_from = {TOLD_FROM}")
    connection.execute("SET VARIABLE phrase_relations = ?", [sorted(MAY_BE_PHRASE)])
    bind(connection, "entities", entities)
    rows = fetch(connection, f"SELECT {', '.join(columns)} FROM ({statement(HERE, 'facts')})")
    return rows.take(pc.sort_indices(rows, sort_keys=BEST_FIRST))  # half of what DuckDB takes for wide rows


def _of_user(store: Store, table: Table, until: date, user_id: str, connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """One person's rows of a state: of a file sorted by user the others are not even read."""
    day = store.lake.latest(table, until)
    if day is None:
        return table.empty()
    store.lake.info(table, day)  # a damaged file is named as such
    bind(connection, "everybody", store.lake.scan(table, day))
    connection.execute("SET VARIABLE user_id = ?", [user_id])
    own = fetch(connection, "SELECT * FROM everybody WHERE user_id = getvariable('user_id')")
    if own.schema.names != table.schema.names:
        return store.lake.read(table, day)  # which says what is wrong with it
    return own.cast(table.schema)


def _holds(row: FactRow, query: FactQuery) -> bool:
    """Whether the query takes a fact of that status and time."""
    return (
        query.is_all
        or (query.has_old and row["is_old"])
        or ((row["status"] in SHOWN or _held_then(row, query)) and _has_begun(row, query))
    )


def _held_then(row: FactRow, query: FactQuery) -> bool:
    """Known at K to have ended, but only after D: at D it held."""
    ended = row["valid_to"]
    return query.known_at is not None and row["status"] == "superseded" and ended is not None and ended > query.as_of


def _has_begun(row: FactRow, query: FactQuery) -> bool:
    """Looking back from K, a fact that began only after D did not hold at D; if nobody said when it began, it began
    when it was learned. Attributes always hold, plans and wishes are about what is to come."""
    if query.known_at is None or row["temporal_type"] in ALWAYS_OR_AHEAD:
        return True
    begun = row["valid_from"] or row["learned_at"].date()
    return begun <= query.as_of


def shown(row: FactRow) -> dict[str, Any]:
    """A row of facts as readers get it, JSON-able; of an observation also `owner`, `kind` and `text`."""
    precision = PRECISION_CHARACTERS[row["valid_precision"] or "day"]
    is_observation = row["relation"] in OBSERVATIONS
    observed = {"owner": row["subject"], "kind": row["relation"], "text": row["object"]} if is_observation else {}
    return {
        **observed,
        "subject": row["subject"],
        "relation": row["relation"],
        "object": row["object"],
        "statement": row["statement"],
        "polarity": row["polarity"],
        "status": row["status"],
        "confidence": round(row["effective_confidence"], 4),
        "valid_from": row["valid_from"].isoformat()[:precision] if row["valid_from"] else None,
        "valid_to": row["valid_to"].isoformat() if row["valid_to"] else None,
        "temporal_type": row["temporal_type"],
        "over": row["over"],
        "flags": row["flags"],
        "learned_at": row["learned_at"].isoformat(),
        "last_reinforced": row["last_reinforced"].isoformat(),
        "reinforcement_count": row["reinforcement_count"],
        "edge_id": row["edge_id"],
        "provenance": [{"session_id": p["session_id"], "turn_number": p["turn_number"]} for p in row["provenance"]],
    }
