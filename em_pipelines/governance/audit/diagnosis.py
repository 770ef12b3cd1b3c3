"""What a look at a home finds, and the look at what a model has not read."""

from collections.abc import Iterator
from dataclasses import dataclass

from em_pipelines.extraction.unread_segments import causes, unread_segments
from em_pipelines.governance.rebuildable_home import RebuildableHome
from em_pipelines.language.counting import counted


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing looked at: how it is, and what to do where it is not well."""

    subject: str
    is_well: bool
    found: str
    advice: str = ""


def unread_by_model(home: RebuildableHome) -> Iterator[Diagnosis]:
    """Why messages were not read that a model was asked about; nothing where none are."""
    unread = unread_segments(home.store.lake)
    for why in causes(unread)[:1]:
        n = sum(segment.n_messages for segment in unread)
        found, _, advice = why.partition("; ")
        yield Diagnosis("model", False, f"{counted(n, 'message')} not read: {found}", advice or "`em run`")
