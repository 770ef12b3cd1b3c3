"""The one way into and out of every extractor: `guarded` before it reads a segment, `screened` after; and `quotable`,
what of a message may be shown again.

`withheld_in` looks at a message once, when it is cleaned, and what it finds is kept beside the message. Whatever an
extractor is, it sees no instruction, no secret and nothing that settings withhold, and nothing of the kind leaves it.
Issues name what was done and never repeat the text. Claims of rank and authority ("I have root access") are kept at L4
with requires_verification, and never surfaced. What may become a durable fact are names and values that are things, not
instructions, code or markup.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from typing import Any

from em_pipelines.guard.contact import personal_spans
from em_pipelines.guard.injection import (
    Stripped,
    in_first_person,
    is_quarantined,
    orders_in,
    plain_places,
    privilege_spans,
    quarantine,
    strip_instructions,
)
from em_pipelines.guard.passages import (
    CODE_OR_LINK,
    LINK_OR_MARKUP,
    Span,
    blanked,
    cited_passages,
    closed,
    folded,
    merged,
    overlaps,
    sentences,
)
from em_pipelines.guard.sensitive import (
    FINANCIAL,
    HEALTH,
    HEALTH_RELATIONS,
    IDENTITY_DOCUMENT,
    SafetySettings,
    is_sensitive,
    spans_by_category,
)
from em_pipelines.guard.standing_instructions import STANDING, beyond_answers, instruction_spans, is_refused, permitted
from em_pipelines.language.cleaning import CODE_MARK
from em_pipelines.language.masking import mask_text
from em_pipelines.language.values import read_yaml
from em_pipelines.schema.readings import Claim, Extraction, Issue, Mention, Segment, Turn, Withheld
from em_pipelines.schema.vocabulary import OBSERVATIONS, USER, Mechanism, PrivacyLevel


def verified_first(claim: Claim, spans: list[Span]) -> Claim:
    """The claim at L4 and requiring verification where it was read in a claim of rank; else the claim as it is."""
    return unverified(claim) if overlaps((claim.start, max(claim.end, claim.start + 1)), spans) else claim


def unverified(claim: Claim) -> Claim:
    """The claim at L4 and requiring verification."""
    return replace(claim, privacy_level=PrivacyLevel.PRIVILEGED, requires_verification=True)


MAX_TASTE_WORDS = 4
_LETTERS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_DIGIT = re.compile(r"\d")
_OWNED = re.compile(r"(?i)['’]s\b|s['’](?!\w)|\b(?:my|our|his|her|their|your)\b")


@dataclass(frozen=True)
class _Level:
    """One line of the table of privacy.yaml."""

    level: PrivacyLevel
    about: str
    relations: frozenset[str]
    kinds: frozenset[str]
    attributes: frozenset[str]
    objects: str | None

    def fits(self, claim: Claim) -> bool:
        """Whether a claim is of this line."""
        return (
            claim.relation in self.relations
            and self._is_about(claim)
            and (not self.kinds or claim.object_type in self.kinds)
            and (not self.attributes or bool(self.attributes & {*_LETTERS.findall(folded(claim.attribute or ""))}))
            and self._has_such_an_object(claim)
        )

    def _is_about(self, claim: Claim) -> bool:
        if self.about == "things":
            return claim.subject_type in self.kinds
        return self.about == "anybody" or claim.subject == USER

    def _has_such_an_object(self, claim: Claim) -> bool:
        said = claim.object or claim.value or ""
        if self.objects == "number":
            return bool(_DIGIT.search(said))
        if self.objects == "named":
            return not claim.flags and all(map(_is_proper_thing, (claim.subject, said)))
        return self.objects is None or (not claim.flags and all(map(_is_plain_thing, (said, claim.over or said))))


def levelled(claim: Claim) -> Claim:
    """The claim with its privacy level by the table of privacy.yaml; L2 where nothing there fits. An observation that
    tells how to reach somebody, or a birthday, is L3."""
    level = next((line.level for line in _table() if line.fits(claim)), PrivacyLevel.PERSONAL)
    said = claim.value if claim.relation in OBSERVATIONS and claim.value else ""
    if (_DIGIT.search(said) or "@" in said) and personal_spans(said):
        level = PrivacyLevel.PII
    return claim if claim.privacy_level is level else replace(claim, privacy_level=level)


@cache
def _table() -> tuple[_Level, ...]:
    """The lines of privacy.yaml."""
    return tuple(
        _Level(
            PrivacyLevel(line["level"]),
            line["about"],
            frozenset(line["relations"]),
            frozenset(line.get("kinds", ())),
            frozenset(line.get("attributes", ())),
            line.get("objects"),
        )
        for line in privacy_table()["levels"]
    )


@cache
def _private() -> tuple[tuple[str, ...], frozenset[str]]:
    """Beginnings of private words, and whole ones."""
    data = privacy_table()
    return tuple(data["private"].split()), frozenset(data["private_words"].split())


def privacy_table() -> dict[str, Any]:
    """What privacy.yaml says: `levels`, private words and `examples`."""
    found: dict[str, Any] = read_yaml(Path(__file__).with_name("privacy.yaml").read_text(encoding="utf-8"))
    return found


@lru_cache(maxsize=16_384)
def _is_plain_thing(name: str) -> bool:
    """Whether a name is of a thing that one may speak of before others: a few words, nobody's, none of them private."""
    words = _LETTERS.findall(folded(name))
    if not 1 <= len(words) <= MAX_TASTE_WORDS or _DIGIT.search(name) or _OWNED.search(name):
        return False
    parts = [*words, *(part for word in words for part in word.split("-"))]
    beginnings, whole = _private()
    is_private = any(part.startswith(beginnings) or part in whole for part in parts)
    return not is_private and not any(is_sensitive(name, kind) for kind in (HEALTH, FINANCIAL, IDENTITY_DOCUMENT))


def _is_proper_thing(name: str) -> bool:
    return _is_plain_thing(name) and _is_proper(name)


def _is_proper(name: str) -> bool:
    """Whether every word of a name, but for small ones, is written as names are."""
    words = [word for word in _LETTERS.findall(name) if len(word) > len("the")]
    return bool(words) and all(word[0].isupper() for word in words)


MAX_NAME_CHARACTERS = 200


@lru_cache(maxsize=16_384)
def is_unsafe_content(name: str) -> bool:
    """Whether a name or value is no thing but a command, an address to open, an instruction, code, markup or a secret.

    Blanked characters count as well: what was taken out of the text may not come back in a name.
    """
    if len(name) > MAX_NAME_CHARACTERS or CODE_MARK in name or "[masked:" in name or CODE_OR_LINK.search(name):
        return True
    return is_quarantined(name) or bool(strip_instructions(name).kinds) or mask_text(name) != name


DEFAULT_SETTINGS = SafetySettings()
_MASKED = re.compile(r"(?:(?<![\w.-])[\w.-]{1,40}\s?=\s?[\"']?)?\[masked:[a-z_]{1,40}\][\"']?")
MASKED, RANK, TRUNCATED = "credential_masked", "privilege_claim", "truncated"
INJECTED, QUARANTINED = "injection_stripped", "quarantined"
CITED = "cited"
"""Somebody else's words: they may be quoted, and state no fact."""
UNQUOTED, ORDER = "unquoted", "order_to_the_reader"
"""What tells the reader what to do or believe: it states facts, and is not quoted."""
BEYOND_ANSWERS = ("unsafe_content", "of_an_order", "warning")
"""Why a claim from a standing instruction is refused that is no preference or name of its speaker."""
MILD = "info"
"""How severe it is that somebody asks to be remembered."""
Found = tuple[str, str, str]
"""The name of an issue, its reason and its severity."""
UNSAFE: Found = ("unsafe_content", "not_a_thing", "warning")


def withheld_in(text: str, settings: SafetySettings = DEFAULT_SETTINGS) -> tuple[Withheld, ...]:
    """What of a message the guard takes out, by issue: injection_stripped, quarantined, credential_masked,
    health_withheld, financial_withheld, identity_document_withheld, privilege_claim, cited, unquoted, truncated."""
    bound = settings.max_characters
    found = _found_in(text[:bound], settings.withheld)
    return found if len(text) <= bound else (*found, Withheld(bound, len(text), TRUNCATED, "too_long", "warning"))


def quotable(text: str, withheld: Iterable[Withheld]) -> str:
    """A message as it may be shown again, blanked where it may not, and of the same length.

    Private matters and claims of rank go with the sentence that they stand in, instructions as far as they reach, and
    so does what is too long to be guarded. A mask says nothing of the secret and stays, and so do the mere words of an
    order ("remember that I sail"), whose statement is read. What is `unquoted` goes with its sentence.
    """
    return blanked(text, (span for found in withheld for span in _unquoted(text, found)))


def _unquoted(text: str, found: Withheld) -> list[Span]:
    if found.issue in {MASKED, CITED} or (found.issue == INJECTED and found.severity == MILD):
        return []
    span = (found.span_start, found.span_end)
    if found.issue in {INJECTED, QUARANTINED, TRUNCATED}:
        return [closed(text, span)]
    return [closed(text, span), *(closed(text, sentence) for sentence in sentences(text) if overlaps(span, [sentence]))]


def guarded(segment: Segment, settings: SafetySettings = DEFAULT_SETTINGS) -> tuple[Segment, list[Issue]]:
    """Returns the segment with blanked turns, context included, and what was found in the turns that state facts.

    Texts keep their length, so that spans hold; but what is too long to be guarded is cut off. The issues are those of
    `withheld_in`, which is asked where nobody has asked it of a turn before.
    """
    turns = tuple(_guarded_turn(turn, settings) for turn in segment.turns)
    context = tuple(_guarded_turn(turn, settings) for turn in segment.context)
    issues = [issue for turn in turns if turn.subject is not None for issue in _issues_of(turn)]
    return replace(segment, turns=turns, context=context), issues


def _issues_of(turn: Turn) -> list[Issue]:
    told = (one for one in turn.withheld or () if one.issue != UNQUOTED)
    found = dict.fromkeys((one.issue, one.reason, one.severity, _detail(one)) for one in told)
    return [Issue(turn.turn_number, *one) for one in found]


def _detail(found: Withheld) -> str:
    return f"only the first {found.span_start} characters were read" if found.issue == TRUNCATED else ""


def screened(extraction: Extraction, segment: Segment, settings: SafetySettings = DEFAULT_SETTINGS) -> Extraction:
    """Returns what of an extraction may be kept; `segment` is the guarded one.

    Every claim gets its privacy level here (privacy.yaml). Claims of rank come out at L4 with requires_verification.
    Dropped are claims and mentions with unsafe content (issue unsafe_content) and of withheld categories, by relation,
    by name and by value. The extraction is not changed.
    """
    withheld = settings.withheld
    turns = {turn.turn_number: turn for turn in segment.turns}
    ranks = {number: _ranks(turn) for number, turn in turns.items()}
    out = replace(extraction, mentions=[], claims=[], issues=list(extraction.issues))
    refused: dict[tuple[int, Found], None] = {}
    for claim in extraction.claims:
        turn = turns.get(claim.turn_number)
        reason = _claim_refused(claim, withheld) or _instruction_refused(claim, turn)
        if reason is None:
            kept = levelled(_stated_safely(claim, withheld))
            is_held = turn is not None and _is_of_refused_instruction(claim, turn)
            out.claims.append(unverified(kept) if is_held else verified_first(kept, ranks.get(claim.turn_number, [])))
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


def _ranks(turn: Turn) -> list[Span]:
    """Where a guarded turn claims rank."""
    if turn.withheld is None:
        return privilege_spans(turn.text)
    return [(found.span_start, found.span_end) for found in turn.withheld if found.issue == RANK]


def _guarded_turn(turn: Turn, settings: SafetySettings) -> Turn:
    """The turn as an extractor may see it: claims of rank stay, to be stored as such."""
    found = withheld_in(turn.text, settings) if turn.withheld is None else turn.withheld
    end = min((one.span_start for one in found if one.issue == TRUNCATED), default=len(turn.text))
    gone = ((one.span_start, one.span_end) for one in found if one.issue not in {RANK, TRUNCATED, UNQUOTED})
    return replace(turn, text=blanked(turn.text[:end], gone), withheld=found)


@lru_cache(maxsize=512)
def _found_in(text: str, withheld: tuple[str, ...]) -> tuple[Withheld, ...]:
    finds = _Finds(text)
    if "[masked:" in text:
        finds.take_out(_mask_spans(text), MASKED, "secret", "warning")
    for look, issue, severity in ((strip_instructions, INJECTED, "warning"), (quarantine, QUARANTINED, "error")):
        _take_instructions(finds, look(finds.text), issue, severity)
    for category, spans in spans_by_category(finds.text, withheld).items():
        finds.take_out(spans, f"{category}_withheld", category, "info")
    finds.take_out(privilege_spans(finds.text), RANK, "rank", "warning")
    finds.take_out(cited_passages(finds.text), CITED, "others_words", "info")
    _take_orders(finds)
    return tuple(finds.found)


@dataclass(slots=True)
class _Finds:
    """What is found in a message, and the message without it."""

    text: str
    found: list[Withheld] = field(default_factory=list)

    def take_out(self, spans: Iterable[Span], issue: str, reason: str, severity: str) -> None:
        """Notes what is found, and blanks it for whoever looks next."""
        taken = merged(spans)
        self.found += (Withheld(*span, issue, reason, severity) for span in taken)
        self.text = blanked(self.text, taken) if taken else self.text


def _take_instructions(finds: _Finds, stripped: Stripped, issue: str, severity: str) -> None:
    if not stripped.kinds:
        return
    left = permitted(finds.text, stripped)
    finds.found += (Withheld(*span, UNQUOTED, STANDING, MILD) for span in merged(left))
    kept = [*left, *plain_places(finds.text, stripped)]
    for kind, is_mild in product(stripped.kinds, (False, True)):
        places = (span for of, span in stripped.found if of == kind and (span in stripped.mild) == is_mild)
        finds.take_out((span for span in places if span not in kept), issue, kind, MILD if is_mild else severity)


def _take_orders(finds: _Finds) -> None:
    known = {"rank", STANDING, HEALTH, FINANCIAL, IDENTITY_DOCUMENT}
    gone = [(one.span_start, one.span_end) for one in finds.found if one.reason in known]
    orders = [span for span in orders_in(finds.text) if not overlaps(span, gone)]
    about_answers = instruction_spans(finds.text) if orders else []
    for span in orders:
        finds.take_out([span], UNQUOTED, STANDING if overlaps(span, about_answers) else ORDER, MILD)


def _mask_spans(text: str) -> Iterator[Span]:
    """What masking left in place of secrets, with the key of an assignment before it: "TOKEN='[masked:…]'"."""
    return (match.span() for match in _MASKED.finditer(text))


def _claim_refused(claim: Claim, withheld: tuple[str, ...]) -> Found | None:
    if HEALTH in withheld and claim.relation in HEALTH_RELATIONS:
        return f"{HEALTH}_withheld", HEALTH, "info"
    if claim.relation in OBSERVATIONS:
        return _observation_refused(claim, withheld)
    for name in (claim.object, claim.value, claim.attribute, claim.subject):
        reason = _name_refused(name, withheld) if name else None
        if reason is not None:
            return reason
    stated = f"{claim.attribute} {claim.value}" if claim.attribute else ""
    return _name_refused(stated, withheld) if stated else None


def _observation_refused(claim: Claim, withheld: tuple[str, ...]) -> Found | None:
    """Why an observation may not be kept: a link, markup or a secret. The guard read the rest in its message."""
    text = claim.value or ""
    is_unsafe = CODE_MARK in text or "[masked:" in text or LINK_OR_MARKUP.search(text) or mask_text(text) != text
    return UNSAFE if is_unsafe else _name_refused(claim.subject, withheld)


def _instruction_refused(claim: Claim, turn: Turn | None) -> Found | None:
    if turn is None or all(one.reason != STANDING for one in turn.withheld or ()):
        return None
    return BEYOND_ANSWERS if beyond_answers(claim, turn) else None


def _is_of_refused_instruction(claim: Claim, turn: Turn) -> bool:
    """Whether a model's preference comes from a refused instruction; the object of a pattern is a noun, and none."""
    return claim.relation == "prefers" and claim.pattern_id is None and is_refused(claim, turn.text)


def _stated_safely(claim: Claim, withheld: tuple[str, ...]) -> Claim:
    """The claim without a statement that may not be kept: for what no name may hold, or for a claim of rank."""
    is_worded = claim.source_mechanism is Mechanism.EXPLICIT
    said = in_first_person(claim.statement) if is_worded and claim.statement else claim.statement
    is_kept = said is None or (_name_refused(said, withheld) is None and not privilege_spans(said))
    return claim if is_kept else replace(claim, statement=None)


def _name_refused(name: str, withheld: tuple[str, ...]) -> Found | None:
    if is_unsafe_content(name):
        return UNSAFE
    for category in withheld:
        if is_sensitive(name, category):
            return f"{category}_withheld", category, "info"
    return None


def _is_of_rank(mention: Mention, ranks: list[Span]) -> bool:
    return mention.name != USER and overlaps((mention.start, max(mention.end, mention.start + 1)), ranks)
