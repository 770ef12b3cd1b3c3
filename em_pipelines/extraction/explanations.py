"""What an explanation tells of one text: its sentences, tokens and clauses, what was tried, and what came of it."""

from dataclasses import dataclass

from em_pipelines.schema.readings import Claim, Issue, Mention


@dataclass(frozen=True, slots=True)
class TokenSeen:
    """A token, its word classes, and the verbs that it may be a form of."""

    text: str
    classes: tuple[str, ...]
    verbs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PatternTried:
    """A pattern on a clause. `why_not` is None where it matched; `n_claims` came of it then."""

    pattern_id: str
    frame: str
    why_not: str | None
    subjects: tuple[str, ...]
    slots: dict[str, tuple[str, ...]]
    n_claims: int


@dataclass(frozen=True, slots=True)
class ClauseSeen:
    """A clause, its parts in its own words, and the patterns tried on it; `passed_over` says why none was."""

    subject: str
    verb: str
    lemmas: tuple[str, ...]
    verb_signs: tuple[str, ...]
    complement: str
    meant: tuple[str, ...]
    passed_over: str | None
    patterns: tuple[PatternTried, ...]


@dataclass(frozen=True, slots=True)
class ClaimJudged:
    """A claim as it was read, and what became of it: kept (with what confidence), or dropped by whom."""

    claim: Claim
    verdict: str
    confidence: float | None


@dataclass(frozen=True, slots=True)
class SentenceSeen:
    """A sentence, how probably it is worth keeping (0 to 1), and the kind of observation; None where it is none.
    `left_out` says why it makes none although it is worth keeping."""

    text: str
    confidence: float
    kind: str | None
    left_out: str | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that was done with one text, in order; secrets in it are masked.

    `guarded` is what the guard lets an extractor see. `outcome` says in a sentence what came of it, or why nothing.
    """

    text: str
    guarded: str
    sentences: tuple[SentenceSeen, ...]
    tokens: tuple[TokenSeen, ...]
    clauses: tuple[ClauseSeen, ...]
    claims: tuple[ClaimJudged, ...]
    mentions: tuple[Mention, ...]
    reader_issues: tuple[Issue, ...]
    guard_issues: tuple[Issue, ...]
    verification_issues: tuple[Issue, ...]
    outcome: str
