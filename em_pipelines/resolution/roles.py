"""Roles that one person fills: "my wife Lena", "Lena, my wife", "my wife, Lena" name the same one twice."""

import re

UNIQUE_ROLES = frozenset(
    {
        "wife", "husband", "spouse", "partner", "girlfriend", "boyfriend", "fiancé", "fiancée", "fiance", "fiancee",
        "mother", "mum", "mom", "father", "dad", "boss", "manager", "landlord", "landlady",
    }
)  # fmt: skip
"""Sisters, friends and colleagues are not here: there may be several, and the bare word does not say which."""

_ROLE = "|".join(sorted(UNIQUE_ROLES, key=len, reverse=True))
_BEFORE = re.compile(rf"\bmy ({_ROLE}),? $", re.IGNORECASE)
_AFTER = re.compile(rf"^,? (?:(?:is|who is|who's) )?my ({_ROLE})\b", re.IGNORECASE)
_WINDOW = 24  # longer than any role with what stands around it


def unique_role(text: str, start: int, end: int) -> str | None:
    """The role by which the name at text[start:end] is also given right beside it, or None."""
    found = _BEFORE.search(text[max(0, start - _WINDOW) : start]) or _AFTER.match(text[end : end + _WINDOW])
    return found.group(1).lower() if found else None
