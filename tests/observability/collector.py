"""A collector of OpenTelemetry spans on loopback: takes OTLP over HTTP, and keeps what came."""

import gzip
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True, slots=True)
class Span:
    """One span: its name, ids in hexadecimal, attributes, and what its error was, if any."""

    name: str
    span_id: str
    parent_id: str
    trace_id: str
    attributes: dict[str, Any]
    error: str
    n_events: int


class Collector:
    """The server; entered, it listens on a random port."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                is_packed = self.headers.get("Content-Encoding") == "gzip"
                collector.bodies.append(gzip.decompress(body) if is_packed else body)
                self.send_response(200 if self.path == "/v1/traces" else 404)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def endpoint(self) -> str:
        """Its address, as OTEL_EXPORTER_OTLP_ENDPOINT has it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def spans(self) -> list[Span]:
        """Everything that came, in the order in which spans ended."""
        found = []
        for body in self.bodies:
            for of_resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                for scope in of_resource.scope_spans:
                    found += [_span(one) for one in scope.spans]
        return found

    def named(self, name: str) -> list[Span]:
        """The spans of a name."""
        return [span for span in self.spans if span.name == name]

    def __enter__(self) -> "Collector":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()


def _span(found: Any) -> Span:
    attributes = {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in found.attributes}
    return Span(
        found.name, found.span_id.hex(), found.parent_span_id.hex(), found.trace_id.hex(), attributes,
        found.status.message if found.status.code == 2 else "", len(found.events),
    )  # fmt: skip
