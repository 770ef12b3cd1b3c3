"""Corrections of what was said before: `it's 47, not 46`, `I meant Graz`.

They name the old fact only in part, so it is looked up among the claims of the speaker's earlier turns. Where it is not
there, or could be several, nothing is corrected.
"""

import re
from dataclasses import replace

from em_pipelines.extraction.confidence import initial_confidence
from em_pipelines.extraction.model import Claim
from em_pipelines.extraction.rules.entity_types import EXPECTED_OBJECT, guess_type
from em_pipelines.vocabulary import FUNCTIONAL, HedgeLevel, Mechanism

_WORDS = r"((?:the |a |an )?[\w'+-]+(?: [\w'+-]+){0,3}?)"
_IS = r"(?:it's|its|it is|it was|that's|that is|should be|make that|i meant|i mean|her name is|his name is|is)"
_STOP = r"(?=[,.;!\n]|$)"
_NEW_NOT_OLD = re.compile(rf"(?i)(?:^|[,.;!:] ?)\W{{0,3}}{_IS} {_WORDS},? (?:and )?not {_WORDS}{_STOP}")
_NOT_OLD_NEW = re.compile(rf"(?i)^\W{{0,3}}(?:[a-z]+,? ){{0,2}}?not {_WORDS}(?:,| but|, but|, it's|;) {_WORDS}{_STOP}")
_MEANT = re.compile(rf"(?i)^\W{{0,3}}(?:(?:sorry|oops|ah|no|wait|typo)\b[,:]? ?){{0,2}}i meant {_WORDS}{_STOP}")
_DETERMINER = re.compile(r"(?i)^(?:the|a|an|my|our) ")
_HINTS = re.compile(r"(?i)\b(?:not|meant)\b")
"""One of these words stands in every correction."""
_HINT_WORDS = _HINTS.pattern[len(r"(?i)\b(?:") : -len(r")\b")].split("|")
PATTERN_ID = "correction.earlier"


def may_correct(text: str) -> bool:
    """Whether it is worth looking at what was said before."""
    low = text.lower()
    if text.isascii() and not any(hint in low for hint in _HINT_WORDS):
        return False
    if _HINTS.search(text) is None:
        return False
    straight = text.replace("’", "'")
    return any(p.search(straight) for p in (_NEW_NOT_OLD, _NOT_OLD_NEW, _MEANT))


def corrected(text: str, earlier: list[Claim], turn_number: int) -> list[Claim]:
    """The claims that a turn makes by correcting `earlier` ones, newest last: the new with the end of its old."""
    straight = text.replace("’", "'")
    for pattern, is_new_first in ((_NEW_NOT_OLD, True), (_NOT_OLD_NEW, False)):
        if (match := pattern.search(straight)) is not None:
            new, old = match.groups() if is_new_first else match.groups()[::-1]
            return _replaced([c for c in earlier if _same(_end(c), old)], new, turn_number, match.span())
    if (match := _MEANT.search(straight)) is not None:
        alike = [c for c in earlier if _shape(_end(c)) == _shape(match[1])]
        return _replaced(alike if len(alike) == 1 else [], match[1], turn_number, match.span())
    return []


def _replaced(old: list[Claim], new: str, turn_number: int, span: tuple[int, int]) -> list[Claim]:
    if not old:
        return []
    before = old[-1]
    name = _DETERMINER.sub("", new)
    now = _restated(before, turn_number, span)
    if before.value is not None:
        return [replace(now, value=name)]
    kind = guess_type(name, EXPECTED_OBJECT.get(before.relation)) if before.object_type is None else before.object_type
    now = replace(now, object=name, object_type=kind)
    return [now] if before.relation in FUNCTIONAL else [now, _ended(before, turn_number, span)]


def _ended(claim: Claim, turn_number: int, span: tuple[int, int]) -> Claim:
    restated = _restated(claim, turn_number, span)
    return replace(restated, polarity=-claim.polarity, valid_from=None, valid_precision=None)


def _restated(claim: Claim, turn_number: int, span: tuple[int, int]) -> Claim:
    return replace(
        claim,
        turn_number=turn_number,
        start=span[0],
        end=span[1],
        flags=(),
        hedge_level=HedgeLevel.NONE,
        confidence=initial_confidence(Mechanism.USER_CORRECTION, HedgeLevel.NONE),
        source_mechanism=Mechanism.USER_CORRECTION,
        pattern_id=PATTERN_ID,
    )


def _end(claim: Claim) -> str:
    return claim.object or claim.value or ""


def _same(one: str, other: str) -> bool:
    return _DETERMINER.sub("", one).casefold() == _DETERMINER.sub("", other).casefold()


def _shape(text: str) -> tuple[bool, bool]:
    bare = _DETERMINER.sub("", text)
    return bare.isdigit(), bare[:1].isupper()
