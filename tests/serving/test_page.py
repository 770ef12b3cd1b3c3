"""The queries of docs/snapshot.md on a snapshot in which every table is filled: each gives rows."""

import re
import shutil
from pathlib import Path

import pytest

from em_pipelines.schema.tables.catalog import CATALOG
from em_pipelines.schema.tables.extraction import EXTRACTION_ISSUES
from em_pipelines.storage.duckdb_engine import connect

PAGE = Path(__file__).parents[2] / "docs" / "snapshot.md"
QUERIES = re.findall(r"^```sql\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
OF_TWO_FILES = ("ATTACH", "earlier")
OF_TABLE = {"experiences": {"kind": "failure"}, "experience_links": {"session_id": "chat-1", "turn_number": 0}}
"""What the queries of the page look for in tables that are empty in the examples."""


@pytest.fixture
def everything(examples_snapshot: Path, tmp_path: Path, rows_of) -> Path:
    """A copy of the examples' snapshot with rows in the tables that are empty there."""
    path = tmp_path / "everything.duckdb"
    shutil.copy(examples_snapshot, path)
    with connect(str(path)) as connection:
        ((user, edge, other),) = connection.execute(
            "SELECT any_value(user_id), min(edge_id), max(edge_id) FROM facts WHERE user_id = 'mirela'"
        ).fetchall()
        fields = {"user_id": user, "experience_id": "x1", "edge_id": edge, "other_edge_id": other}
        empty = connection.execute("SELECT table_name FROM snapshot_tables WHERE n_rows = 0").fetchall()
        assert {"experiences", "rules", "llm_calls"} <= {name for (name,) in empty}
        for (name,) in empty:
            table = CATALOG[name]
            own = fields | OF_TABLE.get(name, {})
            fitting = {column: value for column, value in own.items() if column in table.schema.names}
            connection.register("incoming", rows_of(table, fitting))
            connection.execute(f"INSERT INTO {name} FROM incoming")
            connection.unregister("incoming")
        connection.execute(
            "INSERT INTO waiting_imports BY NAME SELECT 'seed_1' AS seed_id, $1 AS user_id, 'contacts' AS kind, "
            "'cards.vcf' AS file, 1 AS line, 'user' AS subject, 'knows' AS relation, 'Nadia' AS object, 1 AS polarity",
            [user],
        )
        connection.execute(
            "INSERT INTO nights BY NAME SELECT 'con_1' AS consolidation_id, 3 AS n_entries, true AS is_standing, "
            "TIMESTAMPTZ '2026-10-01 03:00:00+00' AS until"
        )
        connection.execute(
            "INSERT INTO probe_suppressions BY NAME SELECT $1 AS user_id, 'probe_1' AS target, 'discovery' AS kind, "
            "'quiet_hours' AS reason, TIMESTAMPTZ '2026-10-01 23:00:00+00' AS timestamp",
            [user],
        )
        ((message,),) = connection.execute("SELECT min(message_id) FROM messages WHERE subject IS NOT NULL").fetchall()
        unread = {"user_id": user, "message_id": message, "issue": "skipped", "reason": "other_language"}
        connection.register("incoming", rows_of(EXTRACTION_ISSUES, unread))
        connection.execute("INSERT INTO extraction_issues FROM incoming")
    return path


@pytest.mark.slow
def test_every_query_of_the_page_gives_rows_where_every_table_has_some(everything: Path) -> None:
    queries = [query for query in QUERIES if not any(word in query for word in OF_TWO_FILES)]
    assert len(queries) > 40
    with connect(str(everything), is_read_only=True) as connection:
        assert [query for query in queries if not connection.execute(query).fetchall()] == []
