"""What a comparison of two names comes to, and how surely each way of comparing makes them one.

The scores rank the ways among each other; `resolution.min_score` says which of them are good enough.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """`score` 0 to 1: how surely the names are one; 0 says that they cannot be, below any other evidence."""

    method: str
    score: float

    @property
    def is_conflict(self) -> bool:
        """The names are of two things."""
        return self.score == 0.0


CONFLICT = Verdict("conflict", 0.0)
UNLIKE = Verdict("unlike", 0.0)
"""Some words are the same, and each name has its own: two things, unless one of them has two such names."""
SPELLING = Verdict("spelling", 1.0)
KNOWN = Verdict("known", 0.98)
WORD_ORDER = Verdict("word_order", 0.96)
ACRONYM = Verdict("acronym", 0.95)
ABBREVIATION = Verdict("abbreviation", 0.92)
INITIALS = Verdict("initials", 0.92)
NICKNAME = Verdict("nickname", 0.88)
IN_FULL = 0.94
PART = Verdict("part", 0.9)
MODEL = Verdict("model", 0.88)
SHORT_FORM = Verdict("short_form", 0.86)

STRONG = frozenset({"spelling", "word_order", "known", "acronym", "abbreviation"})
"""They hold whatever else is known of the bearers."""
WEAK = frozenset({"nickname", "short_form", "similarity"})
"""They may be a namesake's as well."""
FAMILIAR = frozenset({"nickname", "short_form"})
