"""What memory learned, changed and forgot between two snapshots: of two days, of two homes, or before and after a
change of what reads.

Ids are the same in every snapshot and every rebuild, so facts are compared by id. What was erased in between is
counted and never told, though the earlier file may still hold it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any, cast

import duckdb

from em_pipelines.errors import UsageError
from em_pipelines.graph.confidence_decay import Curve, published_macro
from em_pipelines.language.name_matching import MARKER
from em_pipelines.redaction.veils import OwnedFact
from em_pipelines.serving.snapshot_file import LAYOUT, is_as_written
from em_pipelines.storage.duckdb_engine import connect, fetch, scalar, statement

HERE = Path(__file__).parent
STANDING = ("active", "contradicted")
GIVEN_UP = ("archived", "expired", "retracted")
Row = dict[str, Any]
IsErased = Callable[[OwnedFact], bool]


@dataclass(frozen=True, slots=True)
class Difference:
    """What lies between two snapshots, as JSON-able dicts, each list in order of user and fact.

    `learned`: facts that the later one alone holds; `is_late` where they were said by the day of the earlier one, so
    that they landed late or are read anew. `changed`: facts whose status, band of confidence, validity or names differ,
    each with what was and what is. `forgotten`: facts that stood and do not, with `how`: retracted, expired, archived,
    purged (its time in the archive is over), reread (said as before, and no longer read as a fact). `names`: names that
    are read by another than before. `n_erased` counts facts whose words were erased.
    """

    earlier: date
    later: date
    learned: list[Row]
    changed: list[Row]
    forgotten: list[Row]
    names: list[Row]
    n_erased: int

    def document(self) -> Row:
        """All of it as one JSON-able dict."""
        return asdict(self)


def diff(earlier: Path, later: Path, user_id: str | None = None, is_erased: IsErased = lambda _: False) -> Difference:
    """Compares two snapshots, of everybody or of one user, of whom nobody else's rows are read.

    `is_erased` says of a row with `user_id`, `edge_id`, `end_keys`, `provenance` and `learned_at` that nothing may be
    told of it. Raises UsageError where a file is missing, is no snapshot, was published in another layout or is
    damaged, and where the first is of a later day than the second.
    """
    with _opened(earlier, later, user_id) as (connection, days):
        if days[0] > days[1]:
            raise UsageError(f"comparing snapshots: {days[0]} is after {days[1]}; give the earlier one first")
        try:
            _prepare(connection)
            facts = fetch(connection, statement(HERE, "diff_facts")).to_pylist()
            names = fetch(connection, statement(HERE, "diff_names")).to_pylist()
        except duckdb.Error as error:
            both = (earlier.resolve(), later.resolve())
            damaged = [path for path in both if not is_as_written(path)] or both
            raise UsageError(
                f"comparing snapshots: {' or '.join(map(str, damaged))} does not hold the tables of a snapshot "
                f"({_first_line(error)}); publish it again with `em snapshot --date DAY`"
            ) from error
    told = [row for row in facts if not (row["is_erased"] or is_erased(row))]
    learned, changed, forgotten = _by_fate(told)
    return Difference(
        earlier=days[0],
        later=days[1],
        learned=[_learned(row, days[0]) for row in learned],
        changed=list(map(_changed, changed)),
        forgotten=list(map(_forgotten, forgotten)),
        names=[_renamed(row) for row in names if not is_erased(_as_fact(row))],
        n_erased=len(facts) - len(told),
    )


def _by_fate(rows: list[Row]) -> tuple[list[Row], list[Row], list[Row]]:
    """Facts that are new, those that are other than before, and those that are gone."""
    learned: list[Row] = []
    changed: list[Row] = []
    forgotten: list[Row] = []
    for row in rows:
        fate = learned if not row["was_there"] else forgotten if _is_forgotten(row) else changed
        fate.append(row)
    return learned, changed, forgotten


@contextmanager
def _opened(
    earlier: Path, later: Path, user_id: str | None
) -> Iterator[tuple[duckdb.DuckDBPyConnection, tuple[date, date]]]:
    """A connection that sees both files and nothing else, and the days of both."""
    with connect() as connection:
        connection.execute("SET VARIABLE user_id = ?", [user_id])
        connection.execute("SET VARIABLE cut_marker = ?", [MARKER])
        days = (_attach(connection, earlier, "earlier"), _attach(connection, later, "later"))
        connection.execute("SET enable_external_access = false")  # a view in a foreign file reads nothing of ours
        connection.execute("SET VARIABLE later_day = ?::DATE", [days[1]])
        yield connection, days


def _prepare(connection: duckdb.DuckDBPyConnection) -> None:
    """Makes the views of both sides, and the formula of decay as the later one has it."""
    curve = str(scalar(connection, "SELECT curve FROM later.time_rules"))
    connection.execute(published_macro(Curve(curve if curve in set(Curve) else Curve.LINEAR)))
    for side in ("earlier", "later"):
        connection.execute(statement(HERE, "diff_side").replace("$side", side))


def _attach(connection: duckdb.DuckDBPyConnection, path: Path, side: str) -> date:
    """Lets SQL see a snapshot by a name, and returns its day. Raises UsageError where it is none that we can read."""
    if not path.is_file():
        raise UsageError(f"comparing snapshots: there is no file {path}; `em snapshot --date DAY` publishes one")
    try:
        connection.execute(f"ATTACH '{str(path).replace(chr(39), chr(39) * 2)}' AS {side} (TYPE duckdb, READ_ONLY)")
    except duckdb.Error as error:
        raise UsageError(
            f"comparing snapshots: {path} cannot be read as a DuckDB file ({_first_line(error)}); "
            "publish it again with `em snapshot --date DAY`"
        ) from error
    names = connection.execute(
        "SELECT column_name FROM duckdb_columns() WHERE database_name = ? AND table_name = 'snapshot_info'", [side]
    ).fetchall()
    if ("as_of",) not in names:
        raise UsageError(f"comparing snapshots: {path} is a DuckDB file and no snapshot of a memory; give another one")
    layout = scalar(connection, f"SELECT layout FROM {side}.snapshot_info") if ("layout",) in names else "1"
    if layout != LAYOUT:
        raise UsageError(
            f"comparing snapshots: {path} was published by another version (layout {layout}, here it is {LAYOUT}); "
            "publish it again with `em snapshot --date DAY`"
        )
    as_of = scalar(connection, f"SELECT as_of FROM {side}.snapshot_info")
    assert isinstance(as_of, date)
    return as_of


def _is_forgotten(row: Row) -> bool:
    """It stood, or was about to go, and now time, the person or another reading has taken it away."""
    if not row["was_there"]:
        return False
    return not row["is_there"] or (row["was"]["status"] in STANDING and row["now"]["status"] in GIVEN_UP)


def _fact(row: Row) -> Row:
    return {name: row[name] for name in ("user_id", "subject", "relation", "object", "polarity", "edge_id")}


def _learned(row: Row, earlier: date) -> Row:
    return {
        **_fact(row),
        "status": row["now"]["status"],
        "confidence": round(row["confidence_now"], 4),
        "band": row["now"]["band"],
        "valid_from": _text(row["now"]["valid_from"]),
        "learned_at": row["learned_at"].isoformat(),
        "is_late": row["learned_at"].date() <= earlier,
    }


def _changed(row: Row) -> Row:
    was, now = row["was"], row["now"]
    changes = {name: [_text(was[name]), _text(now[name])] for name in was if was[name] != now[name]}
    return {
        **_fact(row),
        "changes": changes,
        "confidence": [round(row["confidence_was"], 4), round(row["confidence_now"], 4)],
        "superseded_by": row["successor"] if "status" in changes else None,
    }


def _forgotten(row: Row) -> Row:
    how = row["now"]["status"] if row["is_there"] else "purged" if row["is_purged"] else "reread"
    was = {"status_was": row["was"]["status"], "confidence_was": round(row["confidence_was"], 4)}
    return {**_fact(row), "how": how, **was}


def _renamed(row: Row) -> Row:
    kept = ("user_id", "name", "was_read_as", "is_read_as", "was_known", "entity_id")
    return {**{name: row[name] for name in kept}, "how": "split" if row["is_split"] else "merged"}


def _as_fact(row: Row) -> OwnedFact:
    """A name in the form in which `is_erased` is asked."""
    unsaid: Row = {"edge_id": "", "statement": None, "provenance": []}
    return cast("OwnedFact", {**row, **unsaid, "learned_at": row["first_seen"]})


def _text(value: object) -> object:
    return value.isoformat() if isinstance(value, date) else value


def _first_line(error: duckdb.Error) -> str:
    return str(error).splitlines()[0]
