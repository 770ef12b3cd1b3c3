"""Where agents are served over HTTP, and where they may be: a token must not cross a network in clear text."""

from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from em_pipelines.errors import UsageError

LOOPBACK_NAMES = ("localhost",)


@dataclass(frozen=True, slots=True)
class Address:
    """Where HTTP is served; port 0 is any free one. Beyond loopback a token must not travel in clear text: there has to
    be a certificate with its key, or somebody in front who ends TLS (`is_behind_tls`)."""

    host: str = "127.0.0.1"
    port: int = 8722
    certificate: Path | None = None
    key: Path | None = None
    is_behind_tls: bool = False

    def check(self) -> None:
        """Raises UsageError for an address that would give tokens away, or half of what TLS needs."""
        if (self.certificate is None) != (self.key is None):
            raise UsageError("serving with TLS: give both --tls-cert and --tls-key")
        if not (self.is_loopback or self.certificate or self.is_behind_tls):
            raise UsageError(
                f"serving on {self.host}: tokens would cross the network in clear text; give --tls-cert and --tls-key, "
                "or --behind-tls where a proxy ends TLS, or serve on 127.0.0.1"
            )

    @property
    def is_loopback(self) -> bool:
        """Whether nobody but this machine can reach it."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host in LOOPBACK_NAMES
