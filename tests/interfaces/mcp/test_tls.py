"""Over TLS: with a certificate tokens may cross a network."""

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from em_pipelines.interfaces.agents.address import Address
from tests.interfaces.mcp.conftest import serve, token_for


def certified(folder: Path) -> tuple[Path, Path]:
    """A certificate of loopback that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "memory")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    (folder / "cert.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    )
    return folder / "cert.pem", folder / "key.pem"


@pytest.mark.slow
def test_it_serves_over_tls_and_then_wants_a_token_all_the_same(tmp_path: Path) -> None:
    certificate, key = certified(tmp_path)
    home = tmp_path / "home"
    token = token_for(home, "nora")
    server = serve(home, "--tls-cert", str(certificate), "--tls-key", str(key))
    assert server.url.startswith("https://127.0.0.1:")
    trusted = ssl.create_default_context(cafile=str(certificate))
    headers = {"Accept": "application/json, text/event-stream"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    with httpx2.Client(verify=trusted, timeout=30) as client:
        assert client.post(server.url, json=body, headers=headers).status_code == 401
        answer = client.post(server.url, json=body, headers={**headers, "Authorization": f"Bearer {token}"})
    assert len(answer.json()["result"]["tools"]) == 16
    assert server.end() == (0, "")


def test_beyond_loopback_it_takes_a_certificate_or_somebody_who_ends_tls() -> None:
    Address("192.0.2.1", 8722, Path("cert.pem"), Path("key.pem")).check()
    Address("192.0.2.1", 8722, is_behind_tls=True).check()
    Address("::1", 8722).check()
    Address("localhost", 8722).check()
