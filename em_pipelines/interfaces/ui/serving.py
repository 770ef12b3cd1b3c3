"""Serving the control UI until told to stop."""

from collections.abc import Callable

from em_pipelines.interfaces.agents.address import Address
from em_pipelines.interfaces.http_server import log_to_stderr, serve_app
from em_pipelines.interfaces.ui.access import Access
from em_pipelines.interfaces.ui.app import ControlUi
from em_pipelines.interfaces.ui.desk import Desk
from em_pipelines.pipeline import OpenEmbedder, OpenModels
from em_pipelines.settings import Settings

NAME = "em ui"


def serve(  # noqa: PLR0913  (what a server is made of)
    settings: Settings,
    open_models: OpenModels | None,
    open_embedder: OpenEmbedder | None,
    address: Address,
    *,
    needs_token: bool,
    on_start: Callable[[], None],
) -> None:
    """Serves over HTTP; says on stderr where. Beyond loopback, and with `needs_token`, a token is asked for.

    Raises UsageError for an address that cannot be had or may not be used, SaltError where tokens cannot be told apart.
    """
    log_to_stderr(NAME, settings.log.format)
    address.check()
    desk = Desk(settings, open_models, open_embedder)
    access = Access(desk.tokens, address, needs_token=needs_token)
    serve_app(ControlUi(desk, access).app(), address, name=NAME, on_start=on_start)
