"""The forms that an export has. Apart from what writes them, so that naming one costs nothing."""

from enum import StrEnum


class ExportFormat(StrEnum):
    """Forms of an export."""

    JSON = "json"
    GRAPHML = "graphml"
    MARKDOWN = "markdown"
