"""The sinks against a real webhook and real mail servers: what arrives, and what is said where nothing does."""

import logging
import shutil
import ssl
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from em_pipelines.governance.alerts.alert import Alert, Severity
from em_pipelines.governance.alerts.settings import AlertSettings
from em_pipelines.governance.alerts.telling import Kind, Notice, try_out
from resources.alert_sinks import (
    SMTP_PASSWORD_VARIABLE,
    SMTP_USER_VARIABLE,
    WEBHOOK_VARIABLE,
    LogSink,
    MailSink,
    WebhookSink,
    open_sinks,
)
from tests.alert_servers.servers import PASSWORD, SECRET, USER, mail_server, webhook

pytestmark = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")  # on loopback alone

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ALERT = Alert("disk_full", Severity.ERROR, "the disk is\nnearly full", "It is used to 97%.", "Make room.")
NOTICE = Notice(Kind.RAISED, ALERT, NOON)
WITH_LOGIN = {SMTP_USER_VARIABLE: USER, SMTP_PASSWORD_VARIABLE: PASSWORD}


def mail_settings(port: int, server: str = "127.0.0.1", **more: object) -> AlertSettings:
    return AlertSettings.model_validate(
        {"smtp_server": server, "smtp_port": port, "smtp_from": "em@here.test", "smtp_to": "a@x.test, b@x.test", **more}
    )


def test_the_log_is_there_always_and_the_others_where_they_are_set() -> None:
    assert [sink.name for sink in open_sinks(AlertSettings(), {WEBHOOK_VARIABLE: " "})] == ["log"]
    found = open_sinks(mail_settings(25), {WEBHOOK_VARIABLE: f"https://hooks.test/{SECRET}", **WITH_LOGIN})
    assert [sink.name for sink in found] == ["log", "webhook", "mail"]
    assert SECRET not in repr(found)
    assert PASSWORD not in repr(found)


def test_the_log_tells_how_bad_it_is(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        assert LogSink().take(NOTICE) is None
        assert LogSink().take(Notice(Kind.ENDED, ALERT, NOON)) is None
    assert [record.levelname for record in caplog.records] == ["ERROR", "INFO"]
    assert "[error] the disk is nearly full: It is used to 97%. Make room." in caplog.text


def test_a_webhook_gets_one_text_in_slacks_format() -> None:
    with webhook() as hook:
        assert WebhookSink(hook.address).take(NOTICE) is None
        assert WebhookSink(hook.address).take(Notice(Kind.ENDED, ALERT, NOON)) is None
    assert hook.posted[0].startswith(
        ":rotating_light: *[error] the disk is nearly full*\nIt is used to 97%.\nMake room."
    )
    assert hook.posted[1].startswith(
        ":white_check_mark: *[ended] the disk is nearly full*\nIt stood since 2026-03-01 12:00"
    )


@pytest.mark.parametrize("level", [logging.DEBUG, logging.WARNING])
def test_no_log_has_the_address_of_a_webhook(caplog: pytest.LogCaptureFixture, level: int) -> None:
    with caplog.at_level(level), webhook() as hook:
        WebhookSink(hook.address).take(NOTICE)
        hook.status = 500
        assert WebhookSink(hook.address).take(NOTICE) == "it answered HTTP 500"
        assert "ConnectionError" in str(WebhookSink(f"http://127.0.0.1:9/{SECRET}").take(NOTICE))
        for wrong in (f"{SECRET}", f"http://[{SECRET}", f"ftp://x/{SECRET}", f"http://\udcff/{SECRET}"):
            assert SECRET not in str(WebhookSink(wrong).take(NOTICE))
    assert SECRET not in caplog.text


def test_a_mail_arrives_at_every_address() -> None:
    with mail_server() as box:
        assert MailSink(mail_settings(box.port)).take(NOTICE) is None
    (mail,) = box.mails
    assert (mail["Subject"], mail["From"]) == ("em [error] the disk is nearly full", "em@here.test")
    assert mail["To"] == "a@x.test, b@x.test"
    assert "It is used to 97%.\nMake room." in mail.get_content().replace("\r\n", "\n")


def test_a_server_that_wants_a_login_gets_it_and_refuses_a_wrong_one(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), mail_server(wants_login=True) as box:
        settings = mail_settings(box.port)
        assert MailSink(settings, USER, PASSWORD).take(NOTICE) is None
        assert "535" in str(MailSink(settings, USER, "another").take(NOTICE))
        assert "530" in str(MailSink(settings).take(NOTICE))
    assert len(box.mails) == 1
    assert PASSWORD not in caplog.text


def test_one_address_that_is_refused_keeps_no_mail_from_the_others_and_all_of_them_do() -> None:
    with mail_server() as box:
        box.refused = {"a@x.test"}
        assert MailSink(mail_settings(box.port)).take(NOTICE) is None
        box.refused = {"a@x.test", "b@x.test"}
        assert MailSink(mail_settings(box.port)).take(NOTICE) == "it could not be used (SMTPRecipientsRefused)"
        box.refused, box.answer = set(), f"554 no, {PASSWORD}"
        assert MailSink(mail_settings(box.port)).take(NOTICE) == "it answered 554 (SMTPDataError)"
    assert len(box.mails) == 1


@pytest.fixture
def certified(tmp_path: Path) -> tuple[ssl.SSLContext, str]:
    """A context for a server, and the file of the certificate that clients have to trust."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make a certificate with")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context, str(certificate)


def test_starttls_is_missed_where_it_is_required() -> None:
    with mail_server() as box:
        why = MailSink(mail_settings(box.port, smtp_starttls="required")).take(NOTICE)
        assert why == "it offers no STARTTLS, which alerts.smtp_starttls requires"


@pytest.mark.parametrize("way", ["offered", "required", "implicit"])
def test_mail_is_encrypted_for_a_server_whose_certificate_is_trusted(
    way: str, certified: tuple[ssl.SSLContext, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    context, certificate = certified
    with mail_server(tls=context, is_implicit=way == "implicit") as box:
        settings = mail_settings(box.port, smtp_starttls=way)
        assert MailSink(settings).take(NOTICE) == "it could not be used (SSLCertVerificationError)"
        monkeypatch.setenv("SSL_CERT_FILE", certificate)
        assert MailSink(settings).take(NOTICE) is None
    assert box.was_encrypted == [True]


def test_a_password_crosses_no_network_in_clear_text() -> None:
    with mail_server(wants_login=True, host="127.0.0.2") as box:
        why = MailSink(mail_settings(box.port, "127.0.0.2"), USER, PASSWORD).take(NOTICE)
    assert why == "it offers no STARTTLS, and a password crosses no network in clear text"


def test_a_test_says_of_each_sink_whether_it_took_it() -> None:
    with webhook() as hook, mail_server() as box:
        hook.status = 403
        sinks = open_sinks(mail_settings(box.port), {WEBHOOK_VARIABLE: hook.address})
        assert try_out(sinks, NOON) == {"log": None, "webhook": "it answered HTTP 403", "mail": None}
    assert box.subjects == ["em [warning] a test of alerts"]


def test_a_server_without_addresses_gets_no_mail() -> None:
    for given in ({"smtp_from": "em@here.test"}, {"smtp_to": "a@x.test"}):
        settings = AlertSettings.model_validate({"smtp_server": "127.0.0.1", **given})
        assert MailSink(settings).take(NOTICE) == "alerts.smtp_from or alerts.smtp_to is not set"
