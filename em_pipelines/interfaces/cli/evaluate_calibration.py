"""`em evaluate calibration`: how far the confidence of claims and of labels of sentences can be believed."""

from pathlib import Path

from em_pipelines.errors import UsageError
from em_pipelines.evaluation.calibration import KEPT, NOT_KEPT, document, measure
from em_pipelines.governance.confidence_curve import Bin
from em_pipelines.interfaces.cli.console import out, print_json, print_table
from em_pipelines.language.counting import counted
from em_pipelines.pipeline import Pipeline


def evaluate_calibration(home: Pipeline, paths: list[Path], *, as_json: bool) -> None:
    """Prints the curve and its error over labelled sentences and over judged claims, whose messages are read anew."""
    if not paths:
        raise UsageError(
            "evaluating calibration: no file is named; give JSON Lines of judged claims or labelled sentences"
        )
    report = measure(paths, home.extractor)
    if as_json:
        print_json(document(report))
        return
    heads = ("confidence", "judged", "mean confidence", "right")
    print_table(
        f"Calibration, {counted(report.n_made, 'verdict')}", heads, [_row(one) for one in report.bins], right=heads[1:]
    )
    known = dict.fromkeys((KEPT, NOT_KEPT) if KEPT in report.verdicts else ("correct", "trivial", "wrong"), 0)
    verdicts = ", ".join(f"{name} {n}" for name, n in (known | report.verdicts).items())
    out().print(f"verdicts  {verdicts}; no longer made: {report.n_judged - report.n_made}")
    out().print(f"error     {report.error:.4f}")


def _row(one: Bin) -> tuple[str, ...]:
    return (f"{one.low:.1f} to {one.high:.1f}", str(one.n), f"{one.confidence:.3f}", f"{one.right_share:.3f}")
