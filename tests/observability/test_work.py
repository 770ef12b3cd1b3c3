"""The fields of work that goes on, the hook of spans, and log lines as JSON."""

import io
import json
import logging
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any

import pytest

from em_pipelines.observability.log_lines import JsonHandler, JsonLines, write_json
from em_pipelines.observability.work import bound, flush, is_heard, listen, new_id, work


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """No listener and no handler stays."""
    root, level = logging.getLogger(), logging.getLogger().level
    handlers = [*root.handlers]
    yield
    listen(None)
    root.handlers, root.level = handlers, level
    logging.getLogger("em_pipelines").setLevel(logging.NOTSET)


def test_fields_hold_as_long_as_the_work_and_for_what_it_calls() -> None:
    assert bound() == {}
    with work("run", correlation_id="run_1"):
        with work("step", step="fold", day="2026-03-01"):
            assert bound() == {"correlation_id": "run_1", "step": "fold", "day": "2026-03-01"}
            with ThreadPoolExecutor(1) as pool:
                assert pool.submit(copy_context().run, bound).result()["step"] == "fold"
        assert bound() == {"correlation_id": "run_1"}
        with pytest.raises(ValueError, match="x"), work("step", step="decay"):
            raise ValueError("x")
        assert bound() == {"correlation_id": "run_1"}


def test_who_listens_hears_of_all_work_with_its_fields() -> None:
    heard: list[tuple[str, dict[str, Any]]] = []
    flushed: list[int] = []

    @contextmanager
    def open_span(name: str, fields: Mapping[str, Any]) -> Iterator[None]:
        heard.append((name, dict(fields)))
        yield
        heard.append((f"/{name}", {}))

    with work("before"):
        pass
    listen(open_span, lambda: flushed.append(1))
    assert is_heard()
    with work("run", correlation_id="run_1"), work("step", step="fold"):
        pass
    flush()
    assert heard == [
        ("run", {"correlation_id": "run_1"}), ("step", {"correlation_id": "run_1", "step": "fold"}), ("/step", {}),
        ("/run", {}),
    ]  # fmt: skip
    assert flushed == [1]


def test_ids_of_work_are_of_their_kind_and_never_twice_the_same() -> None:
    assert len({new_id("run") for _ in range(100)}) == 100
    assert new_id("call").startswith("call_")


def line(record: logging.LogRecord) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(JsonLines().format(record))
    return found


def record(message: str, *arguments: object, error: BaseException | None = None) -> logging.LogRecord:
    told = (type(error), error, error.__traceback__) if error else None
    return logging.LogRecord("em_pipelines.x", logging.WARNING, __file__, 1, message, arguments, told)


def test_a_line_is_one_object_with_the_work_that_it_is_of() -> None:
    with work("day", correlation_id="cor_1", step="fold", day="2026-03-01", tool="em_query"):
        told = line(record("made %d", 3))
    assert told.pop("timestamp").endswith("+00:00")
    assert told == {
        "level": "warning", "logger": "em_pipelines.x", "message": "made 3", "correlation_id": "cor_1",
        "step": "fold", "day": "2026-03-01",
    }  # fmt: skip
    assert [*line(record("made"))] == ["timestamp", "level", "logger", "message"]


def quoting(text: str) -> None:
    raise ValueError(text)


def test_of_an_error_kind_and_place_are_told_and_never_its_text() -> None:
    with pytest.raises(ValueError, match="Graz") as caught:
        quoting("I live in Graz")
    told = line(record("failed\nI live in Graz", error=caught.value))
    assert told["message"] == "failed"
    assert told["error"].startswith("ValueError at test_work.py:")
    assert "Graz" not in json.dumps(told)
    assert line(record("no %d of %d", "x"))["message"] == "no %d of %d"
    assert len(line(record("x" * 10_000))["message"]) == 500


def test_ours_write_from_info_on_and_libraries_their_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    write_json(lambda record: "hidden" not in record.getMessage())
    write_json()
    assert [type(handler) for handler in logging.getLogger().handlers] == [JsonHandler]
    logging.getLogger("em_pipelines.x").info("told")
    logging.getLogger("em_pipelines.x").debug("not told")
    logging.getLogger("em_pipelines.x").info("hidden")
    logging.getLogger("somelibrary").info("not told")
    logging.getLogger("somelibrary").warning("told as well")
    assert [json.loads(one)["message"] for one in stream.getvalue().splitlines()] == ["told", "told as well"]
