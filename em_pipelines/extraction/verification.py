"""Trusting nothing: the hallucination checks that every extraction passes, whoever made it.

Each check is a named issue. What cannot be grounded is refused and counted, and nothing falls because of its
neighbours; a warning halves the confidence of what it touches. Of a message of which several items are refused all
others are halved as well. Add a check as a function from a reading to doubts; what is merely private or dangerous is
judged elsewhere.

That words occur is not what they say: a claim of a model that its own sentence contradicts (`agreement`) is held.

Claims of identity and authority are held: "Name: Vic Long" or "Dana manages the finance team" in a message that reads
like a document may be anybody's words. Such a claim requires verification: it is kept, never surfaced, and supersedes
no fact. The same statement in a plain sentence is a claim of its own, and the fold verifies what two conversations
state (`graph.restatements`).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from em_pipelines.extraction.second_reader import SecondReader
from em_pipelines.extraction.settings import VerificationSettings
from em_pipelines.extraction.spans import find_span
from em_pipelines.extraction.statement_support import grounds_ends, is_stated
from em_pipelines.extraction.support import N_EARLIER, Said, content_stems, is_supported
from em_pipelines.guard.passages import Span, clause_around, has_pasted_block, overlaps
from em_pipelines.language.document import english
from em_pipelines.language.name_keys import name_key, noun_of, owner_of
from em_pipelines.language.sentences import sentences_around
from em_pipelines.schema.readings import MAX_STATEMENT_CHARACTERS, Claim, Extraction, Issue, Mention, Segment, Turn
from em_pipelines.schema.vocabulary import DATED, RELATIONS, USER, Act, HedgeLevel

TEMPLATE_NAMES = ("Zerelda", "Quillham", "Obrantz")
"""Names in the examples of prompts, and nowhere else: in an answer they show that the examples came back."""

PRIVATE = ("_withheld", "credential_masked")
"""How issues end of what is private."""

HALLUCINATION = "hallucination"
"""The reason of all issues that are made here."""
_PLACEHOLDER = re.compile(
    r"^(?:<.{0,80}>|\{.{0,80}\}|\[.{0,80}\]|\.{3}|…|name|string|null|none|n/a|unknown|example)$", re.I
)
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_CLAUSE_END = re.compile(r"[.!?;,:\n]")
MIN_BLANKS_OF_A_CLAUSE = 2
"""Of the words of a claim that say something by themselves: "my sister Dana", not "Dana"."""


IDENTITY = frozenset({"has_name", "works_as"})
"""Held where they are of the speaker."""
AUTHORITY = frozenset({"manages", "reports_to"})
"""Held whoever they are of."""
_OWN_SENTENCE = re.compile(r"(?i)(?<![\w'])(?:i|i'm|i’m|im|my|me|we|our)(?![\w])")
_LABELLED = re.compile(r"[^\s:][^\n:]{0,40}:\s")
MAX_CLAUSE_CHARACTERS = 400
REPEATED = "repetition"


@dataclass(frozen=True, slots=True)
class Doubt:
    """One warning: the issue, and which claims, mentions and names it touches. `is_refused`: those claims and mentions
    cannot be stored at all."""

    issue: Issue
    claims: tuple[int, ...] = ()
    mentions: tuple[int, ...] = ()
    names: tuple[tuple[int, str], ...] = ()
    is_refused: bool = False
    statements: tuple[int, ...] = ()
    """Claims whose statement goes, and nothing else."""
    is_contradicted: bool = False
    """The sentence says otherwise: those claims require verification as well."""


def verify(
    reading: Extraction,
    segment: Segment,
    settings: VerificationSettings | None = None,
    second_reader: SecondReader | None = None,
) -> Extraction:
    """Returns the reading with its doubts as issues, what is doubted at half its confidence, and without what nobody
    said. A second reader is asked about the claims of a model."""
    settings = settings or VerificationSettings()
    doubts = list(_doubts(reading, segment, settings))
    if second_reader is not None:
        doubts += _contradicted(reading.claims, segment, second_reader)
    if not doubts:
        return reading
    doubts += _often_refused(doubts, reading, settings)
    refused = [doubt for doubt in doubts if doubt.is_refused]
    gone = set(chain.from_iterable(doubt.mentions for doubt in refused))
    return replace(
        reading,
        mentions=[mention for n, mention in enumerate(reading.mentions) if n not in gone],
        claims=_weighed(_contradicted_held(reading.claims, doubts, settings), doubts, settings.factor),
        issues=[*reading.issues, *(doubt.issue for doubt in doubts)],
    )


def _contradicted(claims: Sequence[Claim], segment: Segment, reader: SecondReader) -> Iterator[Doubt]:
    is_by_model = any(claim.pattern_id is None for claim in claims)
    for n, contradiction in reader.disagreements(claims, segment) if is_by_model else ():
        yield Doubt(_issue(claims[n].turn_number, *contradiction, n), claims=(n,), is_contradicted=True)


def _contradicted_held(claims: Sequence[Claim], doubts: Sequence[Doubt], settings: VerificationSettings) -> list[Claim]:
    """The claims, requiring verification and less sure where their own sentences say otherwise: a second conversation
    in which a model errs alike verifies one, and does not make it sure."""
    held = set(chain.from_iterable(doubt.claims for doubt in doubts if doubt.is_contradicted))
    return [
        replace(claim, requires_verification=True, confidence=claim.confidence * settings.contradicted_factor)
        if n in held
        else claim
        for n, claim in enumerate(claims)
    ]


def _weighed(claims: Sequence[Claim], doubts: Sequence[Doubt], factor: float) -> list[Claim]:
    """The claims without those refused; those that are doubted or whose ends are at `factor` of their confidence."""
    unsaid = set(chain.from_iterable(doubt.statements for doubt in doubts))
    claims = [replace(claim, statement=None) if n in unsaid else claim for n, claim in enumerate(claims)]
    refused = set(chain.from_iterable(doubt.claims for doubt in doubts if doubt.is_refused))
    doubted = set(chain.from_iterable(doubt.claims for doubt in doubts))
    names = set(chain.from_iterable(doubt.names for doubt in doubts))
    return [
        replace(claim, confidence=round(claim.confidence * factor, 6))
        if n in doubted or names.intersection(_ends(claim))
        else claim
        for n, claim in enumerate(claims)
        if n not in refused
    ]


def _often_refused(doubts: Iterable[Doubt], reading: Extraction, settings: VerificationSettings) -> Iterator[Doubt]:
    """Of a message of which several items were refused, doubts of all its claims."""
    n_refused = Counter(d.issue.turn_number for d in doubts if d.is_refused and d.issue.issue != REPEATED)
    for turn_number, n in n_refused.items():
        if n >= settings.n_refused_to_halve:
            claims = tuple(k for k, claim in enumerate(reading.claims) if claim.turn_number == turn_number)
            yield Doubt(_issue(turn_number, "many_refused", f"{n} items of this message were refused"), claims=claims)


def _doubts(reading: Extraction, segment: Segment, settings: VerificationSettings) -> Iterator[Doubt]:
    talk = _Talk(segment)
    in_use = {end for claim in reading.claims for end in _ends(claim)}
    unspoken = list(_unspoken(reading.mentions, talk, in_use))
    yield from unspoken
    yield from _too_many(reading.mentions, talk, settings)
    gone = set(chain.from_iterable(doubt.mentions for doubt in unspoken))
    mentioned = {(m.turn_number, m.name) for n, m in enumerate(reading.mentions) if n not in gone}
    seen: set[tuple[object, ...]] = set()
    for n, claim in enumerate(reading.claims):
        said = (claim.subject, claim.relation, claim.object, claim.value, claim.attribute, claim.polarity)
        key = (claim.act, claim.turn_number, *said)
        if (unfit := _unfit(claim, talk, mentioned)) is not None:
            yield Doubt(_issue(claim.turn_number, *unfit, n, is_refused=True), claims=(n,), is_refused=True)
        elif key in seen:
            repeated = _issue(claim.turn_number, REPEATED, "the same relation again in the same message", n)
            yield Doubt(replace(repeated, severity="info"), claims=(n,), is_refused=True)
        elif _is_overconfident(claim, talk.turns[claim.turn_number], settings):
            detail = f"confidence {claim.confidence:g} on a hedged clause"
            yield Doubt(_issue(claim.turn_number, "confidence_anomaly", detail, n), claims=(n,))
        if claim.statement is not None and not talk.states(claim.statement, claim):
            detail = "what the turn does not say; the claim stays"
            yield Doubt(_issue(claim.turn_number, "unsupported_statement", detail, n), statements=(n,))
        seen.add(key)


def _issue(turn_number: int, issue: str, detail: str, number: int = 0, *, is_refused: bool = False) -> Issue:
    severity = "error" if is_refused else "warning"
    return Issue(turn_number, issue, HALLUCINATION, severity, f"{detail} (item {number})")


class _Talk:
    """What was said in a segment and before it."""

    def __init__(self, segment: Segment) -> None:
        self.segment = segment
        self.turns = {turn.turn_number: turn for turn in segment.turns}
        self._all = (*segment.context, *segment.turns)
        self._places = {turn.turn_number: n for n, turn in enumerate(self._all)}

    @cached_property
    def participants(self) -> frozenset[str]:
        """Everybody who speaks, by name."""
        return frozenset(turn.subject for turn in self._all if turn.subject)

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        """All that was said, and by whom."""
        return (*(turn.text for turn in self._all), *self.participants)

    def is_in_segment(self, name: str) -> bool:
        return any(find_span(name, turn.text) for turn in self.segment.turns)

    def is_in_context(self, name: str) -> bool:
        return any(find_span(name, turn.text) for turn in self.segment.context)

    def says(self, phrase: str, turn_number: int) -> bool:
        """Whether a turn says a phrase: as it stands there or anywhere around it, or in other words."""
        if phrase in {USER, self.turns[turn_number].subject} or phrase in self.participants:
            return True
        if (owner := owner_of(phrase)) and self.says(noun_of(phrase), turn_number):  # "Bea's brother" of "my brother"
            return self.says(owner, turn_number)
        if find_span(phrase, self.turns[turn_number].text) or self.is_in_segment(phrase) or self.is_in_context(phrase):
            return True
        return is_supported(phrase, self._said(turn_number))

    def states(self, statement: str, claim: Claim) -> bool:
        """Whether the turn of a claim says a statement of it."""
        return is_stated(statement, claim, self._near(claim.turn_number), self._said(claim.turn_number))

    def has_words_for(self, claim: Claim) -> bool:
        """Whether the turn of a claim, or one shortly before it, has words for an end of it besides who speaks."""
        told = (claim.subject, claim.object, None if claim.relation in DATED else claim.value)
        ends = [end for end in told if end and end not in {USER, *self.participants}]
        said = replace(self._said(claim.turn_number), anywhere=())
        return not ends or any(_is_near(end, said) for end in ends) or self.grounds(claim, ends)

    def grounds(self, claim: Claim, unsaid: Sequence[str]) -> bool:
        """Whether the statement of a claim shows what its ends mean that no turn words so."""
        return grounds_ends(claim, unsaid, self._near(claim.turn_number), self._said(claim.turn_number))

    def _near(self, turn_number: int) -> tuple[Turn, ...]:
        """A turn and those shortly before it."""
        place = self._places[turn_number]
        return self._all[max(0, place - N_EARLIER) : place + 1]

    def _said(self, turn_number: int) -> Said:
        """What was said in a turn and shortly before it, and all around it."""
        near = [turn.text for turn in self._near(turn_number)]
        return Said(near, self._texts, self.turns[turn_number].language)


def _is_near(name: str, said: Said) -> bool:
    return any(is_supported(word, said) for word in [w for w in name.split() if content_stems(w)] or [name])


def _unspoken(mentions: Iterable[Mention], talk: _Talk, in_use: set[tuple[int, str]]) -> Iterator[Doubt]:
    """Explicit names that stand in no turn of the segment: span, template_leak or context_bleed."""
    for n, mention in enumerate(mentions):
        name = (mention.turn_number, name_key(mention.name))
        why = _why_unspoken(mention, talk, is_used=name in in_use) if mention.is_explicit else None
        if why is not None:
            yield Doubt(_issue(mention.turn_number, *why, n, is_refused=True), mentions=(n,), is_refused=True)


def _why_unspoken(mention: Mention, talk: _Talk, *, is_used: bool) -> tuple[str, str] | None:
    """Issue and detail of a name that nobody says; None where somebody does, in these words or others."""
    here = talk.turns[mention.turn_number].text[mention.start : mention.end]
    if here == mention.name or (here and find_span(mention.name, here)) or talk.is_in_segment(mention.name):
        return None
    if mention.name in TEMPLATE_NAMES or _PLACEHOLDER.match(mention.name):
        return "template_leak", "a name out of the prompt or a placeholder"
    if talk.is_in_context(mention.name):  # a pronoun of the turn may stand for it
        return None if is_used else ("context_bleed", "a new entity that stands in earlier turns alone")
    if (here and name_key(here) == name_key(mention.name)) or talk.says(mention.name, mention.turn_number):
        return None
    return "span", "an explicit name that stands nowhere"


def _too_many(mentions: Iterable[Mention], talk: _Talk, settings: VerificationSettings) -> Iterator[Doubt]:
    """More entities in a message than half its words."""
    of_turn: dict[int, set[str]] = {}
    for mention in mentions:
        of_turn.setdefault(mention.turn_number, set()).add(name_key(mention.name))
    for turn_number, names in of_turn.items():
        if len(names) * 2 <= settings.min_counted_words:
            continue
        n_words = len(_WORD.findall(talk.turns[turn_number].text))
        if n_words >= settings.min_counted_words and len(names) * 2 > n_words:
            detail = f"{len(names)} entities in {n_words} words"
            yield Doubt(_issue(turn_number, "count", detail), names=tuple((turn_number, name) for name in names))


def _unfit(claim: Claim, talk: _Talk, mentioned: set[tuple[int, str]]) -> tuple[str, str] | None:
    """Why a claim cannot be stored, as issue and detail; None where it can."""
    if claim.relation not in RELATIONS:
        return "out_of_vocabulary", "a relation that is not in the vocabulary"
    if (claim.object is None) == (claim.value is None):
        return "orphan_relation", "needs an object or a value, and not both"
    keys = [name_key(name) for name in _end_names(claim)]
    if not all(keys):
        return "orphan_relation", "an end has no name"
    if len(keys) > 1 and keys[0] == keys[1]:
        return "orphan_relation", "says something of a thing and itself"
    ends = [name for name in _end_names(claim) if (claim.turn_number, name) not in mentioned]
    return _unsaid(claim, talk, [*ends, *_literals(claim)])


def _unsaid(claim: Claim, talk: _Talk, ends: Sequence[str]) -> tuple[str, str] | None:
    unsaid = [end for end in ends if not talk.says(end, claim.turn_number)]
    if unsaid and not talk.grounds(claim, unsaid):
        return "orphan_relation", "an end that no turn says"
    is_by_model = claim.pattern_id is None and claim.act is Act.ASSERT
    if is_by_model and not talk.has_words_for(claim):
        return "orphan_relation", "its turn and those before it have no word for either end"
    return None


def _literals(claim: Claim) -> list[str]:
    """What a claim says in words that have to stand somewhere: a pattern takes them from the text, and of a date only
    its words can be looked for, which `em_pipelines.extraction.llm.grounding` has."""
    is_free = claim.value is not None and claim.pattern_id is None and claim.relation not in DATED
    return [claim.value] if is_free and claim.value else []


def _is_overconfident(claim: Claim, turn: Turn, settings: VerificationSettings) -> bool:
    """Whether a clause says "maybe" or "I think" and the claim does not. What is taken back is never too sure."""
    if claim.act in {Act.RETRACT, Act.RETRACT_ALL}:
        return False
    if claim.confidence < settings.min_high_confidence or claim.hedge_level is not HedgeLevel.NONE:
        return False
    before = [m.end() for m in _CLAUSE_END.finditer(turn.text, 0, claim.start)]
    clause = turn.text[before[-1] if before else 0 : claim.end]
    return bool(_HEDGES.search(clause.replace("’", "'")))


def _end_names(claim: Claim) -> list[str]:
    return [claim.subject] if claim.object is None else [claim.subject, claim.object]


def _ends(claim: Claim) -> set[tuple[int, str]]:
    return {(claim.turn_number, name_key(name)) for name in _end_names(claim)}


def _hedges() -> re.Pattern[str]:
    """Words that weaken whatever follows them. "may" is left out for the month, verbs for what else they mean."""
    listed = english.listed("hedges")
    phrases = {phrase.strip() for level in ("moderate", "strong") for phrase in listed[level]}
    longest_first = sorted(phrases - {"may", "likely", "seem"}, key=lambda p: (-len(p), p))
    return re.compile(rf"(?<![\w'])(?:{'|'.join(re.escape(p) for p in longest_first)})(?![\w'])", re.IGNORECASE)


_HEDGES = _hedges()


def worded(reading: Extraction, seen: Segment) -> Extraction:
    """The reading with the clause of the turn as statement of every claim that came without one, but for those whose
    sentence says something private: of half a sentence nothing is quoted."""
    turns = {turn.turn_number: turn for turn in seen.turns}
    return replace(
        reading,
        claims=[
            claim if claim.statement else replace(claim, statement=_clause(turns[claim.turn_number], claim, reading))
            for claim in reading.claims
        ],
    )


def _clause(turn: Turn, claim: Claim, reading: Extraction) -> str | None:
    """The clause around a claim; its own words where a claim of another thing goes on from it, to which the rest of the
    clause belongs."""
    text = turn.text
    if _is_beside_private(turn, sentences_around(text, claim.start, claim.end)):
        return None
    own = text[claim.start : claim.end]
    goes_on = any(
        other.turn_number == claim.turn_number
        and other.start < claim.end < other.end
        and (other.subject, other.relation) != (claim.subject, claim.relation)
        for other in reading.claims
    )
    if goes_on and own.count(" ") >= MIN_BLANKS_OF_A_CLAUSE:
        text, start, end = own, 0, len(own)
    else:
        start, end = claim.start, claim.end
    return clause_around(text, start, end, MAX_STATEMENT_CHARACTERS) or None


def _is_beside_private(turn: Turn, sentence: Span) -> bool:
    """Whether the guard withholds something private of a sentence, or a secret."""
    private = [(one.span_start, one.span_end) for one in turn.withheld or () if one.issue.endswith(PRIVATE)]
    return overlaps(sentence, private)


def unconfirmed_held(reading: Extraction, segment: Segment) -> Extraction:
    """The reading with claims of identity and authority requiring verification where they were read in a document or
    behind a label, and not in a sentence of the first person. Imported notes, which are reviewed anyway, are exempt."""
    turns = {turn.turn_number: turn for turn in segment.turns if turn.note_privacy is None}
    claims = [
        replace(claim, requires_verification=True)
        if claim.turn_number in turns and _is_held(claim, turns[claim.turn_number])
        else claim
        for claim in reading.claims
    ]
    return replace(reading, claims=claims) if claims != reading.claims else reading


def _is_held(claim: Claim, turn: Turn) -> bool:
    if claim.relation not in AUTHORITY and not (claim.relation in IDENTITY and claim.subject == USER):
        return False
    clause = clause_around(turn.text, claim.start, claim.end, MAX_CLAUSE_CHARACTERS)
    if _OWN_SENTENCE.search(clause):
        return False
    return _LABELLED.match(clause) is not None or has_pasted_block(turn.text)
