"""What the guard withholds of messages that were taken in, told to whoever gave them: kinds and counts, no words."""

from collections.abc import Mapping
from dataclasses import dataclass

from em_pipelines.guard.sensitive import SafetySettings


@dataclass(frozen=True, slots=True)
class WithheldOf:
    """A message of a batch of which something is withheld: its place in the list, from 0, and how many of its sentences
    are, by the issue that `em quality` and the table extraction_issues name."""

    index: int
    reasons: Mapping[str, int]


def reasons_of(content: str, safety: SafetySettings) -> dict[str, int]:
    """How many sentences of a message no fact is read from, or not all of them, by issue (`financial_withheld`,
    `injection_stripped`, …); empty where facts are read from all of it. The mere words of an order ("remember that I
    sail") and what is only not quoted do not count."""
    from em_pipelines.guard.passages import overlaps, sentences  # noqa: PLC0415
    from em_pipelines.guard.screening import INJECTED, MILD, UNQUOTED, withheld_in  # noqa: PLC0415
    from em_pipelines.language.cleaning import clean_text  # noqa: PLC0415  (the guard takes a tenth of a second)

    text = clean_text(content)
    found: dict[str, set[tuple[int, int]]] = {}
    for one in withheld_in(text, safety):
        if one.issue != UNQUOTED and not (one.issue == INJECTED and one.severity == MILD):
            spans = [span for span in sentences(text) if overlaps(span, [(one.span_start, one.span_end)])]
            found.setdefault(one.issue, set()).update(spans)
    return {issue: max(1, len(spans)) for issue, spans in found.items()}
