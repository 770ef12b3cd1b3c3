"""Claims of identity and authority that are held until a person confirms them in a plain sentence.

"Name: Vic Long" and "Dana manages the finance team" in a message that reads like a document may be anybody's words.
Such a claim requires verification: it is kept, never surfaced, and supersedes no fact. The same statement in a plain
sentence, in the same conversation or in another, is a claim of its own and is surfaced.
"""

import re
from dataclasses import replace

from em_pipelines.schema.readings import Claim, Extraction, Segment, Turn
from em_pipelines.schema.vocabulary import USER
from em_pipelines.text.guard.passages import clause_around, has_pasted_block

IDENTITY = frozenset({"has_name", "works_as"})
"""Held where they are of the speaker."""
AUTHORITY = frozenset({"manages", "reports_to"})
"""Held whoever they are of."""
_OWN_SENTENCE = re.compile(r"(?i)(?<![\w'])(?:i|i'm|i’m|im|my|me|we|our)(?![\w])")
_LABELLED = re.compile(r"[^\s:][^\n:]{0,40}:\s")
MAX_CLAUSE_CHARACTERS = 400


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
