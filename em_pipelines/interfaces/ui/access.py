"""Who may look at the control UI, and whether a request was meant.

On loopback whoever uses the machine runs the home; anywhere else a token is asked for, which opens one user's memory as
far as its scope goes. A browser that is told by another page to ask us is refused: by the name it asks for (a name that
was turned to this address), by where the form came from, and by a secret that only our own forms have.
"""

import hmac
import re
import secrets
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256

from starlette.requests import Request

from em_pipelines.governance.access_tokens import TokenBook
from em_pipelines.governance.token_scope import TokenScope
from em_pipelines.interfaces.agents.address import LOOPBACK_NAMES, Address
from em_pipelines.interfaces.ui.asked import NotAllowedError, Visitor

COOKIE = "em_ui"
MAX_SESSIONS = 1000
"""Of all users together; only browsers that were admitted count."""
_KEY = re.compile(r"[\w-]{43}", re.ASCII)
"""A key as `_new_key` makes them."""
OPERATOR = Visitor(None, TokenScope.ADMIN)


@dataclass(slots=True)
class Session:
    """One browser: the token it came with, if any, and of which user, and what is to be said on the next page."""

    key: str
    token: str | None = None
    user_id: str | None = None
    said: list[str] = field(default_factory=list)


class Access:
    """Sessions of one process; nothing of them is written down, so a restart asks for tokens again.

    Kept are the sessions of browsers that were admitted and have something to be kept: a token, or a sentence for the
    next page. Whoever brings no token costs nothing and can push nobody out.
    """

    def __init__(self, tokens: TokenBook, address: Address, *, needs_token: bool) -> None:
        self._tokens = tokens
        self._address = address
        self.needs_token = needs_token or not address.is_loopback
        self._secret = secrets.token_bytes(32)
        self._sessions: OrderedDict[str, Session] = OrderedDict()

    def session(self, request: Request) -> Session:
        """The browser's session; one that is not kept where it brings none that we know."""
        key = request.cookies.get(COOKIE, "")
        found = self._sessions.get(key)
        if found is None:
            return Session(key if _KEY.fullmatch(key) else _new_key())
        self._sessions.move_to_end(key)
        return found

    def keep(self, session: Session) -> None:
        """Keeps the session of an admitted browser. Where there are too many the longest idle one of the same user
        goes, or, for a user who has none, one of whoever has most."""
        if session.key not in self._sessions and len(self._sessions) >= MAX_SESSIONS:
            counts = Counter(one.user_id for one in self._sessions.values())
            crowded = session.user_id if session.user_id in counts else counts.most_common(1)[0][0]
            self.leave(next(one for one in self._sessions.values() if one.user_id == crowded))
        self._sessions[session.key] = session
        self._sessions.move_to_end(session.key)

    def visitor(self, session: Session) -> Visitor | None:
        """Who that is; None for whom a token is still to tell. Looked up anew each time: a revoked one ends at once."""
        if not self.needs_token:
            return OPERATOR
        if session.token is None:
            return None
        found = self._tokens.check(session.token, datetime.now(UTC))
        return None if found is None or found.domain is not None else Visitor(found.user_id, found.scope)

    def enter(self, session: Session, token: str) -> Session:
        """A new session with a token, in the place of one without. Raises NotAllowedError for one that opens nothing
        here."""
        found = self._tokens.check(token.strip(), datetime.now(UTC))
        if found is None:
            raise NotAllowedError("this token is not valid; make one with `em token create --user NAME --scope admin`")
        if found.domain is not None:
            raise NotAllowedError("this token is of one domain, and pages tell of all of them; ask for one without")
        self.leave(session)
        fresh = Session(_new_key(), token.strip(), found.user_id)
        self.keep(fresh)
        return fresh

    def leave(self, session: Session) -> None:
        """Ends a session."""
        self._sessions.pop(session.key, None)

    def secret_of(self, session: Session) -> str:
        """What the forms of a session carry."""
        return hmac.new(self._secret, session.key.encode(), sha256).hexdigest()

    def check_name(self, request: Request) -> None:
        """Raises NotAllowedError where the browser asks for a name that is not ours, on loopback. Elsewhere a token is
        asked for, which no other name brings along."""
        if not self._address.is_loopback:
            return
        name = (request.url.hostname or "").strip("[]")
        if name not in (*LOOPBACK_NAMES, "127.0.0.1", "::1", self._address.host):
            raise NotAllowedError("this address is asked for by a name that is not its own; use http://127.0.0.1")

    def check_form(self, request: Request, session: Session, secret: str) -> None:
        """Raises NotAllowedError for a form that no page of ours made for this browser."""
        site = request.headers.get("sec-fetch-site", "same-origin")
        is_ours = hmac.compare_digest(secret.encode(), self.secret_of(session).encode())
        if site not in ("same-origin", "none") or not is_ours:
            raise NotAllowedError("this form is out of date, or was not made here; open the page again and repeat it")


def _new_key() -> str:
    return secrets.token_urlsafe(32)
