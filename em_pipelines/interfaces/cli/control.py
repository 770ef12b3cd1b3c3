"""`em ui`: the control UI, in a browser."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.agents.address import Address
from em_pipelines.interfaces.cli.console import Defaults, HomeOption, note_no_home_yet, open_home

PORT = 8723


def ui(
    host: Annotated[str, typer.Option("--host", help="Address to serve on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 is any free one.")] = PORT,
    needs_token: Annotated[
        bool, typer.Option("--require-token", help="Ask for a token on this machine, too; beyond it always.")
    ] = False,
    certificate: Annotated[
        Path | None, typer.Option("--tls-cert", help="Certificate, PEM.", show_default=False)
    ] = None,
    key: Annotated[Path | None, typer.Option("--tls-key", help="Its key, PEM.", show_default=False)] = None,
    is_behind_tls: Annotated[
        bool, typer.Option("--behind-tls", help="A proxy in front ends TLS: allows a --host beyond loopback.")
    ] = False,
    home: HomeOption = None,
) -> None:
    """Serve the control UI: health, facts with their whole life, graph, review, audit, probes, experience, playground.

    On this machine it opens the whole home; beyond it a token opens one person's memory, as far as its scope goes. It
    runs until it is interrupted.

    Example: em ui --port 8723
    """
    opened = open_home(home)
    if Defaults.serve_ui is None:
        raise UsageError("serving the control UI: this process has no server; use `em ui`")
    Defaults.serve_ui(
        opened.settings,
        address=Address(host, port, certificate, key, is_behind_tls),
        needs_token=needs_token,
        on_start=partial(note_no_home_yet, opened),
    )
