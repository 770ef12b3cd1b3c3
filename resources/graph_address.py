"""Where the graph database is and as whom to enter it: read from the environment, for a password is no setting.

Nothing here needs the driver, so that whoever has no database does not pay for importing it.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from urllib.parse import urlsplit

from pydantic import SecretStr

from em_pipelines.environment import environment
from em_pipelines.errors import SettingsError
from em_pipelines.serving.projection.graph_store import GraphStore

URI, USER, PASSWORD, DATABASE = "NEO4J_URI", "NEO4J_USER", "NEO4J_PASSWORD", "NEO4J_DATABASE"
DEFAULT = "neo4j"
"""User and database of a server that nobody has changed."""
SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


@dataclass(frozen=True, slots=True)
class GraphSettings:
    """Where the graph database is, and as whom to enter it; without a password nobody is named."""

    uri: str
    user: str | None
    password: SecretStr | None
    database: str


def is_graph_set(environment: Mapping[str, str]) -> bool:
    """Whether the environment names a graph database."""
    return bool(environment.get(URI, "").strip())


def open_graph() -> AbstractContextManager[GraphStore]:
    """Opens the graph database that the environment names; raises SettingsError where it names none, or not well."""
    settings = read_graph_settings(environment())
    from resources.neo4j import connected  # noqa: PLC0415

    return connected(settings)


def read_graph_settings(environment: Mapping[str, str]) -> GraphSettings:
    """Reads NEO4J_URI, NEO4J_USER, NEO4J_PASSWORD and NEO4J_DATABASE; raises SettingsError, which repeats no value."""
    uri, user, password, database = (environment.get(name, "").strip() for name in (URI, USER, PASSWORD, DATABASE))
    if not uri:
        raise SettingsError(
            f"opening the graph database: {URI} is not set; set it, such as to bolt://localhost:7687, with {USER} and "
            f"{PASSWORD}"
        )
    _check(uri)
    if user and not password:
        raise SettingsError(f"opening the graph database: {USER} is set and {PASSWORD} is not; set both or neither")
    secret = SecretStr(password) if password else None
    return GraphSettings(uri, (user or DEFAULT) if secret else None, secret, database or DEFAULT)


def _check(uri: str) -> None:
    wish = f"give it as SCHEME://HOST:PORT with one of {', '.join(SCHEMES)}"
    try:
        parts = urlsplit(uri)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise SettingsError(f"opening the graph database: {URI} is no address; {wish}") from error
    if parts.scheme not in SCHEMES or not host or parts.path not in ("", "/"):
        raise SettingsError(f"opening the graph database: {URI} is no Bolt address; {wish}")
    if parts.username or parts.password:
        raise SettingsError(f"opening the graph database: {URI} holds a user or password; use {USER} and {PASSWORD}")
