"""The one way into and out of every extractor: `guarded` before it reads a segment, `screened` after.

Whatever an extractor is, it sees no instruction, no secret and nothing that settings withhold, and nothing of the
kind leaves it. Issues name what was done and never repeat the text.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from em_pipelines.extraction.model import Claim, Extraction, Issue, Mention, Segment, Turn
from em_pipelines.safety.content import is_unsafe_content
from em_pipelines.safety.injection import quarantine, strip_instructions
from em_pipelines.safety.passages import Span, blanked, overlaps
from em_pipelines.safety.privilege import privilege_spans, verified_first
from em_pipelines.safety.sensitive import HEALTH, HEALTH_RELATIONS, is_sensitive, spans_by_category
from em_pipelines.safety.settings import SafetySettings
from em_pipelines.vocabulary import USER, PrivacyLevel

DEFAULT_SETTINGS = SafetySettings()
_MASKED = re.compile(r"(?:(?<![\w.-])[\w.-]{1,40}\s?=\s?[\"']?)?\[masked:[a-z_]{1,40}\][\"']?")
Found = tuple[str, str, str]
"""The name of an issue, its reason and its severity."""


def guarded(segment: Segment, settings: SafetySettings = DEFAULT_SETTINGS) -> tuple[Segment, list[Issue]]:
    """Returns the segment with blanked turns, context included, and what was found in the turns that state facts.

    Texts keep their length, so that spans hold. Issues: injection_stripped, quarantined, credential_masked,
    health_withheld, financial_withheld, identity_document_withheld, privilege_claim.
    """
    issues: list[Issue] = []
    turns = []
    withheld = settings.withheld
    for turn in segment.turns:
        text, found = _guarded_text(turn.text, withheld)
        turns.append(turn if text == turn.text else replace(turn, text=text))
        if turn.subject is not None:
            issues += [Issue(turn.turn_number, name, reason, severity) for name, reason, severity in found]
    context = tuple(_guarded_turn(turn, withheld) for turn in segment.context)
    return replace(segment, turns=tuple(turns), context=context), issues


def screened(extraction: Extraction, segment: Segment, settings: SafetySettings = DEFAULT_SETTINGS) -> Extraction:
    """Returns what of an extraction may be kept; `segment` is the guarded one.

    Claims of rank come out at L4 with requires_verification. Dropped are claims and mentions with unsafe content
    (issue unsafe_content) and of withheld categories, by relation, by name and by value. The extraction is not changed.
    """
    withheld = settings.withheld
    ranks = {turn.turn_number: privilege_spans(turn.text) for turn in segment.turns}
    out = replace(extraction, mentions=[], claims=[], issues=list(extraction.issues))
    refused: dict[tuple[int, Found], None] = {}
    for claim in extraction.claims:
        reason = _claim_refused(claim, withheld)
        if reason is None:
            out.claims.append(verified_first(claim, ranks.get(claim.turn_number, [])))
        else:
            refused[claim.turn_number, reason] = None
    for mention in extraction.mentions:
        reason = _name_refused(mention.name, withheld)
        if reason is not None:
            refused[mention.turn_number, reason] = None
        elif not _is_of_rank(mention, ranks.get(mention.turn_number, [])):
            out.mentions.append(mention)
    out.issues += [Issue(turn, name, why, severity) for turn, (name, why, severity) in refused]
    return out


def surfaced(extraction: Extraction) -> Extraction:
    """The extraction without its L4 claims, and without what only they mention."""
    claims = [c for c in extraction.claims if c.privacy_level is not PrivacyLevel.PRIVILEGED]
    shown = {(c.turn_number, name) for c in claims for name in (c.subject, c.object)}
    hidden = {
        (c.turn_number, name)
        for c in extraction.claims
        if c.privacy_level is PrivacyLevel.PRIVILEGED
        for name in (c.subject, c.object)
    } - shown
    mentions = [m for m in extraction.mentions if (m.turn_number, m.name) not in hidden or m.name == USER]
    return replace(extraction, mentions=mentions, claims=claims)


def _guarded_turn(turn: Turn, withheld: tuple[str, ...]) -> Turn:
    text = _guarded_text(turn.text, withheld)[0]
    return turn if text == turn.text else replace(turn, text=text)


@lru_cache(maxsize=512)
def _guarded_text(text: str, withheld: tuple[str, ...]) -> tuple[str, tuple[Found, ...]]:
    found: dict[Found, None] = {}
    masks = list(_mask_spans(text)) if "[masked:" in text else []
    if masks:
        found["credential_masked", "secret", "warning"] = None
        text = blanked(text, masks)
    for stripped, name, severity in (
        (strip_instructions(text), "injection_stripped", "warning"),
        (quarantine(text), "quarantined", "error"),
    ):
        found.update(dict.fromkeys((name, kind, severity) for kind in stripped.kinds))
        text = blanked(text, stripped.spans) if stripped.spans else text
    for category, spans in spans_by_category(text, withheld).items():
        found[f"{category}_withheld", category, "info"] = None
        text = blanked(text, spans)
    if privilege_spans(text):
        found["privilege_claim", "rank", "warning"] = None
    return text, tuple(found)


def _mask_spans(text: str) -> Iterator[Span]:
    """What masking left in place of secrets, with the key of an assignment before it: "TOKEN='[masked:…]'"."""
    return (match.span() for match in _MASKED.finditer(text))


def _claim_refused(claim: Claim, withheld: tuple[str, ...]) -> Found | None:
    if HEALTH in withheld and claim.relation in HEALTH_RELATIONS:
        return f"{HEALTH}_withheld", HEALTH, "info"
    for name in (claim.object, claim.value, claim.attribute, claim.subject):
        reason = _name_refused(name, withheld) if name else None
        if reason is not None:
            return reason
    stated = f"{claim.attribute} {claim.value}" if claim.attribute else ""
    return _name_refused(stated, withheld) if stated else None


def _name_refused(name: str, withheld: tuple[str, ...]) -> Found | None:
    if is_unsafe_content(name):
        return "unsafe_content", "not_a_thing", "warning"
    for category in withheld:
        if is_sensitive(name, category):
            return f"{category}_withheld", category, "info"
    return None


def _is_of_rank(mention: Mention, ranks: list[Span]) -> bool:
    return mention.name != USER and overlaps((mention.start, max(mention.end, mention.start + 1)), ranks)
