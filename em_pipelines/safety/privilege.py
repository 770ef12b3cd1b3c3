"""Claims of rank and authority ("I have root access"): kept at L4 with requires_verification, and never surfaced."""

from dataclasses import replace
from functools import lru_cache, partial

from em_pipelines.extraction.model import Claim
from em_pipelines.safety.passages import Span, folded, merged, overlaps, sentences
from em_pipelines.safety.phrases import rule_book
from em_pipelines.vocabulary import PrivacyLevel


def privilege_spans(text: str) -> list[Span]:
    """The sentences of a text that claim rank, by privilege.yaml; in order, without overlaps."""
    return list(_spans(text))


@lru_cache(maxsize=512)
def _spans(text: str) -> tuple[Span, ...]:
    """The same; asked for when a message is guarded, and again when what was read in it is screened."""
    book, plain = rule_book("privilege"), folded(text)
    rules = book.candidates(plain)
    if not rules:
        return ()
    spans: list[Span] = []
    for found in book.find(text, plain, partial(sentences, text), rules):
        spans += [s for s in sentences(text) if s[0] < found.end and found.start < s[1]]
    return tuple(merged(spans))


def verified_first(claim: Claim, spans: list[Span]) -> Claim:
    """The claim at L4 and requiring verification where it was read in a claim of rank; else the claim as it is."""
    if not overlaps((claim.start, max(claim.end, claim.start + 1)), spans):
        return claim
    return replace(claim, privacy_level=PrivacyLevel.PRIVILEGED, requires_verification=True)
