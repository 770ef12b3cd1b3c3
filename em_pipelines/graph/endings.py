"""Facts that are over because of what was said of something else: a death, a divorce, a job that was given up.

Which facts those are is the table of `em_pipelines.schema.endings`. Here they become acts upon known facts, which the
fold carries out like corrections: what stands gets its end date and is history; nothing takes its place. A favourite
ends the likings of its kind before it: `graph.topics.former_favourites` finds them.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from em_pipelines.extraction.feedback_claims import Origin
from em_pipelines.extraction.feedback_statements import Targeted
from em_pipelines.schema.endings import ENDED_BY, ENDED_TOGETHER, FAVOURITE, status_of
from em_pipelines.schema.rows import ClaimRow
from em_pipelines.schema.vocabulary import USER, Act

DOUBTS = frozenset({"secondhand", "attribution_uncertain", "sarcasm_detected", "hypothetical"})


def ended_by(row: ClaimRow) -> Iterator[Targeted]:
    """The acts that a row of `claims` comes to; nothing ends by what was hedged or only heard."""
    return _ended(row) if _is_clear(row) else iter(())


def _is_clear(row: ClaimRow) -> bool:
    return row["hedge_level"] in ("none", "slight") and DOUBTS.isdisjoint(row["flags"])


def _ended(row: ClaimRow) -> Iterator[Targeted]:
    if row["act"] == Act.END.value:
        yield _act(row, row["subject"], row["relation"])
    elif row["polarity"] < 0 and row["relation"] in ENDED_TOGETHER:
        yield _act(row, row["subject"], ENDED_TOGETHER[row["relation"]], row["object"])
    elif row["relation"] == "has_attribute" and row["polarity"] > 0 and row["act"] == Act.ASSERT.value:
        yield from _ended_by_attribute(row)


def _ended_by_attribute(row: ClaimRow) -> Iterator[Targeted]:
    if FAVOURITE.match(row["attribute"] or ""):
        yield replace(_act(row, row["subject"], "likes", row["value"]), attribute=row["attribute"])
    status = status_of(row["attribute"], row["value"])
    for relation in ENDED_BY[status] if status else ():
        yield _act(row, row["subject"], relation)
    if status == "deceased":
        yield _act(row, USER, "has_pet", row["subject"])


def _act(row: ClaimRow, subject: str, relation: str, object_: str | None = None) -> Targeted:
    return Targeted(Act.END, cast(Origin, {**row}), None, subject, relation, object_, None, 1)
