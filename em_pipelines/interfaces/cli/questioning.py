"""`em questionnaire`: asks what a memory may begin with."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.cli.console import (
    HomeOption,
    JsonOption,
    UserOption,
    open_home,
    print_json,
    say,
    tell,
    telling_of_a_new_home,
    write,
)
from em_pipelines.language.counting import IS, counted

if TYPE_CHECKING:
    from em_pipelines.governance.questionnaire import Questionnaire
    from em_pipelines.landing.formats.questionnaire import Question

SKIP = "-"


def questionnaire(
    user: UserOption,
    is_again: Annotated[bool, typer.Option("--again", help="Ask what was answered or skipped, too.")] = False,
    is_list: Annotated[
        bool, typer.Option("--list", help="Print the questions with their keys, and ask nothing.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", help="Write all answers to a YAML file, too.", show_default=False)
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask the questionnaire in the terminal. Each answer is kept as it is given, so it can be interrupted: the same
    command goes on where it stopped. An empty line leaves a question for another time, a hyphen for good.

    Example: em questionnaire --user mirela
    """
    from em_pipelines.governance.questionnaire import Questionnaire

    if not user.strip():
        raise UsageError("asking: the user is blank; give a name to --user")
    opened = open_home(home)
    own = Questionnaire(opened, user)
    asked = own.open_questions(is_again=is_again)
    if is_list:
        document = [{"id": question.id, "ask": question.ask, "several": question.several} for question in asked]
        print_json(document) if as_json else write("".join(f"{one['id']:16} {one['ask']}\n" for one in document))
        return
    with telling_of_a_new_home(opened, None if as_json else tell):
        n_facts = sum(_ask(own, question, f"{number}/{len(asked)}") for number, question in enumerate(asked, start=1))
    if output is not None:
        output.write_text(own.as_yaml(), encoding="utf-8")
    n_open = len(own.open_questions())
    if as_json:
        print_json({"n_facts": n_facts, "n_open": n_open})
        return
    tell(
        f"{counted(n_facts, 'fact', IS)} known now; {counted(n_open, 'question', IS)} open"
        + ("; `em run` folds them in" if n_facts else "")
    )


def _ask(own: "Questionnaire", question: "Question", place: str) -> int:
    """Asks until the answer can be kept; returns how many facts it states."""
    hint = " (several: with commas)" if question.several else ""
    while True:
        said = typer.prompt(f"{place} {question.ask}{hint}", default="", show_default=False, err=True).strip()
        if not said:
            return 0
        if said == SKIP:
            own.skip(question)
            return 0
        try:
            return own.answer(question, said)
        except UsageError as error:
            say(f"{error}")
