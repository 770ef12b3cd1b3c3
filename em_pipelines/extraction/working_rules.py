"""What is said to a coding agent and lasts: how somebody works, and what their project is made with.

"Always run ruff before committing" orders an agent about, and the guard takes it out of what is read and quoted. In a
trusted transcript of a project, from the user's own words, it is also a fact: that running ruff before committing is
how they work. It is told as that, and never in the words of the order (`working_claims`). Orders of the moment, what
code does and what no rule may be (`working_words`) are left alone. This is done for every extractor alike, after it
has read what the guard lets it see; what it says of "we" is then the project's.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from em_pipelines.extraction.quoted_material import quoted_material
from em_pipelines.extraction.working_claims import fits, is_ordered
from em_pipelines.extraction.working_words import compiled, freed, refused
from em_pipelines.guard.passages import Span, has_pasted_block, overlaps, sentences
from em_pipelines.guard.screening import UNQUOTED, is_unsafe_content, levelled, withheld_in
from em_pipelines.guard.sensitive import SafetySettings, is_sensitive
from em_pipelines.schema.readings import Claim, Extraction, Issue, Segment, Turn, Withheld
from em_pipelines.schema.vocabulary import USER, EntityType

MAX_CHARACTERS = 2_000
"""Of a turn: what is longer is a document, and nobody's word."""
RULE_REFUSED = "rule_refused"
"""The issue of a message that states a rule of a kind that none may be; its reason is the kind."""
PARDONED = frozenset(
    {
        ("injection_stripped", "order"),
        ("injection_stripped", "memory_write"),
        ("injection_stripped", "embedded"),
        ("quarantined", "standing_procedure"),
    }
)
"""What the guard may have found in a turn that states rules: that it orders. Whatever else it found keeps it unread."""
HARMLESS = frozenset({"health_withheld", "financial_withheld", "credential_masked", "cited"})
"""What keeps the piece that it stands in from being read, and no other."""
OF_PROJECTS = frozenset({"uses", "depends_on", "decided", "has_attribute", "made_of", "prefers", "plans"})
"""What is the project's where "we" say it of ourselves."""
_HELD = frozenset({"uses", "depends_on"})
_OF_PARTS = frozenset({"located_in", "has_part", "part_of", "has_age", "made_of", "has_attribute"})
_NEVER_OURS = frozenset({"lives_in", "works_at", "visited"})
"""What "we moved to GCP" is not."""
_WITH_NAMES = frozenset({EntityType.PERSON, EntityType.ORGANIZATION, EntityType.ANIMAL, EntityType.PLACE})
_QUOTED = re.compile(r"[\"“”«»„]|(?<!\w)'[^']* [^']*'")
_TICKS = re.compile(r"`([^`\n]{1,60})`")
_CALL = re.compile(r"(?<=\w)\(\)")
_SUFFIX = re.compile(r"(?<=\w)\.(?:js|py|sh)\b")


def with_working_rules(reading: Extraction, segment: Segment, safety: SafetySettings) -> Extraction:
    """The reading with what the user's turns of a project state of it and of how they work; `segment` as it was said,
    with a project. What was read of "we" is the project's, and gives way to what is stated here."""
    assert segment.project is not None
    stated: list[Claim] = []
    issues: list[Issue] = []
    parts: dict[int, list[_Part]] = {}
    for turn in segment.turns:
        if turn.subject == USER and turn.role == "user":
            found = read_turn(turn, segment.project, safety)
            stated += (_dated(claim, reading.claims) for claim in found.claims)
            issues += found.issues
            parts[turn.turn_number] = list(_pieces(turn.text))
    told = {claim.turn_number for claim in stated}
    rest = [
        kept
        for claim in reading.claims
        if not _gives_way(claim, stated)
        and (kept := _rehomed(claim, segment.project, parts.get(claim.turn_number, []))) is not None
    ]
    issues += (
        one for one in reading.issues if one.turn_number not in told or one.issue not in {"skipped", "nothing_found"}
    )
    return replace(reading, claims=[*rest, *stated], issues=issues)


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of a turn, where it stands, and the sentence that it is of."""

    text: str
    span: Span
    sentence: str


def _gives_way(claim: Claim, stated: Iterable[Claim]) -> bool:
    """Whether the same words state a rule or a fact of the project, of which this is half a reading."""
    return any(
        claim.turn_number == other.turn_number and claim.start < other.end and other.start < claim.end
        for other in stated
        if claim.subject in {USER, other.subject} or claim.relation in OF_PROJECTS | _OF_PARTS
    )


def _dated(claim: Claim, others: Iterable[Claim]) -> Claim:
    """The claim since when it holds, where another reading of the same fact knows."""
    for other in others:
        is_same = (other.turn_number, other.relation, other.object) == (claim.turn_number, claim.relation, claim.object)
        if is_same and other.polarity == claim.polarity and other.valid_from is not None:
            return replace(claim, valid_from=other.valid_from, valid_precision=other.valid_precision)
    return claim


def _rehomed(claim: Claim, project: str, parts: Iterable[_Part]) -> Claim | None:
    """A claim of "we" as one of the project; None where it was read in an order, a supposition or what is refused."""
    part = next((part for part in parts if part.span[0] < claim.end <= part.span[1] + 1), None)
    core = freed(part.text).text if part is not None else ""
    if not core or not _is_believed(claim, core):
        return None if core else claim
    if _is_of_a_part(claim):
        return replace(claim, subject=project, subject_type=EntityType.PROJECT) if claim.relation in _HELD else None
    is_ours = compiled(r"\b{we}\b").search(core) and not compiled(r"\b{me}\b").search(core)
    if not is_ours or claim.subject != USER or claim.relation not in {*OF_PROJECTS, *_NEVER_OURS}:
        return claim
    is_told = claim.relation in OF_PROJECTS and not _is_passing(core)
    return replace(claim, subject=project, subject_type=EntityType.PROJECT) if is_told else None


def _is_of_a_part(claim: Claim) -> bool:
    """Whether a fact is of something without a name, as `the mobile app`: one of every project."""
    is_thing = claim.subject != USER and claim.subject_type not in _WITH_NAMES
    return is_thing and claim.subject == claim.subject.lower() and claim.relation in {*_HELD, *_OF_PARTS}


def _is_believed(claim: Claim, core: str) -> bool:
    """Whether a claim was not read in an order, nor in what no rule may be."""
    if compiled(r"(?:only|always|never) {order}\b").match(core):
        return False
    if claim.subject != USER or claim.relation not in OF_PROJECTS:
        return True
    says = ("do", "order") if claim.relation == "prefers" else ("do",)
    if refused(core, f"use {claim.object or claim.value}", *(says if claim.polarity > 0 else ("dont",))):
        return False
    is_own = compiled(r"\b{me}\b").search(core) is not None
    return is_own or not is_ordered(core) or core.lower().startswith("prefer ")


def _is_passing(core: str) -> bool:
    """Whether something is said of the moment, or supposed."""
    return any(compiled(sign).search(core) is not None for sign in ("{supposed}", "{momentary}"))


def read_turn(turn: Turn, project: str, safety: SafetySettings) -> Extraction:
    """The claims that one turn of the user's own states, each once, and an issue for each kind of rule refused."""
    text = turn.text
    if len(text) > MAX_CHARACTERS or has_pasted_block(text):
        return Extraction()
    withheld = withheld_in(text, safety) if turn.withheld is None else turn.withheld
    grave = [one for one in withheld if not _is_pardoned(one)]
    if any(one.issue not in HARMLESS for one in grave):
        return Extraction()
    unread = [*((one.span_start, one.span_end) for one in grave), *quoted_material(text)]
    kinds: dict[str, None] = {}
    found: dict[tuple[object, ...], Claim] = {}
    for part in _pieces(text):
        if "?" in part.sentence or _QUOTED.search(part.sentence) or overlaps(part.span, unread):
            continue
        claims, refusal = _read(part, project, safety)
        kinds |= {refusal: None} if refusal else {}
        for claim in claims:
            key = (claim.subject, claim.relation, claim.attribute, claim.object, claim.value)
            found.setdefault(key, levelled(replace(claim, turn_number=turn.turn_number)))
    refusals = [Issue(turn.turn_number, RULE_REFUSED, kind, "warning") for kind in kinds]
    return Extraction(claims=list(found.values()), issues=refusals)


def _is_pardoned(found: Withheld) -> bool:
    """Whether a find of the guard is that something is ordered, or only that it is not quoted; what is to be written to
    memory is no rule of work."""
    if found.issue == UNQUOTED:
        return True
    is_order = (found.issue, found.reason) in PARDONED
    return is_order and (found.reason != "memory_write" or found.severity == "info")


def _pieces(text: str) -> Iterator[_Part]:
    """The clauses of a text that stand by themselves, without marks of code."""
    joints = compiled(r"(?:(?:, (?:and |but |so )?|;| but | so )(?={begins}\b)| and (?={begins_after_and}\b))")
    for start, end in sentences(text):
        sentence = (text[start:end] + text[end : end + 1].strip()).replace("’", "'")
        begin = start
        for joint in [*joints.finditer(text, start, end), None]:
            stop = joint.start() if joint is not None else end
            plain = _CALL.sub("", _TICKS.sub(r"\1", text[begin:stop].replace("’", "'")))
            plain = " ".join(plain.split()).strip(" .,!-–—*•")
            if joint is not None and _goes_on(freed(plain).text):
                continue
            if plain:
                yield _Part(plain, (begin, stop), sentence)
            begin = joint.end() if joint is not None else end


def _goes_on(text: str) -> bool:
    """Whether what was said is no piece yet: `from now on`, `after changing the schema`."""
    return not text or compiled(r"{bound}\b").match(text) is not None


def _read(part: _Part, project: str, safety: SafetySettings) -> tuple[list[Claim], str | None]:
    """What the first pattern that fits makes of a piece, or the kind by which it is refused."""
    piece = freed(part.text)
    if not piece.text or _is_passing(piece.text):
        return [], None
    for fit in fits(piece, part.span):
        claims = [claim for claim in fit.claims(project) if _is_safe(claim, safety)]
        if claims:
            kind = refused(part.sentence) or refused(piece.text, fit.said, *fit.rule.asks(fit.polarity))
            return ([], kind) if kind else (claims, None)
    return [], None


def _is_safe(claim: Claim, safety: SafetySettings) -> bool:
    """Whether every text of a claim is a thing; the names of tools may end like a file's."""
    texts = [text for text in (claim.object, claim.value, claim.attribute, claim.over) if text]
    return not any(
        is_unsafe_content(_SUFFIX.sub("", text)) or any(is_sensitive(text, kind) for kind in safety.withheld)
        for text in texts
    )
