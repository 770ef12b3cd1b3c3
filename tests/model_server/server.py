"""A scripted server on loopback that speaks the OpenAI API: completions, responses, files, batches and models.

    with ModelServer(lambda call: answer({"entities": []})) as server:
        client = OpenAI(base_url=server.base_url, api_key="any")

A script is a function from a call to a step, or a list of steps (`tests.model_server.script`). Every call is kept in
`server.calls`, for counting. From a shell it answers from a file of JSON lines, {"when": text in the prompt, "answer":
JSON or text}, where the first that fits wins and one without "when" fits always:

    python tests/model_server/server.py --port 8080 --answers answers.jsonl --failing-share 0.1 --truncated-share 0.2
"""

import argparse
import json
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlsplit

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.model_server.batches import Batches, multipart
from tests.model_server.responses import citations, response
from tests.model_server.script import Answer, Call, Script, Step, answer, in_turn, with_faults

MAX_WAIT_SECONDS = 60.0
"""A hanging call ends after this long even if nobody closes the server."""


class ModelServer:
    """The server; entered, it listens on a random port of loopback, or on the one given.

    `api_key` refuses other keys (401), `models` unknown models (404), `refused_formats` a response_format of these
    types (400). Paths begin with `prefix`. What may be changed while it runs: `script`, `refused_formats`, and
    everything of `batches`.
    """

    def __init__(
        self,
        script: Script | Sequence[Step] | None = None,
        *,
        api_key: str | None = None,
        models: Sequence[str] = (),
        refused_formats: Sequence[str] = (),
        prefix: str = "/v1",
        port: int = 0,
        log: Path | None = None,
    ) -> None:
        self.script: Script = script if callable(script) else in_turn(script or [answer("{}")])
        self.api_key = api_key
        self.models = tuple(models)
        self.refused_formats = set(refused_formats)
        self.refused_parameters: set[str] = set()
        """Parameters of a call, or of its first tool, that are refused (400) by name."""
        self.is_streaming = False
        """Whether `stream` is honoured; many servers ignore it."""
        self.refuses_files = False
        """Whether uploads are refused with 401."""
        self.vectors: Callable[[list[str]], list[list[float]]] | None = None
        """What texts are embedded as; without it there is no such endpoint."""
        self.refused_texts: Callable[[list[str]], Step | None] = lambda _: None
        """With which step texts are not embedded; None where they are."""
        self.calls: list[Call] = []
        """Every request for a completion, in batches too, also those that were refused or got no answer."""
        self.requests: list[str] = []
        """Method and path of every request of any kind, in order."""
        self.raw: list[bytes] = []
        """The bodies of all requests, as they came."""
        self.n_pieces = 0
        """Pieces of streamed answers that were sent."""
        self.n_at_once = 0
        self.max_at_once = 0
        """How many completions were at work together, at most."""
        self.batches = Batches()
        self.closed = threading.Event()
        self._lock = threading.Lock()
        self._attempts: Counter[str] = Counter()
        self.prefix, self._port, self._log = prefix, port, log

    def __enter__(self) -> "ModelServer":
        self._http = _Http(("127.0.0.1", self._port), _Handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.closed.set()
        self._http.shutdown()
        self._http.hang_up()
        self._http.server_close()
        self._thread.join()

    @property
    def base_url(self) -> str:
        """What a client is given as base_url."""
        return f"http://127.0.0.1:{self._http.server_address[1]}{self.prefix}"

    @property
    def n_calls(self) -> int:
        return len(self.calls)

    @property
    def n_prompt_characters(self) -> int:
        """Characters of all prompts with their schemas."""
        return sum(call.n_prompt_characters for call in self.calls)

    @property
    def duplicates(self) -> dict[str, int]:
        """Prompts that came more than once, and how often."""
        counts = Counter(call.prompt for call in self.calls)
        return {prompt: n for prompt, n in counts.items() if n > 1}

    def has_seen(self, text: str) -> bool:
        """Whether a text stands in the body of any request: for secrets that must not leave."""
        return any(text.encode() in body or json.dumps(text)[1:-1].encode() in body for body in self.raw)

    def take(self, body: dict[str, Any], headers: dict[str, str], *, in_batch: bool = False) -> tuple[Call, Step]:
        """Notes a call and chooses its step: a refusal, or what the script says."""
        with self._lock:
            draft = Call(len(self.calls) + 1, 1, body, headers, in_batch)
            refusal = self._refusal(body, headers)
            if refusal is None:
                self._attempts[draft.prompt_key] += 1
            call = Call(draft.number, self._attempts[draft.prompt_key], body, headers, in_batch)
            self.calls.append(call)
            if self._log:
                with self._log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"number": call.number, "attempt": call.attempt, "body": body}) + "\n")
        return call, refusal or self.script(call)

    def _refusal(self, body: dict[str, Any], headers: dict[str, str]) -> Step | None:
        if self.api_key is not None and headers.get("authorization") != f"Bearer {self.api_key}":
            given = headers.get("authorization", "").removeprefix("Bearer ")
            return Step("status", status=401, message=f"Incorrect API key provided: {given}.", code="invalid_api_key")
        if self.models and body.get("model") not in self.models:
            return Step("status", status=404, message=f"The model `{body.get('model')}` does not exist.",
                        code="model_not_found")  # fmt: skip
        kind = dict(body.get("response_format") or {}).get("type")
        if kind in self.refused_formats:
            return Step("status", status=400, message=f"'response_format' of type '{kind}' is not supported.",
                        code="unsupported_parameter")  # fmt: skip
        sent = body.keys() | next(iter(body.get("tools") or [{}])).keys()
        if unknown := sorted(sent & self.refused_parameters):
            name = "text.format" if unknown[0] == "text" else unknown[0]
            return Step("status", status=400, message=f"Unsupported parameter: '{name}'.",
                        code="unsupported_parameter")  # fmt: skip
        return None


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # with the default of 5, eight connections at once wait a second for the kernel
    owner: ModelServer

    def __init__(self, *arguments: Any) -> None:
        self.open: set[socket.socket] = set()
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """Ends connections that clients keep open, so that their threads end."""
        for connection in list(self.open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error here; anything else is printed."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http

    def log_message(self, format: str, *arguments: Any) -> None:
        """Silent: calls are kept, not printed."""

    def do_GET(self) -> None:
        self._route("GET", b"")

    def do_DELETE(self) -> None:
        self._route("DELETE", b"")

    def do_POST(self) -> None:
        owner, data = self.server.owner, self.rfile.read(int(self.headers.get("content-length", 0)))
        if owner.vectors and self.path == f"{owner.prefix}/embeddings":
            self._embed(owner.vectors, data)
        else:
            self._route("POST", data)

    def _route(self, method: str, data: bytes) -> None:
        owner = self.server.owner
        url = urlsplit(self.path)
        owner.requests.append(f"{method} {url.path}")
        owner.raw.append(data)
        match [method, *url.path.removeprefix(owner.prefix).strip("/").split("/")]:
            case ["POST", "chat", "completions"] | ["POST", "responses"]:
                self._complete(json.loads(data))
            case ["GET", "models"]:
                self._send({"object": "list", "data": [{"id": name, "object": "model", "created": 0,
                                                        "owned_by": "tests"} for name in owner.models]})  # fmt: skip
            case ["POST", "files"] if owner.refuses_files:
                self._send_error(Step("status", status=401, message="not for you", code="invalid_api_key"))
            case ["POST", "files"]:
                self._send(owner.batches.add_file(*multipart(self.headers["content-type"], data)))
            case ["DELETE", "files", name] if name in owner.batches.files:
                del owner.batches.files[name]
                self._send({"id": name, "object": "file", "deleted": True})
            case ["GET", "files", name, "content"] if name in owner.batches.files:
                self._send_bytes(200, owner.batches.files[name], "application/octet-stream")
            case ["POST", "batches"]:
                made = owner.batches.create(json.loads(data))
                if owner.batches.is_lost_after_create:
                    self._drop()
                else:
                    self._send(made)
            case ["GET", "batches"]:
                query = {name: values[0] for name, values in parse_qs(url.query).items()}
                self._send(owner.batches.page(query.get("after"), int(query.get("limit", 20))))
            case ["GET", "batches", name] if name in owner.batches.by_id:
                self._send(owner.batches.poll(name, self._answer_line))
            case _:
                self._send_error(Step("status", status=404, message="not found"))

    def _embed(self, vectors: Callable[[list[str]], list[list[float]]], data: bytes) -> None:
        owner = self.server.owner
        owner.requests.append(f"POST {self.path}")
        owner.raw.append(data)
        if owner.api_key not in {None, (self.headers["authorization"] or "").removeprefix("Bearer ")}:
            self._send_error(Step("status", status=401, message="not for you", code="invalid_api_key"))
            return
        texts = json.loads(data)["input"]
        if refusal := owner.refused_texts(texts):
            self._send_error(refusal)
            return
        rows = vectors(texts)
        listed = [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        self._send({"object": "list", "data": listed[::-1], "model": "tests", "usage": usage})

    def _complete(self, body: dict[str, Any]) -> None:
        owner = self.server.owner
        with owner._lock:
            owner.n_at_once += 1
            owner.max_at_once = max(owner.max_at_once, owner.n_at_once)
        try:
            call, step = owner.take(body, {name.lower(): value for name, value in self.headers.items()})
            if step.delay_seconds:
                owner.closed.wait(step.delay_seconds)
            match step.kind:
                case "hang":
                    owner.closed.wait(MAX_WAIT_SECONDS)
                    self._drop()
                case "drop":
                    self._drop()
                case "garbage":
                    self._send_bytes(200, b"<html>not what you wanted", "application/json")
                case "status":
                    self._send_error(step)
                case _ if owner.is_streaming and body.get("stream"):
                    self._stream(call, step)
                case _:
                    self._send((response if "input" in body else completion)(call, step))
        finally:
            with owner._lock:
                owner.n_at_once -= 1

    def _stream(self, call: Call, step: Step) -> None:
        """Sends the answer as server-sent events, `step.pieces` of its text each, until the client goes."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.close_connection = True
        whole = completion(call, step)
        text, usage = step.text(call), whole.pop("usage", None)
        chunk = {**whole, "object": "chat.completion.chunk"}
        self._event(": the server is alive")
        places = range(0, max(1, len(text)), step.piece_characters)
        for content in [[part] for part in step.parts] or [text[at : at + step.piece_characters] for at in places]:
            piece = {"role": "assistant", "content": content}
            self._event({**chunk, "choices": [{"index": 0, "delta": piece, "finish_reason": None}]})
            self.server.owner.n_pieces += 1
            if step.piece_delay_seconds:
                self.server.owner.closed.wait(step.piece_delay_seconds)
        self._event({**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": step.finish_reason}]})
        if (call.body.get("stream_options") or {}).get("include_usage"):
            self._event({**chunk, "choices": [], "usage": usage})
        self._event("data: [DONE]")

    def _event(self, event: Any) -> None:
        line = event if isinstance(event, str) else f"data: {json.dumps(event)}"
        self.wfile.write(f"{line}\n\n".encode())
        self.wfile.flush()

    def _answer_line(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        call, step = self.server.owner.take(body, {"authorization": self.headers["authorization"]}, in_batch=True)
        return (200, completion(call, step)) if step.kind == "answer" else (max(step.status, 400), error_body(step))

    def _send(self, document: Any) -> None:
        self._send_bytes(200, json.dumps(document).encode(), "application/json")

    def _send_error(self, step: Step) -> None:
        self._send_bytes(step.status, json.dumps(error_body(step)).encode(), "application/json", step.headers)

    def _send_bytes(self, status: int, data: bytes, kind: str, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _drop(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


def completion(call: Call, step: Step) -> dict[str, Any]:
    """The body of an answer."""
    text = step.text(call)
    body: dict[str, Any] = {
        "id": f"chatcmpl-{call.number}",
        "object": "chat.completion",
        "created": 0,
        "model": call.body.get("model"),
        "choices": [
            {
                "index": 0,
                "finish_reason": step.finish_reason,
                "message": {
                    "role": "assistant",
                    "content": list(step.parts) or text,
                    "refusal": None,
                    "annotations": citations(step),
                },
            }
        ],
    }
    if step.has_usage:
        n_prompt, n_completion = -(-call.n_prompt_characters // 4), -(-len(text) // 4)
        body["usage"] = {
            "prompt_tokens": n_prompt,
            "completion_tokens": n_completion,
            "total_tokens": n_prompt + n_completion,
            "prompt_tokens_details": {"cached_tokens": step.cached_tokens},
        }
    return body


def error_body(step: Step) -> dict[str, Any]:
    """The body of an HTTP error."""
    return step.body or {"error": {"message": step.message, "type": "error", "param": None, "code": step.code}}


def answers_of(path: Path, otherwise: Answer = "{}") -> Script:
    """The script of a file of answers, one JSON object a line."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return lambda call: answer(next((r["answer"] for r in rows if r.get("when", "") in call.prompt), otherwise))


def main() -> None:
    """Serves until interrupted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--failing-share", type=float, default=0.0)
    parser.add_argument("--truncated-share", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", type=Path, help="a file that gets every call as a JSON line")
    given = parser.parse_args()
    script = with_faults(
        answers_of(given.answers),
        seed=given.seed, failing_share=given.failing_share, truncated_share=given.truncated_share,
    )  # fmt: skip
    with ModelServer(script, port=given.port, log=given.log) as server, suppress(KeyboardInterrupt):
        print(server.base_url, flush=True)
        while True:
            time.sleep(3600)


if __name__ == "__main__":
    main()
