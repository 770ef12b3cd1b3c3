"""The application: which address is which page, who may open it, and how whatever goes wrong is told."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from urllib.parse import parse_qsl, urlsplit

from anyio import to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from em_pipelines.errors import EmError, LockedError, TransientError, UnknownUserError, UsageError
from em_pipelines.interfaces.ui.access import COOKIE, Access, Session
from em_pipelines.interfaces.ui.asked import (
    Asked,
    Done,
    NobodyError,
    NotAllowedError,
    NotThereError,
    Page,
    TooLongError,
    Visitor,
)
from em_pipelines.interfaces.ui.desk import Desk
from em_pipelines.interfaces.ui.rendering import link, render
from em_pipelines.interfaces.ui.routes import PAGES, About, Shown

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; img-src 'self' data:; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""No script but ours, nothing from elsewhere, in nobody's frame, and nothing of anybody's memory in a cache."""
MAX_FORM_BYTES = 64 * 1024
MAX_FIELDS = 50
FORM = "application/x-www-form-urlencoded"
STATIC = {"em.css": "text/css", "em.js": "text/javascript"}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Frame:
    """What every page has around it."""

    visitor: Visitor | None
    csrf: str
    said: tuple[str, ...]
    user: str | None
    path: str
    is_there: bool = True
    """Whether anything is remembered of the user."""


class ControlUi:
    """The pages of one home."""

    def __init__(self, desk: Desk, access: Access) -> None:
        self._desk = desk
        self._access = access

    def app(self) -> Starlette:
        """What a server serves."""
        pages = [Route(path, partial(self._page, shown), methods=list(shown.methods)) for path, shown in PAGES.items()]
        return Starlette(
            routes=[
                *pages,
                Route("/enter", self._enter, methods=["POST"]),
                Route("/leave", self._leave, methods=["POST"]),
                Route("/static/{name}", self._static),
                Route("/{anything:path}", self._nothing),
            ],
        )

    async def _page(self, shown: Shown, request: Request) -> Response:
        session = self._access.session(request)
        try:
            self._access.check_name(request)
            visitor = self._access.visitor(session)
            if visitor is None:
                return self._rendered(request, session, None, Page("enter.html", {}), 401)
            form = await self._form(request, session)
            visitor.check(shown.needed(request.method), self._whose(shown, request, form, visitor))
            answer = await to_thread.run_sync(self._answer, shown, request, visitor, form)
        except EmError as error:
            return self._failed(request, session, error)
        except Exception as error:
            # Its text may be somebody's words: the kind alone is logged.
            _log.error("%s %s failed (%s)", request.method, request.url.path, type(error).__name__, exc_info=error)
            return self._rendered(
                request, session, self._access.visitor(session), _error("Something went wrong here."), 500
            )
        if isinstance(answer, Done):
            if answer.said:
                session.said.append(answer.said)
                self._access.keep(session)
            return self._with_cookie(RedirectResponse(link(answer.path, **answer.args), 303), session, request)
        return self._rendered(request, session, visitor, answer)

    def _answer(self, shown: Shown, request: Request, visitor: Visitor, form: Mapping[str, str]) -> Page | Done:
        to_write = request.method == "POST"
        handler = shown.act if to_write else shown.show
        assert handler is not None  # for the methods of a route are those that it has
        with self._desk.opened(to_write=to_write) as home:
            return handler(Asked(home, visitor, request.query_params, form))

    @staticmethod
    def _whose(shown: Shown, request: Request, form: Mapping[str, str], visitor: Visitor) -> str | None:
        """Whose memory is asked for; None where it is the whole home."""
        if shown.about is not About.PERSON:
            return visitor.user_id if shown.about is About.ANYONE else None
        return form.get("user") or request.query_params.get("user") or visitor.user_id

    async def _form(self, request: Request, session: Session) -> dict[str, str]:
        """The fields of a form that is ours; none of a page that is only looked at. Raises TooLongError as soon as more
        than MAX_FORM_BYTES have come, UsageError for what is no form, NotAllowedError."""
        if request.method != "POST":
            return {}
        body = await _bounded_body(request)
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
            raise UsageError("reading a form: it is not sent as a form of ours; open the page again and repeat it")
        try:
            text = body.decode("utf-8", "replace")
            fields = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS))
        except ValueError as error:
            raise UsageError("reading a form: it has too many fields; open the page again and repeat it") from error
        self._access.check_form(request, session, fields.pop("csrf", ""))
        return fields

    def _failed(self, request: Request, session: Session, error: EmError) -> Response:
        visitor = self._access.visitor(session)
        status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 400)
        page = _error(str(error), _came_from(request))
        if isinstance(error, (NobodyError, UnknownUserError)):
            page = replace(page, shown={**page.shown, "is_left": False})
        return self._rendered(request, session, visitor, page, status)

    def _rendered(
        self, request: Request, session: Session, visitor: Visitor | None, page: Page, status: int = 200
    ) -> Response:
        said, session.said = tuple(session.said), []
        user = page.shown.get("user") or request.query_params.get("user") or (visitor and visitor.user_id)
        is_there = bool(page.shown.get("is_left", True))
        frame = Frame(visitor, self._access.secret_of(session), said, user or None, request.url.path, is_there)
        text = render(page.template, {**page.shown, "frame": frame})
        return self._with_cookie(HTMLResponse(text, status, headers=HEADERS), session, request)

    @staticmethod
    def _with_cookie(response: Response, session: Session, request: Request) -> Response:
        is_secure = request.url.scheme == "https"
        response.set_cookie(COOKIE, session.key, httponly=True, samesite="strict", secure=is_secure)
        return response

    async def _enter(self, request: Request) -> Response:
        session = self._access.session(request)
        try:
            self._access.check_name(request)
            form = await self._form(request, session)
            session = self._access.enter(session, form.get("token", ""))
        except EmError as error:
            status = 413 if isinstance(error, TooLongError) else 401
            return self._rendered(request, session, None, Page("enter.html", {"problem": str(error)}), status)
        return self._with_cookie(RedirectResponse("/", 303), session, request)

    async def _leave(self, request: Request) -> Response:
        session = self._access.session(request)
        try:
            await self._form(request, session)
        except EmError as error:
            return self._failed(request, session, error)
        self._access.leave(session)
        return RedirectResponse("/", 303)

    async def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in STATIC:
            return Response(status_code=404)
        text = files("em_pipelines.interfaces.ui").joinpath("static", name).read_text(encoding="utf-8")
        return Response(text, media_type=STATIC[name], headers={"X-Content-Type-Options": "nosniff"})

    async def _nothing(self, request: Request) -> Response:
        session = self._access.session(request)
        visitor = self._access.visitor(session)
        return self._rendered(request, session, visitor, _error("There is no such page."), 404)


async def _bounded_body(request: Request) -> bytes:
    """The body of a request, however it is sent. Raises TooLongError as soon as it is known to be too long."""
    if int(request.headers.get("content-length") or 0) > MAX_FORM_BYTES:
        raise TooLongError("this form is too long")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_FORM_BYTES:
            raise TooLongError("this form is too long")
    return bytes(body)


def _error(sentence: str, back: str = "") -> Page:
    return Page("error.html", {"sentence": sentence[:1].upper() + sentence[1:], "back": back})


def _came_from(request: Request) -> str:
    """The page of ours on which a form was sent; empty where a page was opened, or where it is not known."""
    came = urlsplit(request.headers.get("referer", ""))
    is_ours = request.method == "POST" and came.netloc == request.url.netloc and came.path in PAGES
    return f"{came.path}?{came.query}" if is_ours else ""


_STATUS: dict[type[EmError], int] = {
    TooLongError: 413,
    NotAllowedError: 403,
    NotThereError: 404,
    UnknownUserError: 404,
    LockedError: 503,
    TransientError: 503,
}
"""Of an error of ours, the first that fits; 400 where none does."""
