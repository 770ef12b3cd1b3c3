"""`em evaluate answers`: how many questions a model answers rightly from the context block alone."""

from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from em_pipelines.errors import UsageError
from em_pipelines.evaluation.answers import Exam, Report, Share, Usage, measure
from em_pipelines.evaluation.question_files import Question, read_questions
from em_pipelines.interfaces.cli.console import Defaults, out, print_json, print_table
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.clean import MESSAGES


@dataclass(frozen=True, slots=True)
class Asked:
    """Who is asked about where the file does not say, as of which day, and how many tokens a block may have."""

    user: str | None = None
    as_of: date | None = None
    budget: int | None = None


def evaluate_answers(home: Pipeline, paths: list[Path], asked: Asked, *, as_json: bool) -> None:
    """Asks the models of the settings over a home that was made, and prints shares, tokens and what could not be
    asked."""
    if not paths:
        raise UsageError("evaluating answers: no file is named; give questions with their answers, as JSON Lines")
    questions = [question for path in paths for question in read_questions(path, asked.user)]
    if Defaults.open_models is None:
        raise UsageError("evaluating answers: this process has no client for models; use `em`")
    _check_known(home, questions)
    llm = home.settings.llm
    exam = Exam(
        llm.model_of("small"), llm.model_of("large"), datetime.now(UTC).date(), asked.as_of, asked.budget
    )  # fmt: skip
    report = measure(home, questions, exam, Defaults.open_models(home.settings))
    if as_json:
        print_json(asdict(report))
        return
    _show(report)


def _check_known(home: Pipeline, questions: list[Question]) -> None:
    """A question about somebody who has said nothing would be answered from an empty block."""
    from em_pipelines.serving.facts import check_made

    lake = home.store.lake
    known: set[str] = set()
    for day in lake.days(MESSAGES):
        known.update(lake.read(MESSAGES, day)["user_id"].unique().to_pylist())
    for user in sorted({question.user_id for question in questions} - known):
        check_made(home.store, user, "evaluating answers")
        raise UsageError(f"evaluating answers: {home.path} knows nobody called {user!r:.80}; name a user of this home")


def _show(report: Report) -> None:
    heads = ("category", "questions", "right", "wrong", "no answer", "share right", "95 %")
    rows = [_row(name, share) for name, share in {**report.by_category, "all": report.all}.items()]
    print_table("Answers from the context block", heads, rows, right=heads[1:])
    models = [_used(name, usage) for name, usage in (("reader", report.reader), ("judge", report.judge))]
    columns = ("", "model", "prompt", "answers", "known before", "tokens in", "tokens out", "US $")
    print_table("Models", columns, models, right=columns[3:])
    out().print(f"{report.block_tokens:.0f} tokens a block")
    if report.errors:
        told = ", ".join(f"{name} {n}" for name, n in report.errors.items())
        out().print(f"no answer: {told}; the same command asks for those alone", markup=False)


def _row(name: str, share: Share) -> tuple[str, ...]:
    counts = (share.n_questions, share.n_right, share.n_wrong, share.n_unanswered)
    within = f"{share.least_share:.2f} to {share.most_share:.2f}"
    return (name, *map(str, counts), f"{share.right_share:.4f}", within)


def _used(name: str, usage: Usage) -> tuple[str, ...]:
    counts = (usage.n_answers, usage.n_known_before, usage.prompt_tokens, usage.completion_tokens)
    return (name, usage.model, usage.prompt_version, *map(str, counts), f"{usage.cost_usd:.4f}")
