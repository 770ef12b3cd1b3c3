"""What the guard withholds of messages that were taken in, told to whoever gave them: kinds and counts, no words."""

from collections.abc import Mapping
from dataclasses import dataclass

from em_pipelines.text.guard.sensitive import SafetySettings


@dataclass(frozen=True, slots=True)
class WithheldOf:
    """A message of a batch of which something is withheld: its place in the list, from 0, and how many of its sentences
    are, by the issue that `em quality` and the table extraction_issues name."""

    index: int
    reasons: Mapping[str, int]


def reasons_of(content: str, safety: SafetySettings) -> dict[str, int]:
    """How many sentences of a message are withheld, by issue (`financial_withheld`, `injection_stripped`, …); empty
    where facts are read from all of it."""
    from em_pipelines.text.cleaning import clean_text  # noqa: PLC0415  (the guard takes a tenth of a second)
    from em_pipelines.text.guard.screening import withheld_sentences  # noqa: PLC0415

    return withheld_sentences(clean_text(content), safety)
