"""Rows of a table as they are kept: the same rows are the same table, in whatever order they were handed over."""

import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.errors import CorruptTableError
from em_pipelines.tables.schema import Table


def canonical(table: Table, rows: pa.Table) -> pa.Table:
    """Returns the rows in declared column order, types and sort order; raises CorruptTableError where they misfit."""
    try:
        cast = rows.select(table.schema.names).cast(table.schema)
    except (pa.ArrowException, KeyError, ValueError) as error:
        raise CorruptTableError(f"writing {table.name}: {error}; the step that made these rows is at fault") from error
    order = pc.sort_indices(cast, sort_keys=[(name, "ascending") for name in table.sort_by])
    return cast.take(order).combine_chunks()
