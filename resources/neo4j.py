"""The graph store behind any server that speaks Bolt: Neo4j 5 and later, and what else the official driver can talk to.

Statements keep to the dialect that all of them share. Every name in one is of the closed lists of
`serving.projection.shapes`; what users said goes in as parameters alone. Messages of the server may repeat data,
so that of an error only its code is told.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
from neo4j import Driver, GraphDatabase, ManagedTransaction
from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    ConstraintError,
    DatabaseError,
    DriverError,
    Forbidden,
    Neo4jError,
)

from em_pipelines.errors import GraphRefusedError, GraphUnavailableError, SettingsError
from em_pipelines.serving.projection.graph_store import HELD_EDGES, HELD_NODES, Sums
from em_pipelines.serving.projection.shapes import (
    EDGE_ID,
    EDGE_PROPERTIES,
    ENTITY,
    INDEXED,
    KEY,
    NODE_PROPERTIES,
    TYPE_NAMES,
    EdgeKind,
    Row,
    user_key,
)
from resources.graph_address import DATABASE, DEFAULT, PASSWORD, URI, USER, GraphSettings

RETRY_SECONDS = 5.0
CONNECT_SECONDS = 5.0
WAIT_SECONDS = 5.0
N_RACES = 3
"""Times a batch is tried again that met another writer's node; the driver does not try these again by itself."""
HALF = 2**31
"""Digests are summed by halves: sums of whole ones do not fit into an integer of Cypher."""
NO_DATABASE = "Neo.ClientError.Database.DatabaseNotFound"
RATE_LIMIT = "Neo.ClientError.Security.AuthenticationRateLimit"
_TYPES = "|".join(TYPE_NAMES)
_SUMMED = f"sum(toInteger(x.digest) / {HALF}) AS high, sum(toInteger(x.digest) % {HALF}) AS low"
"""Whatever somebody has put into the place of a digest is not one, and no reason to fail."""


@contextmanager
def connected(settings: GraphSettings) -> Iterator["Neo4jGraph"]:
    """Opens a graph database and closes its connections on leaving. That nobody answers is seen by the first call.

    Raises SettingsError where the driver cannot use the address.
    """
    secret = settings.password
    driver_log = logging.getLogger("neo4j")
    if not driver_log.handlers:  # else its warnings of every retry would go to stderr, between our own words
        driver_log.addHandler(logging.NullHandler())
    try:
        driver = GraphDatabase.driver(
            settings.uri,
            auth=(settings.user or DEFAULT, secret.get_secret_value()) if secret else None,
            max_transaction_retry_time=RETRY_SECONDS,
            connection_timeout=CONNECT_SECONDS,
            connection_acquisition_timeout=WAIT_SECONDS,
            notifications_min_severity="OFF",
            telemetry_disabled=True,
            user_agent="em_pipelines",
        )
    except (ConfigurationError, ValueError) as error:
        raise SettingsError(f"opening the graph database: the driver cannot use {URI}; see docs/neo4j.md") from error
    with driver:
        yield Neo4jGraph(driver, settings.database, urlsplit(settings.uri).hostname or "")


class Neo4jGraph:
    """A `GraphStore` over Bolt. One writer at a time: two that make the same nodes hinder each other."""

    def __init__(self, driver: Driver, database: str, host: str) -> None:
        """`host` is named in errors."""
        self._driver = driver
        self._database = database
        self._host = host
        self._is_met = False

    def prepare(self) -> None:
        """Makes constraints and indexes that are not there yet."""
        for label, names in INDEXED.items():
            stem = f"em_{label.lower()}"
            self._write(f"CREATE CONSTRAINT {stem}_{KEY} IF NOT EXISTS FOR (n:{label}) REQUIRE n.{KEY} IS UNIQUE")
            for name in names:
                self._write(f"CREATE INDEX {stem}_{name} IF NOT EXISTS FOR (n:{label}) ON (n.{name})")

    def sums(self) -> dict[str, Sums]:
        """What the database holds of each user."""
        found: dict[str, list[int]] = {}
        ours = [(0, f"(x:{label}) WHERE x.{KEY} IS NOT NULL") for label in NODE_PROPERTIES]
        ours.append((1, f"(:{ENTITY})-[x:{_TYPES}]->() WHERE x.{EDGE_ID} IS NOT NULL"))
        for offset, pattern in ours:
            query = f"MATCH {pattern} AND x.user_id IS NOT NULL RETURN x.user_id AS u, count(x) AS n, {_SUMMED}"
            for user_id, n, high, low in self._read(query):
                figures = found.setdefault(user_id, [0, 0, 0, 0])
                figures[offset] += n
                figures[offset + 2] += int(high) * HALF + int(low)
        return {user_id: Sums(*figures) for user_id, figures in found.items()}

    def nodes_of(self, user_ids: Sequence[str]) -> pa.Table:
        """The nodes of some users, as HELD_NODES."""
        rows = []
        for label in NODE_PROPERTIES:
            query = (
                f"MATCH (n:{label}) WHERE n.user_key IN $users AND n.{KEY} IS NOT NULL "
                f"RETURN collect([n.{KEY}, coalesce(toInteger(n.digest), -1)])"
            )
            rows += [(label, *found) for found in self._read(query, users=_keys(user_ids))[0][0]]
        return _table(rows, HELD_NODES)

    def edges_of(self, user_ids: Sequence[str]) -> pa.Table:
        """The relationships that start at nodes of some users, as HELD_EDGES."""
        rows = []
        for label in NODE_PROPERTIES:
            query = (
                f"MATCH (s:{ENTITY})-[r:{_TYPES}]->(o:{label}) WHERE s.user_key IN $users AND s.{KEY} IS NOT NULL "
                f"AND o.{KEY} IS NOT NULL AND r.{EDGE_ID} IS NOT NULL "
                f"RETURN type(r), collect([s.{KEY}, o.{KEY}, r.{EDGE_ID}, coalesce(toInteger(r.digest), -1)])"
            )
            for type_name, held in self._read(query, users=_keys(user_ids)):
                rows += [(type_name.lower(), label, *found) for found in held]
        return _table(rows, HELD_EDGES)

    def put_nodes(self, label: str, rows: Sequence[Row]) -> None:
        """Writes one batch: makes nodes, or sets all properties of those whose key is there."""
        names = NODE_PROPERTIES[label]
        self._write(
            f"UNWIND $rows AS row MERGE (n:{label} {{{KEY}: row[{names.index(KEY)}]}}) SET n += {_map(names)}",
            rows=rows,
        )

    def put_edges(self, kind: EdgeKind, rows: Sequence[Row]) -> None:
        """Writes one batch of relationships between nodes that are there; other rows change nothing."""
        self._write(
            f"UNWIND $rows AS row {_ends(kind)} MERGE (s)-[r:{kind.type_name} {{{EDGE_ID}: row[2]}}]->(o) "
            f"SET r += {_map(EDGE_PROPERTIES, first=3)}",
            rows=rows,
        )

    def drop_nodes(self, label: str, keys: Sequence[str]) -> None:
        """Removes nodes, with every relationship that they have."""
        self._write(f"UNWIND $keys AS key MATCH (n:{label} {{{KEY}: key}}) DETACH DELETE n", keys=keys)

    def drop_edges(self, kind: EdgeKind, ends: Sequence[tuple[str, str, str]]) -> None:
        """Removes relationships by source key, target key and edge_id."""
        self._write(
            f"UNWIND $rows AS row {_ends(kind)} MATCH (s)-[r:{kind.type_name} {{{EDGE_ID}: row[2]}}]->(o) DELETE r",
            rows=[list(row) for row in ends],
        )

    def _write(self, query: str, **parameters: Any) -> None:
        for n_left in reversed(range(N_RACES)):
            try:
                self._run("execute_write", lambda t: t.run(query, parameters).consume())
            except _RaceError:
                if not n_left:
                    raise GraphUnavailableError(
                        f"writing to the graph database at {self._host}: another writer made the same nodes, {N_RACES} "
                        "times in a row; let one sync run at a time"
                    ) from None
            else:
                return

    def _read(self, query: str, **parameters: Any) -> list[list[Any]]:
        found: list[list[Any]] = self._run("execute_read", lambda t: [r.values() for r in t.run(query, parameters)])
        return found

    def _run(self, how: str, work: Callable[[ManagedTransaction], Any]) -> Any:
        """Runs one transaction, tried again by the driver for some seconds where that may help."""
        whose = f"talking to the graph database at {self._host}"
        try:
            if not self._is_met:  # asked once: the retries of a transaction would take half a minute to say the same
                with self._driver.session(database=self._database) as session:
                    session.run("RETURN 1").consume()
                self._is_met = True
            with self._driver.session(database=self._database) as session:
                return getattr(session, how)(work)
        except ConstraintError as error:
            raise _RaceError from error
        except (AuthError, Forbidden) as error:
            if error.code == RATE_LIMIT:
                raise GraphUnavailableError(f"{whose}: too many wrong passwords of late; try again later") from None
            raise GraphRefusedError(f"{whose}: it refuses the user; check {USER} and {PASSWORD}") from None
        except Neo4jError as error:
            if error.is_retryable() or isinstance(error, DatabaseError):
                raise GraphUnavailableError(f"{whose}: it failed ({error.code}); try again later") from None
            if error.code == NO_DATABASE:
                raise GraphRefusedError(f"{whose}: it has no such database; make it, or check {DATABASE}") from None
            raise GraphRefusedError(
                f"{whose}: it refuses a statement ({error.code}); see docs/neo4j.md for what it has to understand"
            ) from None
        except ConfigurationError as error:
            raise GraphRefusedError(f"{whose}: {type(error).__name__}; check the scheme of {URI}") from None
        except (DriverError, OSError) as error:
            raise GraphUnavailableError(
                f"{whose}: no answer ({type(error).__name__}); check {URI} and that the server runs, then try again"
            ) from None


class _RaceError(Exception):
    """Another writer has made a node between our look and our write."""


def _keys(user_ids: Sequence[str]) -> list[str]:
    return [user_key(user_id) for user_id in user_ids]


def _ends(kind: EdgeKind) -> str:
    return f"MATCH (s:{ENTITY} {{{KEY}: row[0]}}) MATCH (o:{kind.target} {{{KEY}: row[1]}})"


def _map(names: Sequence[str], first: int = 0) -> str:
    """Properties as a map over a row. Rows are lists: maps would repeat every name in every row."""
    return "{" + ", ".join(f"{name}: row[{index}]" for index, name in enumerate(names, start=first)) + "}"


def _table(rows: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else [[] for _ in schema]
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )
