"""What a turn states only together with the turns before it: answers, take-ups, corrections and retractions."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from em_pipelines.extraction.model import Claim, Turn
from em_pipelines.extraction.rules.acceptance import in_own_words
from em_pipelines.extraction.rules.corrections import corrected, may_correct

_FAR_BACK = 8
"""Turns in which a corrected fact is looked for."""
_LONGEST = 400
"""Characters of a turn that can be an answer or a correction."""


def claims_in_dialogue(turn: Turn, earlier: Sequence[Turn], read: Callable[[Turn], list[Claim]]) -> list[Claim]:
    """The claims of a turn after `earlier` ones of its session; `read` gives those of a turn by itself.

    Their spans are the whole turn where the words of the fact stand in another.
    """
    if not earlier or turn.subject is None or len(turn.text) > _LONGEST:
        return []
    found: list[Claim] = []
    before = earlier[-1]
    if before.subject != turn.subject and before.role in {"assistant", "user"}:
        for sentence in in_own_words(before.text, turn.text):
            told = read(replace(turn, text=sentence))
            found += [replace(claim, start=0, end=len(turn.text)) for claim in told]
    if may_correct(turn.text):
        own = [other for other in earlier[-_FAR_BACK:] if other.subject == turn.subject]
        said = [claim for other in own for claim in read(other)]
        found += corrected(turn.text, said, turn.turn_number)
    return found


def with_new(claims: list[Claim], together: list[Claim]) -> list[Claim]:
    """The claims of a turn by itself and those together with others: each once, and nothing against a correction."""

    def fact(claim: Claim) -> tuple[str, ...]:
        end = claim.object or claim.value or ""
        return claim.subject, claim.relation, end.casefold(), claim.attribute or ""

    known = {fact(claim) for claim in together}
    return [claim for claim in claims if fact(claim) not in known] + together
