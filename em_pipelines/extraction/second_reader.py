"""Who compares the claims of a model with the sentences that they were taken from, and what may be found."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from em_pipelines.schema.readings import Claim, Segment

POLARITY, SUBJECT, RELATION = "polarity_disagrees", "subject_disagrees", "relation_disagrees"


class Contradiction(NamedTuple):
    """What a turn says against a claim: the issue, and a detail without words of the turn."""

    issue: str
    detail: str


class SecondReader(Protocol):
    """Compares the claims of a model with their own sentences. `module` is where its code is: with it the version of a
    step changes."""

    module: str

    def disagreements(self, claims: Sequence[Claim], segment: Segment) -> Iterator[tuple[int, Contradiction]]:
        """The claims that their sentences contradict: the place of each among `claims`, and how."""
        ...
