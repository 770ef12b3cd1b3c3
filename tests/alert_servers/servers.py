"""A webhook and a mail server on loopback, as real ones are: what arrived, and what they answer."""

import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

SECRET = "hook-7f3b2c"
USER, PASSWORD = "post", "sesame-91d4"


@dataclass
class Hook:
    """A webhook: what was posted, what it answers, and its address."""

    posted: list[str] = field(default_factory=list)
    status: int = 200
    address: str = ""


@contextmanager
def webhook() -> Iterator[Hook]:
    """A webhook that takes Slack's format."""
    found = Hook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if found.status == 200:
                found.posted.append(body["text"])
            self.send_response(found.status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    found.address = f"http://127.0.0.1:{server.server_port}/{SECRET}"
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Mailbox:
    """A mail server: what arrived, which recipients it refuses, what it answers to a mail, and its port."""

    mails: list[EmailMessage] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    answer: str = "250 OK"
    port: int = 0
    was_encrypted: list[bool] = field(default_factory=list)

    @property
    def subjects(self) -> list[str]:
        return [str(mail["Subject"]) for mail in self.mails]

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if address in self.refused:
            return f"550 {address} is nobody here"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.answer.startswith("250"):
            mail = message_from_bytes(envelope.content, policy=policy.default)
            assert isinstance(mail, EmailMessage)
            self.mails.append(mail)
            self.was_encrypted.append(server.transport.get_extra_info("ssl_object") is not None)
        return self.answer


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def mail_server(
    *, wants_login: bool = False, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1", is_implicit: bool = False
) -> Iterator[Mailbox]:
    """A mail server; with `wants_login` for USER and PASSWORD alone, with `tls` it offers STARTTLS, or speaks TLS from
    the first byte on."""
    box = Mailbox(port=_free_port())

    def enter(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
        is_right = isinstance(data, LoginPassword) and data == LoginPassword(USER.encode(), PASSWORD.encode())
        return AuthResult(success=is_right, handled=False)

    login: dict[str, Any] = (
        {"auth_required": True, "auth_require_tls": False, "authenticator": enter} if wants_login else {}
    )
    secured: dict[str, Any] = {"ssl_context" if is_implicit else "tls_context": tls}
    controller = Controller(box, hostname=host, port=box.port, **secured, **login)
    controller.start()
    try:
        yield box
    finally:
        controller.stop()
