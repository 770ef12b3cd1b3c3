"""The check that nothing of an index pack is lost."""

import dagster as dg

from em_pipelines.language.counting import IS, counted
from em_pipelines.retrieval import packs
from resources.home import HomeResource


@dg.asset_check(
    asset="index_packs",
    blocking=False,
    description="The packs hold what the lake holds, and every file of them is there as it was written.",
)
def packs_whole(home: HomeResource) -> dg.AssetCheckResult:
    """What is lost of a pack no search can find. One that is not lost may be older than memory: its vectors, where an
    embedder did not answer; that is a warning, and the next run makes up for it."""
    n_packs, n_unfit = len(packs.folders(home.home)), len(packs.unfit(home.home))
    found = [f"{n_unfit} of {counted(n_packs, 'pack')} {IS[n_unfit != 1]} lost or damaged"] if n_unfit else []
    if not found and not packs.is_current(home.home):
        found = ["they lack something of what was said or is known"]
    return dg.AssetCheckResult(
        passed=not found,
        severity=dg.AssetCheckSeverity.ERROR if n_unfit else dg.AssetCheckSeverity.WARN,
        description="; ".join([*found, "materialize index_packs, or `em run`"]) if found else "",
        metadata={"packs": n_packs, "unfit": n_unfit},
    )
