"""The catalogue of all declared tables, by name."""

from em_pipelines.schema.table import Table
from em_pipelines.schema.tables import clean, derived, extraction, graph, outgoing, raw, record

CATALOG: dict[str, Table] = {
    table.name: table
    for module in (raw, clean, extraction, graph, derived, outgoing, record)
    for table in module.TABLES
}
