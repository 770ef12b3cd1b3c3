"""Whose call it is, and how far it may go. Found anew for every call, so that a revoked token ends at once."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.mcpserver.exceptions import ToolError

from em_pipelines.errors import EmError
from em_pipelines.governance.access_tokens import TokenBook
from em_pipelines.governance.token_scope import TokenScope

DOMAIN = "domain"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Caller:
    """One user, the scope within which is spoken for them, and the one domain that may be told, where there is one."""

    user_id: str
    scope: TokenScope
    domain: str | None = None


Who = Callable[[], Caller]
"""The caller of the call that is at work; raises ToolError where nobody may call any more."""


def always(caller: Caller) -> Who:
    """The one caller that the command line names."""
    return lambda: caller


def by_token(book: TokenBook, token: str) -> Who:
    """The caller of one token, for as long as it stands."""

    def who() -> Caller:
        found = book.check(token, datetime.now(UTC))
        if found is None:
            raise ToolError("this token is not valid: it has expired or was revoked; ask for another one")
        return Caller(found.user_id, found.scope, found.domain)

    return who


def by_request() -> Caller:
    """The caller whose token came with the request."""
    found = get_access_token()
    if found is None or found.subject is None:
        raise ToolError("this call came without a token; send one as Authorization: Bearer TOKEN")
    return Caller(found.subject, TokenScope.named(found.scopes[0]), (found.claims or {}).get(DOMAIN))


class Verifier:
    """What the SDK asks about each bearer token."""

    def __init__(self, book: TokenBook) -> None:
        self._book = book

    async def verify_token(self, token: str) -> AccessToken | None:
        """The user and scope of a token; None, which is answered by 401, for any that does not stand."""
        try:
            found = self._book.check(token, datetime.now(UTC))
        except EmError as error:  # whoever cannot be told apart is nobody
            _log.error("tokens cannot be read (%s)", type(error).__name__)
            return None
        if found is None:
            return None
        expires_at = int(found.expires_at.timestamp())
        return AccessToken(
            token=found.token_id, client_id=found.token_id, scopes=[found.scope.label], expires_at=expires_at,
            subject=found.user_id, claims={DOMAIN: found.domain},
        )  # fmt: skip
