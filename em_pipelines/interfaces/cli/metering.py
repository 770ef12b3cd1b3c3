"""`em metrics`: how memory does, in figures; for Prometheus, by HTTP as well."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated

import typer

from em_pipelines.environment import take
from em_pipelines.errors import UsageError
from em_pipelines.interfaces.cli.console import HomeOption, JsonOption, open_existing, print_json, write

TOKEN_VARIABLE = "EM_METRICS_TOKEN"


class Action(StrEnum):
    """What `em metrics` does beside printing."""

    SERVE = "serve"


def metrics(
    action: Annotated[Action | None, typer.Argument(help="serve: the same as --serve.", show_default=False)] = None,
    is_served: Annotated[bool, typer.Option("--serve", help="Serve them over HTTP, at /metrics.")] = False,
    host: Annotated[str, typer.Option("--host", help="Address to serve on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 is any free one.")] = 9464,
    is_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Allows a --host beyond loopback without a token.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print how memory does in figures, in the text format of Prometheus; with --serve, serve them to it.

    With a token in EM_METRICS_TOKEN whoever asks has to send it. It serves until it is interrupted.

    Example: em metrics --serve --port 9464
    """
    opened = open_existing(home)
    token = take(TOKEN_VARIABLE)
    if is_served or action is Action.SERVE:
        if as_json:
            raise UsageError("serving metrics: they are served as text alone; leave out --json")
        from em_pipelines.interfaces.metrics_server import Address, serve

        serve(opened, Address(host, port, token, is_remote))
        return
    from em_pipelines.serving.metrics.live import samples
    from em_pipelines.serving.metrics.samples import exposition, rows

    found = samples(opened, datetime.now(UTC))
    if as_json:
        print_json(rows(found))
    else:
        write(exposition(found))
