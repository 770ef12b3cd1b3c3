"""`em gate`: whether to look into memory before answering, and how often that was so."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.cli.console import (
    HomeOption,
    JsonOption,
    end_if_unknown,
    open_existing,
    open_home,
    out,
    print_json,
    print_table,
)


def gate(
    text: Annotated[str | None, typer.Argument(help="What is about to be answered.", show_default=False)] = None,
    confidence: Annotated[
        float | None, typer.Option("--confidence", min=0, max=1, help="How sure the answer is.", show_default=False)
    ] = None,
    is_error_retry: Annotated[bool, typer.Option("--retry", help="The last try failed.")] = False,
    rules_say: Annotated[str | None, typer.Option("--rules-say", help="One answer.", show_default=False)] = None,
    model_says: Annotated[str | None, typer.Option("--model-says", help="Another answer.", show_default=False)] = None,
    user: Annotated[
        str | None,
        typer.Option("--user", help="Whose memory it is: is there anything to ask?", show_default=False),
    ] = None,
    is_rate: Annotated[bool, typer.Option("--rate", help="Show how often memory was asked, by day.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say whether memory should be asked before an answer, and why; the decision is counted.

    Yes where somebody asks for what was before ("last time …", "what was my sister's name again?", "what did I say
    about …"), on the retry of an error, below a confidence of 0.85, and where two answers differ. With --user also
    where a fact answers the question, and never where nothing is held.

    Example: em gate "What was my sister's name again?" --user mirela
    """
    from em_pipelines.retrieval.recall_gate import Situation, recall
    from em_pipelines.retrieval.recalls import count, recalls

    opened = open_home(home) if user is None else open_existing(home)
    if is_rate:
        _show_rate([(one.day, one.n_asked, one.n_recalled, one.rate) for one in recalls(opened)], as_json=as_json)
        return
    if text is None:
        raise UsageError("gating: give what is about to be answered, or --rate")
    today = datetime.now(UTC).date()
    found = None
    if user is not None:
        from em_pipelines.retrieval.held import held

        end_if_unknown(opened, user)
        found = held(opened, user, text, today)
    reason = recall(Situation(text, is_error_retry, confidence, rules_say, model_says), found)
    count(opened, reason, today)
    if as_json:
        print_json({"recall": reason.is_recall, "reason": reason.value})
    else:
        out().print(f"{'recall' if reason.is_recall else 'no recall'}: {reason.value.replace('_', ' ')}")


def _show_rate(rows: list[tuple[object, int, int, float]], *, as_json: bool) -> None:
    from em_pipelines.retrieval.recalls import WANTED_RATE

    if as_json:
        print_json([dict(zip(("day", "asked", "recalled", "rate"), row, strict=True)) for row in rows])
        return
    print_table(
        f"how often memory was asked (wanted: below {WANTED_RATE:.0%})",
        ("day", "asked", "recalled", "rate"),
        [(day, asked, recalled, f"{rate:.1%}") for day, asked, recalled, rate in rows],
        right=("asked", "recalled", "rate"),
    )
