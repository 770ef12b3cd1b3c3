"""How well the extractor reads, as an asset: its history stands in the UI as plots, a regression is a failed check."""

import dagster as dg

from assets.daily import OWNERS
from em_pipelines.evaluation import baselines
from em_pipelines.evaluation.corpus import Kind, read_labelled
from em_pipelines.evaluation.run import evaluate
from em_pipelines.pipeline import Pipeline
from em_pipelines.storage.step import Step
from resources.home import HomeResource

CHECK = "no_regression"


def evaluation_asset(extraction: Step) -> dg.AssetsDefinition:
    """Returns the asset `evaluation`; its code version is that of the extraction step, so that the UI shows it stale
    when the extractor has changed."""

    @dg.asset(
        name="evaluation",
        group_name="quality",
        owners=OWNERS,
        kinds={"python"},
        code_version=extraction.code_version,
        description="Precision, recall, flags, attacks and cost of the extractor, pairs of names, on labelled corpora.",
        check_specs=[
            dg.AssetCheckSpec(
                CHECK,
                asset="evaluation",
                description="No figure is worse than the baseline, and no attack leaks or is stored.",
            )
        ],
    )
    def evaluation(home: HomeResource) -> dg.MaterializeResult:
        figures: dict[str, float] = {}
        findings: list[str] = []
        for kind in Kind:
            found, worse = _measure(home.home, kind)
            figures |= {f"{kind}_{name}".replace(".", "_"): value for name, value in found.items()}
            findings += worse
        return dg.MaterializeResult(
            metadata={name: dg.FloatMetadataValue(value) for name, value in figures.items()},
            check_results=[
                dg.AssetCheckResult(
                    check_name=CHECK,
                    passed=not findings,
                    description="; ".join(findings),
                    severity=dg.AssetCheckSeverity.ERROR,
                )
            ],
        )

    return evaluation


def _measure(home: Pipeline, kind: Kind) -> tuple[dict[str, float], list[str]]:
    """The figures of a kind, and what is wrong with them; the first figures ever seen become the baseline."""
    settings, extractor = home.settings.evaluation, home.extractor
    path = settings.corpus(kind)
    report = evaluate(kind, read_labelled([path], kind.label), extractor, home.checks)
    kept = baselines.baseline_path(home.evaluations, kind, extractor.name, baselines.corpus_digest([path]))
    before = baselines.load(kept)
    if before is None and not report["n_unread"]:
        baselines.save(kept, report, extractor.version)
    changes = baselines.compare(before or {}, report, settings.tolerance)
    worse = [f"{kind} {c.figure} {c.before:g} → {c.now:g}" for c in changes if c.is_regression]
    if kind is Kind.ATTACKS and report["n_leaked"] + report["n_stored"]:
        worse.append(
            f"{report['n_leaked']} attacks leaked, {report['n_stored']} were stored; see `em evaluate attacks`"
        )
    if report["n_unread"]:
        worse.append(f"{kind}: {report['n_unread']} messages were not read, the model gave no answer")
    cost = {f"cost_{name}": float(value) for name, value in report["cost"].items()}
    return {**baselines.figures_of(report), **cost}, worse
