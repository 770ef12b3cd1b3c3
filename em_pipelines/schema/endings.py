"""What ends what: the facts that are over when somebody has died, retired or divorced. One table, for all extractors.

An attribute that says how somebody's life stands ends facts of the present. What ended keeps its end date and is
history; what lasts (kinship, birth, names, where somebody studied, what they made or did) stays as it is.
"""

import re

from em_pipelines.schema.vocabulary import RELATIONS_BY_GROUP

_OF_THE_LIVING = (
    *RELATIONS_BY_GROUP["preference"],
    *RELATIONS_BY_GROUP["intent"],
    *RELATIONS_BY_GROUP["possession"],
    *RELATIONS_BY_GROUP["opinion"],
    *RELATIONS_BY_GROUP["health"],
    "has_age",
    "follows",
    "spouse_of",
    "partner_of",
    "friend_of",
    "colleague_of",
    "manages",
    "reports_to",
    "works_at",
    "works_as",
    "works_on",
    "studies",
    "studies_at",
    "member_of",
    "lives_in",
    "located_in",
)
ENDED_BY: dict[str, tuple[str, ...]] = {
    "deceased": _OF_THE_LIVING,
    "divorced": ("spouse_of",),
    "widowed": ("spouse_of",),
    "retired": ("works_at", "works_as", "works_on", "manages", "reports_to"),
}
"""A status to the relations that are over with it, on whichever side its bearer stands. A death does not end kinship,
birth, names, languages and what somebody is, made, did or visited; nor `knows`, which is kinship for an uncle."""

STATUS_KEYS = frozenset(
    {
        "status",
        "life status",
        "vital status",
        "marital status",
        "relationship status",
        "employment status",
        "work status",
    }
)
"""Attribute keys under which a status stands."""
SAME_STATUS = {"dead": "deceased", "died": "deceased", "passed away": "deceased", "late": "deceased"}
"""Other words for a status."""

ENDED_TOGETHER = {"spouse_of": "partner_of", "partner_of": "spouse_of"}
"""Who says that they are no couple any more ends the one as the other, whichever it was."""


FAVOURITE = re.compile(r"(?i)favou?rite ")
"""Begin of the key of an attribute that says what somebody likes best of a kind: one of a kind, and the liking that was
known by it alone ends with it."""


def status_of(attribute: str | None, value: str | None) -> str | None:
    """The status in ENDED_BY that an attribute and its value say; None where they say none."""
    if (attribute or "").casefold() not in STATUS_KEYS:
        return None
    said = (value or "").strip().casefold()
    status = SAME_STATUS.get(said, said)
    return status if status in ENDED_BY else None
