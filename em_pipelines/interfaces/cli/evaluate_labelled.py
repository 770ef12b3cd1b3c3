"""`em evaluate extraction`, `resolution` and `attacks`: figures over labelled corpora, against those last kept."""

from functools import partial
from pathlib import Path
from typing import Any

from em_pipelines.evaluation import baselines
from em_pipelines.evaluation.corpus import Kind, read_labelled
from em_pipelines.evaluation.run import evaluate as run_evaluation
from em_pipelines.evaluation.run import evaluate_attacks
from em_pipelines.evaluation.scoring import Report
from em_pipelines.interfaces.cli.console import Exit, fail, out, print_json, print_table
from em_pipelines.pipeline import Pipeline, opener
from em_pipelines.resolution.labelled_names import clusters
from em_pipelines.resolution.user_registry import load_aliases


def evaluate_labelled(home: Pipeline, kind_name: str, paths: list[Path], *, is_saved: bool, as_json: bool) -> None:
    """Prints the figures of a kind (extraction, resolution, attacks) over corpora, those of the settings where none is
    named; with `is_saved` they are kept as the baseline. Ends with a finding where they are worse than the last."""
    kind = Kind(kind_name)
    chosen = paths or [home.settings.evaluation.corpus(kind)]
    report = _measure(home, kind, chosen)
    changes = _compare(home, kind, chosen, report, is_saved=is_saved)
    if as_json:
        print_json(report)
    else:
        _show(kind, report, is_saved=is_saved)
    _judge(kind, report, changes, is_saved=is_saved)


def _measure(home: Pipeline, kind: Kind, paths: list[Path]) -> Report:
    rows = read_labelled(paths, kind.label)
    if kind is Kind.ATTACKS:
        by_rules = home.settings.model_copy(update={"extractor": "rules"})  # what is quoted hangs on no model's reading
        return evaluate_attacks(rows, home.extractor, home.checks, opener(by_rules))
    aliases = load_aliases(home.settings.resolution.alias_file, home.path)
    by_names = partial(clusters, aliases=aliases, settings=home.settings.resolution)
    return run_evaluation(kind, rows, home.extractor, home.checks, by_names)


def _compare(
    home: Pipeline, kind: Kind, paths: list[Path], report: Report, *, is_saved: bool
) -> list[baselines.Change]:
    """Adds `baseline` and `changes` to the report and returns the changes; with `is_saved` it is the next baseline."""
    name = "names" if kind is Kind.RESOLUTION else home.extractor.name
    kept = baselines.baseline_path(home.evaluations, kind.value, name, baselines.corpus_digest(paths))
    before = baselines.load(kept)
    changes = baselines.compare(before, report, home.settings.evaluation.tolerance) if before is not None else []
    if is_saved:
        baselines.save(kept, report, home.extractor.version)
    report["baseline"] = before
    report["changes"] = [
        {"figure": c.figure, "before": c.before, "now": c.now, "is_regression": c.is_regression} for c in changes
    ]
    return changes


def _judge(kind: Kind, report: Report, changes: list[baselines.Change], *, is_saved: bool) -> None:
    if report["n_unread"]:
        fail(
            f"evaluating {kind}: {report['n_unread']} messages were not read, the model gave no answer; "
            "run it again when it does",
            Exit.RETRY,
        )
    if kind is Kind.ATTACKS and (report["n_leaked"] or report["n_quoted"] or report["n_stored"]):
        fail(
            f"evaluating attacks: {report['n_leaked']} secrets or planted texts leaked by reading and "
            f"{report['n_quoted']} by quoting, {report['n_stored']} planted facts were stored; their ids stand in the "
            "report (--json)",
            Exit.FINDING,
        )
    worse = [f"{c.figure} {c.before:g} → {c.now:g}" for c in changes if c.is_regression]
    if worse and not is_saved:
        fail(
            f"evaluating {kind}: worse than the baseline: {'; '.join(worse)}; --save keeps the new figures",
            Exit.FINDING,
        )


def _show(kind: Kind, report: Report, *, is_saved: bool) -> None:
    before = report["baseline"] or {}
    rows = [(name, f"{value:g}", _shown(before.get(name))) for name, value in baselines.figures_of(report).items()]
    size = f"{report['n_mentions']} mentions" if kind is Kind.RESOLUTION else f"{report['n_messages']} messages"
    print_table(f"{kind.value.capitalize()}, {size}", ("figure", "now", "baseline"), rows)
    {Kind.EXTRACTION: _show_categories, Kind.RESOLUTION: _show_misjudged, Kind.ATTACKS: _show_attacks}[kind](report)
    _show_rest(report["cost"], is_new=report["baseline"] is None, is_saved=is_saved)


def _show_categories(report: Report) -> None:
    rows = [
        (name, n["n_labelled"], f"{n['precision']:.3f}", f"{n['recall']:.3f}", f"{n['f1']:.3f}")
        for name, n in report["by_category"].items()
    ]
    columns = ("category", "facts", "precision", "recall", "F1")
    print_table("Relations by category", columns, rows, right=columns[1:])
    flags = [(name, _shown(value)) for name, value in report["flags"].items()]
    print_table("Flags", ("flag", "accuracy"), flags, right=("accuracy",))


def _show_misjudged(report: Report) -> None:
    users = [(name, n["n_wrong"], n["n_missed"]) for name, n in report["misjudged"].items()]
    heads = ("user", "pairs wrongly joined", "pairs missed")
    if users:
        print_table("Users of whom a pair was misjudged", heads, users, right=heads[1:])


def _show_attacks(report: Report) -> None:
    rows = [
        (name, n["n_messages"], n["n_leaked"], n["n_quoted"], n["n_stored"], _shown(n["may_store_recall"]))
        for name, n in report["by_kind"].items()
    ]
    columns = ("kind", "messages", "leaked", "quoted", "stored", "honest facts kept")
    print_table("Attacks by kind", columns, rows, right=columns[1:])


def _show_rest(cost: dict[str, Any], *, is_new: bool, is_saved: bool) -> None:
    tokens = cost["prompt_tokens"] + cost["completion_tokens"]
    out().print(f"cost      {cost['n_calls']} calls, {tokens} tokens, {cost['cost_usd']:.4f} USD")
    if is_saved:
        out().print("baseline  these figures were kept")
    elif is_new:
        out().print("baseline  none for this corpus; --save keeps these figures")


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
