"""The sinks of alerts: the log in any case, a webhook that takes Slack's format and a mail server where they are set.

The address of a webhook is a secret, and so are user and password of a mail server: they are read from EM_ALERTS_
variables, are no settings, and stand in no message. Of an error its class or its code is told alone, for what servers
and libraries say repeats both.
"""

import logging
import smtplib
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import formatdate, make_msgid

from em_pipelines.governance.alerts.settings import AlertSettings
from em_pipelines.governance.alerts.telling import Kind, Notice, Sink

WEBHOOK_VARIABLE = "EM_ALERTS_WEBHOOK_URL"
SMTP_USER_VARIABLE, SMTP_PASSWORD_VARIABLE = "EM_ALERTS_SMTP_USER", "EM_ALERTS_SMTP_PASSWORD"
TIMEOUT_SECONDS = 10
HERE = frozenset({"localhost", "127.0.0.1", "::1"})
_MARKS = {Kind.ENDED: ":white_check_mark:", Kind.TEST: ":wave:"}
_LOGGER = logging.getLogger(__name__)


def open_sinks(settings: AlertSettings, variables: Mapping[str, str]) -> list[Sink]:
    """The log, and what the settings and variables name beside it."""
    sinks: list[Sink] = [LogSink()]
    if address := variables.get(WEBHOOK_VARIABLE, "").strip():
        sinks.append(WebhookSink(address))
    if settings.smtp_server:
        user, password = (variables.get(name, "") for name in (SMTP_USER_VARIABLE, SMTP_PASSWORD_VARIABLE))
        sinks.append(MailSink(settings, user.strip(), password))
    return sinks


@dataclass(frozen=True)
class LogSink:
    """The log of the process."""

    name: str = "log"

    def take(self, notice: Notice) -> str | None:
        """Logs a notice: as an error or a warning, what is over as information."""
        level = logging.WARNING if notice.alert.severity == "warning" else logging.ERROR
        level = logging.INFO if notice.kind is Kind.ENDED else level
        _LOGGER.log(level, "alert %s: %s", notice.title, " ".join(notice.body.split()))
        return None


@dataclass(frozen=True)
class WebhookSink:
    """A webhook that takes Slack's format: a JSON object with `text`."""

    address: str = field(repr=False)
    name: str = "webhook"

    def take(self, notice: Notice) -> str | None:
        """Posts a notice."""
        worst = ":warning:" if notice.alert.severity == "warning" else ":rotating_light:"
        text = f"{_MARKS.get(notice.kind, worst)} *{notice.title}*\n{notice.body}"
        import requests  # noqa: PLC0415  (most have no webhook, and every `em run` comes by here)

        # At its lowest level this library logs the path of each request, which is the secret of the webhook.
        chatty = logging.getLogger("urllib3")
        chatty.setLevel(max(chatty.level, logging.INFO))
        try:
            answer = requests.post(self.address, json={"text": text}, timeout=TIMEOUT_SECONDS)
        except (requests.RequestException, ValueError, OSError) as error:
            return f"it could not be reached ({type(error).__name__})"
        return None if answer.ok else f"it answered HTTP {answer.status_code}"


@dataclass(frozen=True)
class MailSink:
    """A mail server. With user and password it is logged in to; they cross no network in clear text."""

    settings: AlertSettings
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    name: str = "mail"

    def take(self, notice: Notice) -> str | None:
        """Sends a notice to every address in one mail; it counts as taken where the server took it for any of them."""
        if not (self.settings.smtp_from.strip() and self.settings.recipients):
            return "alerts.smtp_from or alerts.smtp_to is not set"
        host, port = str(self.settings.smtp_server), self.settings.smtp_port
        try:
            with self._server(host, port) as server:
                if why := self._entered(server):
                    return why
                if refused := server.send_message(self._mail(notice), to_addrs=self.settings.recipients):
                    _LOGGER.warning("the mail server refused %d of the addresses", len(refused))
        except smtplib.SMTPResponseException as error:
            return f"it answered {error.smtp_code} ({type(error).__name__})"
        except (smtplib.SMTPException, ValueError, OSError) as error:
            return f"it could not be used ({type(error).__name__})"
        return None

    def _server(self, host: str, port: int) -> smtplib.SMTP:
        if self.settings.smtp_starttls == "implicit":
            return smtplib.SMTP_SSL(host, port, timeout=TIMEOUT_SECONDS, context=ssl.create_default_context())
        return smtplib.SMTP(host, port, timeout=TIMEOUT_SECONDS)

    def _entered(self, server: smtplib.SMTP) -> str | None:
        """Encrypts where that is offered, and logs in; returns why that will not do."""
        server.ehlo_or_helo_if_needed()
        is_encrypted = isinstance(server, smtplib.SMTP_SSL)
        is_safe = is_encrypted or self.settings.smtp_server in HERE
        if not is_encrypted and server.has_extn("starttls"):
            server.starttls(context=ssl.create_default_context())
            server.ehlo()
            is_safe = True
        elif self.settings.smtp_starttls == "required":
            return "it offers no STARTTLS, which alerts.smtp_starttls requires"
        if self.user:
            if not is_safe:
                return "it offers no STARTTLS, and a password crosses no network in clear text"
            server.login(self.user, self.password)
        return None

    def _mail(self, notice: Notice) -> EmailMessage:
        mail = EmailMessage()
        mail["Subject"] = f"em {notice.title}"
        mail["From"] = self.settings.smtp_from.strip()
        mail["To"] = ", ".join(self.settings.recipients)
        mail["Date"] = formatdate()
        mail["Message-ID"] = make_msgid(domain="em.invalid")  # else the name of this machine
        mail["Auto-Submitted"] = "auto-generated"  # RFC 3834: nobody on holiday answers it
        mail.set_content(f"{notice.body}\n")
        return mail
