"""`em evaluate calibration`: how far the confidence of claims can be believed."""

from pathlib import Path

from em_pipelines.errors import UsageError
from em_pipelines.evaluation.calibration import document, measure
from em_pipelines.governance.confidence_curve import Bin
from em_pipelines.interfaces.cli.console import out, print_json, print_table
from em_pipelines.language.counting import counted
from em_pipelines.pipeline import Pipeline


def evaluate_calibration(home: Pipeline, paths: list[Path], *, as_json: bool) -> None:
    """Prints the curve and its error over judged claims, whose messages the home's extractor reads anew."""
    if not paths:
        raise UsageError("evaluating calibration: no file is named; give JSON Lines of judged claims")
    report = measure(paths, home.extractor)
    if as_json:
        print_json(document(report))
        return
    heads = ("confidence", "claims", "mean confidence", "right")
    print_table(
        f"Calibration, {counted(report.n_made, 'claim')}", heads, [_row(one) for one in report.bins], right=heads[1:]
    )
    verdicts = ", ".join(f"{name} {report.verdicts.get(name, 0)}" for name in ("correct", "trivial", "wrong"))
    out().print(f"verdicts  {verdicts}; no longer made: {report.n_judged - report.n_made}")
    out().print(f"error     {report.error:.4f}")


def _row(one: Bin) -> tuple[str, ...]:
    return (f"{one.low:.1f} to {one.high:.1f}", str(one.n), f"{one.confidence:.3f}", f"{one.right_share:.3f}")
