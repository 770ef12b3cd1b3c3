"""Checks of our own on meaning, as functions from tables to findings: what no schema can say."""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

MAX_RELATES_TO_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether a check holds, the figure it rests on, and what to do if it does not."""

    is_success: bool
    figure: float
    advice: str


def provenance_present(edges: pa.Table) -> Finding:
    """Every edge says where it was said; the figure is the number that do not."""
    lengths = pc.fill_null(pc.list_value_length(edges["provenance"]), 0)
    n_without = edges.num_rows - (pc.sum(pc.greater(lengths, 0)).as_py() or 0)
    return Finding(
        n_without == 0,
        float(n_without),
        "facts without a source cannot be explained or erased: materialize edges again from the first day that fails",
    )


def extraction_coverage(
    messages: pa.Table, mentions: pa.Table, claims: pa.Table, extraction_issues: pa.Table
) -> Finding:
    """Every message has a mention, a claim or an issue; the figure is the covered share, 0 to 1."""
    read = pa.chunked_array(
        [chunk for rows in (mentions, claims, extraction_issues) for chunk in rows["message_id"].chunks],
        type=pa.string(),
    )
    n_covered = pc.sum(pc.is_in(messages["message_id"], value_set=pc.unique(read))).as_py() or 0
    share = n_covered / messages.num_rows if messages.num_rows else 1.0
    return Finding(
        n_covered == messages.num_rows,
        share,
        "messages were lost between cleaning and extraction: materialize claims again for the days that fail",
    )


def messages_complete(interactions: pa.Table, messages: pa.Table) -> Finding:
    """As many messages as interactions; the figure is the difference."""
    missing = interactions.num_rows - messages.num_rows
    return Finding(
        missing == 0, float(missing), "messages are missing: materialize messages again for the days that fail"
    )


def relates_to_share(claims: pa.Table) -> Finding:
    """The last-resort relation is rare; the figure is its share of the claims, 0 to 1."""
    n_last_resort = pc.sum(pc.equal(claims["relation"], "relates_to")).as_py() or 0
    share = n_last_resort / claims.num_rows if claims.num_rows else 0.0
    return Finding(
        share <= MAX_RELATES_TO_SHARE,
        share,
        "the extractor does not understand what it reads: look at these claims and add patterns for them",
    )
