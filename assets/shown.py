"""What Dagster's UI shows of every asset beside its own: where its group is explained, where the control UI is, and
until when what is made each night counts as fresh."""

from datetime import timedelta

import dagster as dg

PAGES = {
    "landing": "docs/landing.md",
    "extraction": "docs/extraction.md",
    "episodes": "docs/how-it-works.md",
    "resolution": "docs/resolution.md",
    "graph": "docs/how-it-works.md",
    "lifecycle": "docs/how-it-works.md",
    "consolidation": "docs/consolidation.md",
    "proactive": "docs/probes.md",
    "serving": "docs/snapshot.md",
    "quality": "docs/operations.md",
}
"""The page of the checkout on what is made in a group."""
NIGHTLY = frozenset({"current_edges", "snapshot", "index_packs", "quality_report", "health_report"})
WARN_WINDOW, FAIL_WINDOW = timedelta(hours=26), timedelta(hours=50)
"""A night may be late by two hours before somebody is warned; two nights that did not come are a failure."""


def shown(spec: dg.AssetSpec, ui_address: str) -> dg.AssetSpec:
    """The spec with its links, and where it is made each night with a policy of freshness."""
    metadata: dict[str, dg.MetadataValue] = {}
    if page := PAGES.get(spec.group_name or ""):
        metadata["explained_in"] = dg.PathMetadataValue(page)
    if ui_address:
        metadata["control_ui"] = dg.UrlMetadataValue(ui_address)
    found = spec.merge_attributes(metadata=metadata)
    if spec.key.to_user_string() not in NIGHTLY:
        return found
    policy = dg.FreshnessPolicy.time_window(fail_window=FAIL_WINDOW, warn_window=WARN_WINDOW)
    return found.replace_attributes(freshness_policy=policy)
