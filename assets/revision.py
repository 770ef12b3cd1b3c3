"""The nightly revision as an asset: what was asked, what came of it, what had to wait. Unpartitioned: its outcomes are
feedback in the log, and the days that take them are materialized like any other."""

from datetime import UTC, date, datetime

import dagster as dg
from pydantic import Field

from assets.daily import OWNERS
from em_pipelines.errors import EmError
from em_pipelines.lifecycle.revision.night import run_night
from em_pipelines.lifecycle.revision.revisable_home import OpenVerifier
from resources.home import HomeResource


class RevisionConfig(dg.Config):
    """Which night it is."""

    night: str | None = Field(
        default=None, description="the day whose night it is, YYYY-MM-DD; unless given, the day that has ended last"
    )


def revision_asset(open_verifier: OpenVerifier) -> dg.AssetsDefinition:
    """Returns the asset `revision`. Its events hold figures and never a fact."""

    @dg.asset(
        name="revision",
        group_name="lifecycle",
        deps=["current_edges", "entities"],
        owners=OWNERS,
        kinds={"python"},
        description="Stale public facts are looked up by a verifier within a budget; outcomes are feedback of the next "
        "day. Without a verifier nobody is asked.",
    )
    def revision(context: dg.AssetExecutionContext, config: RevisionConfig, home: HomeResource) -> dg.MaterializeResult:
        try:
            as_of = date.fromisoformat(config.night) if config.night else None
            report = run_night(home.home, open_verifier, datetime.now(UTC), as_of)
        except EmError as error:
            raise dg.Failure(str(error)) from None
        for sentence in report.put_off.values():
            context.log.warning(f"{report.n_deferred} facts are deferred: {sentence}")
        return dg.MaterializeResult(
            metadata={
                **{name: _figure(value) for name, value in report.figures().items()},
                "as_of": dg.TextMetadataValue(str(report.as_of)),
                "verifier": dg.TextMetadataValue(report.verifier),
                "unknown_because": dg.JsonMetadataValue(dict(sorted(report.reasons.items()))),
                "deferred_because": dg.JsonMetadataValue(sorted(report.put_off)),
                **({"note": dg.TextMetadataValue(report.note)} if report.note else {}),
            }
        )

    return revision


def _figure(value: float) -> dg.MetadataValue:
    return dg.IntMetadataValue(value) if isinstance(value, int) else dg.FloatMetadataValue(value)
