"""Who somebody is, in a few lines: name, home, work and family; and what was said lately. For session starts."""

from collections.abc import Iterator
from datetime import date, timedelta

import numpy as np

from em_pipelines.retrieval.context.known_facts import Fact, Flags, Known
from em_pipelines.retrieval.context.settings import ContextSettings
from em_pipelines.schema.vocabulary import INVERSES, SYMMETRIC, USER, PrivacyLevel

PERSONAL = frozenset({PrivacyLevel.PUBLIC.value, PrivacyLevel.GENERIC.value, PrivacyLevel.PERSONAL.value})
"""Nothing above is told unasked: what identifies somebody waits for a question."""
PLAIN, LIKELY = 0.85, 0.60
"""The bands of `em prompt`: told plainly from the first on, as likely from the second, as a guess below."""
TOGETHER = 6
"""Names in a line: a class of thirty pupils is no family."""
LATELY_DAYS = 7
N_LATELY = 5
IS_CALLED = "has_name"
ABOUT = (
    IS_CALLED, "lives_in", "works_as", "works_at", "studies", "studies_at", "spouse_of", "partner_of", "parent_of",
    "child_of", "sibling_of", "has_pet",
)  # fmt: skip
"""Relations that say who somebody is, in the order in which they are told."""
HABITS = ("prefers", "follows", "speaks", "dislikes")
"""Relations that say how somebody wants things to be."""
_OTHER_WAY = {**INVERSES, **{inverse: one for one, inverse in INVERSES.items()}, **{one: one for one in SYMMETRIC}}


def hedged(text: str, confidence: float) -> str:
    """A text with the word that its confidence asks for before it."""
    return text if confidence >= PLAIN else f"probably {text}" if confidence >= LIKELY else f"perhaps {text}"


def who(found: Known, _: date, settings: ContextSettings) -> Iterator[str]:
    """A line a relation, with everybody or everything that it holds of: `user parent of Freja, probably Nils`."""
    told: dict[str, dict[str, float]] = {relation: {} for relation in ABOUT}
    for n in np.flatnonzero(standing(found, settings) & found.holds("relation", [*ABOUT, *_OTHER_WAY])).tolist():
        fact = found.fact(n)
        relation, other = _seen_from_user(fact)
        if relation in told:
            told[relation].setdefault(other, fact.confidence)
    for relation, others in told.items():
        if others:
            names = [hedged(name, confidence) for name, confidence in [*others.items()][:TOGETHER]]
            yield f"user {relation.replace('_', ' ')} {', '.join(names)}"


def lately(found: Known, today: date, settings: ContextSettings) -> Iterator[str]:
    """What was said within the last days and is told in no other part, the newest first."""
    since = (today - timedelta(days=LATELY_DAYS)).toordinal()
    is_own = found.holds("subject", [USER]) | found.holds("object", [USER])
    is_elsewhere = (is_own & found.holds("relation", [*ABOUT, *HABITS])) | found.holds("temporal_type", ["plan"])
    numbers = np.flatnonzero(standing(found, settings) & (found.last_said > since) & ~is_elsewhere)
    for n in numbers[np.argsort(-found.last_said[numbers], kind="stable")][:N_LATELY].tolist():
        fact = found.fact(n)
        yield f"{fact.last_said_on}: {hedged(fact.sentence, fact.confidence)}"


def standing(found: Known, settings: ContextSettings, *, is_denied_too: bool = False) -> Flags:
    """Facts that are so, as far as is known: affirmed (or denied, where that is asked for), in conflict with nothing,
    sure enough to be told, and personal at most."""
    is_open = np.ones(len(found), bool)
    is_open[[*found.conflicts]] = False
    is_sure = found.confidence >= settings.min_confidence
    stands = found.holds("status", ["active"]) & found.holds("privacy_level", PERSONAL)
    return is_open & is_sure & (found.is_affirmed | is_denied_too) & stands


def _seen_from_user(fact: Fact) -> tuple[str, str]:
    """The relation with the user as its subject, and what stands at the other end; empty where the user is at none."""
    if fact.subject == USER:
        return fact.relation, fact.object
    return (_OTHER_WAY.get(fact.relation, ""), fact.subject) if fact.object == USER else ("", "")
