"""What an agent is given: `em context` before an answer, `em prompt` once, `em bootstrap` at the start of a session."""

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from em_pipelines.errors import EmError
from em_pipelines.interfaces.cli.console import (
    HomeOption,
    JsonOption,
    UserOption,
    end_if_unknown,
    open_existing,
    print_json,
    say,
    write,
)
from em_pipelines.interfaces.cli.facts import AsOfOption, DomainOption, note_ahead, parse_day
from em_pipelines.retrieval.context.bounds import BUDGET_TOKENS, LEAST_TOKENS


def context(
    query: Annotated[str, typer.Argument(help="What is about to be answered.", show_default=False)],
    user: UserOption,
    is_group: Annotated[bool, typer.Option("--group", help="Others listen: nothing personal.")] = False,
    thread: Annotated[
        Path | None,
        typer.Option("--thread", help="The turns before it: JSON Lines or text, a turn a line.", show_default=False),
    ] = None,
    as_of: AsOfOption = None,
    budget: Annotated[
        int | None,
        typer.Option("--budget", min=LEAST_TOKENS, max=BUDGET_TOKENS, help="Tokens at most.", show_default=False),
    ] = None,
    domain: DomainOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print what memory knows that bears on a question, as XML for an agent's prompt.

    At most 800 tokens: facts, what recurs, what to ask, reminders, quotes of what was said. Of an unknown person it is
    empty.

    Example: em context "Where does Dana live?" --user mirela
    """
    from em_pipelines.retrieval.context.block import ContextQuery, context_block
    from em_pipelines.retrieval.context.thread import read_thread

    asked = ContextQuery(
        user_id=user,
        text=query,
        today=datetime.now(UTC).date(),
        is_group=is_group,
        thread=read_thread(thread) if thread else (),
        as_of=parse_day(as_of, "--as-of"),
        budget_tokens=budget,
        domain=domain,
    )
    opened = open_existing(home)
    note_ahead(opened, asked.as_of)
    block = context_block(opened, asked)
    if as_json:
        turns = [{"session_id": session, "turn_number": turn} for session, turn in block.turns]
        print_json({"text": block.text, "n_tokens": block.n_tokens, "edge_ids": block.edge_ids, "turns": turns,
                    "experience_ids": block.experience_ids, "probe_ids": block.probe_ids})  # fmt: skip
    else:
        write(block.text)
    if not (block.edge_ids or block.turns or block.experience_ids or block.probe_ids):
        end_if_unknown(opened, user)


def prompt() -> None:
    """Print the instructions that an agent needs to use the context block well; the same for everybody.

    Example: em prompt
    """
    from em_pipelines.retrieval.context.instructions import INSTRUCTIONS

    write(INSTRUCTIONS)


def bootstrap(
    user: UserOption,
    as_of: AsOfOption = None,
    is_group: Annotated[bool, typer.Option("--group", help="Others listen: nothing personal.")] = False,
    domain: DomainOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print what a session should start with: who it is, what is due and planned, which rules apply, what is new.

    Fewer than 50 lines, no model. Where memory cannot be read it says so on stderr and prints nothing, for a session
    does not wait for it.

    Example: em bootstrap --user mirela --as-of 2026-10-12
    """
    from em_pipelines.retrieval.context.bootstrap import bootstrap as start

    day = parse_day(as_of, "--as-of") or datetime.now(UTC).date()
    opened = None
    try:
        opened = open_existing(home)
        note_ahead(opened, day)
        text = start(opened, user, day, domain, is_group=is_group)
    except EmError as error:
        text = ""
        say(f"{error}; the session starts without memory")
    if as_json:
        print_json({"text": text, "n_lines": text.count("\n")})
    else:
        write(text)
    if opened is not None and not text:
        with suppress(EmError):  # it was said that memory cannot be read
            end_if_unknown(opened, user)
