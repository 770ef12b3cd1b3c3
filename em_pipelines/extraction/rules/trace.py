"""What the reader did with one message, kept for whoever asks why: its clauses, the frames tried on them, the matches.

The reader tells a trace only where it is given one. A trace takes notes and decides nothing; `explaining` words it.
"""

from dataclasses import dataclass, field

from em_pipelines.extraction.rules.matching import Match, Misfit
from em_pipelines.extraction.rules.message import Sentence
from em_pipelines.extraction.rules.modifiers import Modifiers
from em_pipelines.extraction.rules.names import Reading
from em_pipelines.extraction.rules.patterns import Pattern
from em_pipelines.language.en.clauses import Clause


@dataclass(frozen=True, slots=True)
class Attempt:
    """A pattern that was tried on a clause: the match, or why it is none, and how many claims came of it."""

    pattern: Pattern
    result: Match | Misfit
    n_claims: int


@dataclass(slots=True)
class ClauseTrace:
    """One clause: why it was passed over, or the patterns tried on it, in order."""

    clause: Clause
    mods: Modifiers
    passed_over: Misfit | None
    attempts: list[Attempt] = field(default_factory=list)


@dataclass(slots=True)
class Trace:
    """One message: its tokens, sentences and clauses. `reading` is None where the message was never read."""

    reading: Reading | None = None
    sentences: list[Sentence] = field(default_factory=list)
    clauses: list[ClauseTrace] = field(default_factory=list)

    def begin(self, reading: Reading, sentences: list[Sentence]) -> None:
        """The message came apart; no clause has been read."""
        self.reading, self.sentences = reading, sentences

    def open(self, clause: Clause, mods: Modifiers, passed_over: Misfit | None) -> None:
        """The reader turns to a clause."""
        self.clauses.append(ClauseTrace(clause, mods, passed_over))

    def consider(self, candidates: list[Pattern], allowed: list[Pattern]) -> None:
        """Of all patterns for the verb, those that its tense, modal verb and adverbs allow will be tried."""
        kept = {id(pattern) for pattern in allowed}
        refused = [pattern for pattern in candidates if id(pattern) not in kept]
        self.clauses[-1].attempts += [Attempt(pattern, Misfit.VERB, 0) for pattern in refused]

    def tried(self, pattern: Pattern, result: Match | Misfit, n_claims: int) -> None:
        """A pattern was tried on the clause that was opened last."""
        self.clauses[-1].attempts.append(Attempt(pattern, result, n_claims))
