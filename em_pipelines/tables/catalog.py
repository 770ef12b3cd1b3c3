"""The catalogue of all declared tables, by name."""

from em_pipelines.tables import clean, derived, extraction, graph, outgoing, raw, record
from em_pipelines.tables.schema import Table

CATALOG: dict[str, Table] = {
    table.name: table
    for module in (raw, clean, extraction, graph, derived, outgoing, record)
    for table in module.TABLES
}
