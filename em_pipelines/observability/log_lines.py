"""Log lines as JSON: one object a line on stderr, with the work that it is of.

Our own loggers say nothing of anybody, and write from INFO on. Those of libraries write warnings and worse, of which
the first line alone is told. An error is told by its kind and place: its text may quote somebody.
"""

import logging
import sys
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

import orjson

from em_pipelines.observability.work import FIELDS, bound

OURS = ("em_pipelines", "assets", "resources", "sensors", "quality")
LONGEST = 500
"""Characters of a message that are told."""
DEEPEST = 4
"""Frames of an error that are told."""


class JsonLines(logging.Formatter):
    """One record as one JSON object: timestamp (UTC), level, logger, message, and correlation_id, step, day and error
    where they apply."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        told: dict[str, object] = {
            "timestamp": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _first_line(record),
        }
        of_work = bound()
        told |= {name: of_work[name] for name in FIELDS if name in of_work}
        if record.exc_info and record.exc_info[1] is not None:
            told["error"] = _place(record.exc_info[1])
        return orjson.dumps(told, default=str).decode()


class JsonHandler(logging.StreamHandler[TextIO]):
    """Writes JSON lines to stderr, whichever that is at the time."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        self.setFormatter(JsonLines())

    def emit(self, record: logging.LogRecord) -> None:
        """Writes one line."""
        self.stream = sys.stderr
        super().emit(record)


def write_json(keeps: Callable[[logging.LogRecord], bool] = lambda _: True) -> None:
    """Has everything that this process logs, and that somebody `keeps`, written as JSON lines to stderr, and by nobody
    else; once is enough."""
    root = logging.getLogger()
    if not any(isinstance(handler, JsonHandler) for handler in root.handlers):
        root.handlers = [JsonHandler()]
        root.handlers[0].addFilter(keeps)
    root.setLevel(logging.WARNING)
    for name in OURS:
        logging.getLogger(name).setLevel(logging.INFO)


def _first_line(record: logging.LogRecord) -> str:
    try:
        lines = record.getMessage().splitlines()
    except (TypeError, ValueError):  # a library's arguments that do not fit its own words
        lines = [str(record.msg)]
    return (lines or [""])[0][:LONGEST]


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-DEEPEST:]
    where = " > ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames)
    return f"{type(error).__name__} at {where}" if where else type(error).__name__
