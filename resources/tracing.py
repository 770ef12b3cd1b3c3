"""Spans by OpenTelemetry: sent to a collector by OTLP over HTTP, where an address is set and the extra is installed.

The engine tells of its work by `em_pipelines.observability.work`; here is who listens. Spans hold names, days and ids,
and of an error its kind alone: its text may quote somebody. A collector that is slow or gone is waited for at the end,
for some seconds and no longer.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from em_pipelines.environment import environment
from em_pipelines.errors import SettingsError
from em_pipelines.observability.settings import TracingSettings
from em_pipelines.observability.work import OpenSpan, Value, is_heard, listen

ENDPOINT_VARIABLES = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
SERVICE = "em_pipelines"
TIMEOUT_SECONDS = 2
FLUSH_MS = 3_000


class TracedSettings(Protocol):
    """Where spans go."""

    @property
    def tracing(self) -> TracingSettings: ...


def start(settings: TracedSettings) -> None:
    """Has spans drawn and sent from now on, once a process, where an address is set; else does nothing.

    Raises SettingsError where one is set and OpenTelemetry is not installed.
    """
    given = environment()
    named = next((name for name in ENDPOINT_VARIABLES if given.get(name, "").strip()), None)
    if is_heard() or not (settings.tracing.endpoint or named):
        return
    try:
        listen(*_listener(settings.tracing.endpoint))
    except ImportError as error:
        where = "tracing.endpoint" if settings.tracing.endpoint else named
        raise SettingsError(
            f"sending spans to the address in {where}: opentelemetry is not installed; `pip install "
            "'em-pipelines[opentelemetry]'`, or unset it"
        ) from error


def _listener(endpoint: str | None) -> tuple[OpenSpan, Callable[[], None]]:
    # An extra, which takes a third of a second to import.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    from opentelemetry.trace import Status, StatusCode  # noqa: PLC0415

    log = logging.getLogger("opentelemetry")
    if not log.handlers:  # else its traces of every failed attempt would go to stderr, between our own words
        log.addHandler(logging.NullHandler())
    address = f"{endpoint.rstrip('/')}/v1/traces" if endpoint else None
    provider = TracerProvider(resource=Resource.create({"service.name": SERVICE}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=address, timeout=TIMEOUT_SECONDS)))
    tracer = provider.get_tracer(SERVICE)

    @contextmanager
    def open_span(name: str, fields: Mapping[str, Value]) -> Iterator[Any]:
        told = {f"em.{field}": value for field, value in fields.items()}
        with tracer.start_as_current_span(
            name, attributes=told, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield span
            except BaseException as error:
                span.set_status(Status(StatusCode.ERROR, type(error).__name__))
                raise

    return open_span, lambda: _flush(provider)


def _flush(provider: Any) -> None:
    provider.force_flush(FLUSH_MS)
