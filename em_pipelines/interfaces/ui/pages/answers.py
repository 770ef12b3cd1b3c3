"""What models have answered about some days: how much is kept, and forgetting it, so that they are asked again."""

from em_pipelines.errors import UsageError
from em_pipelines.governance import forgotten_answers
from em_pipelines.interfaces.ui.asked import Asked, Done, Page
from em_pipelines.llm.forgetting import AskedWork, asked_of

FIELDS = ("first", "last", "model", "task", "whose")


def show_answers(asked: Asked) -> Page:
    """What is kept about the days that are named. Changes nothing."""
    models, tasks = asked_of(asked.home.answers)
    work = _work(asked) if asked.text("first") or asked.text("last") else None
    return Page(
        "answers.html",
        {
            "models": models,
            "tasks": tasks,
            "fields": {name: asked.text(name) for name in FIELDS},
            "kept": forgotten_answers.kept_answers(asked.home, work) if work else None,
        },
    )


def forget_answers(asked: Asked) -> Done:
    """Forgets it: the next run asks again."""
    return Done("/answers", {}, forgotten_answers.forget_answers(asked.home, _work(asked)).sentence)


def _work(asked: Asked) -> AskedWork:
    first, last = asked.day("first"), asked.day("last")
    if first is None or last is None:
        raise UsageError("forgetting answers: a day is missing; name the first and the last")
    model, task, whose = (asked.text(name) or None for name in ("model", "task", "whose"))
    return AskedWork(first, last, model, task, whose)
