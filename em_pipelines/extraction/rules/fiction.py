"""Role-play, fiction and thought experiments: from where they begin, nothing is stated of anybody.

They end with the message, or where the writer says so (`anyway`, `in real life`, `it's for …`).
"""

from itertools import pairwise

from em_pipelines.extraction.rules.clause import Clause
from em_pipelines.extraction.rules.cues import Cue
from em_pipelines.extraction.rules.modifiers import Modifiers
from em_pipelines.extraction.rules.tokens import Token


class Fiction:
    """Whether the sentences read so far have begun one that goes on."""

    def __init__(self, cues: list[Cue]) -> None:
        self._begins = [cue.start for cue in cues if cue.tag == "fiction"]
        self._ends = [cue.start for cue in cues if cue.tag == "reality"]
        self._is_on = False

    def mark(
        self, tokens: list[Token], start: int, stop: int, clauses: list[Clause], modifiers: list[Modifiers]
    ) -> None:
        """Supposes the clauses of the next sentence, from the cue on, while the fiction goes on."""
        if not self._is_on and not self._begins and not _casts_roles(tokens, clauses):
            return
        begun = [at for at in self._begins if start <= at < stop]
        ended = [at for at in self._ends if start <= at < stop]
        if self._is_on and ended:
            self._is_on = False
        since = 0 if self._is_on else begun[0] if begun else start if _casts_roles(tokens, clauses) else None
        if since is None:
            return
        self._is_on = True
        for clause, mods in zip(clauses, modifiers, strict=True):
            if clause.verb.end > since:
                mods.is_supposed = True


def _casts_roles(tokens: list[Token], clauses: list[Clause]) -> bool:
    """`You are a pirate and I'm your first mate`."""
    for clause, following in pairwise(clauses):
        if clause.pronoun is None or following.pronoun is None or clause.verb.is_inverted:
            continue
        who = tokens[clause.pronoun].low, tokens[following.pronoun].low
        both_are = "be" in clause.verb.lemmas and "be" in following.verb.lemmas
        as_what = {token.low for token in tokens[clause.verb.end : clause.verb.end + 1]}
        joined = tokens[following.lead - 1].low == "and"
        if both_are and joined and who in {("you", "i"), ("i", "you")} and as_what & {"a", "an", "my", "the"}:
            return True
    return False
