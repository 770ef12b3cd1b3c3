"""What tells namesakes apart: roles ("sister"), roles to others ("mother of katya"), whose a role is ("of katya"), and
where somebody is from ("at reception"). Kept as plain words in `qualifiers`."""

from collections.abc import Iterable

from em_pipelines.resolution.lexicon import roles
from em_pipelines.resolution.naming import head_role

AT = "at "
OF = "of "


def as_qualifier(role: str, owner: str) -> str:
    """A role as it is kept."""
    return f"{role} {OF}{owner}" if owner else role


def owner_in(qualifiers: Iterable[str]) -> str:
    """Whose role a role's own row is; empty for the remembered person's."""
    return next((q.removeprefix(OF) for q in qualifiers if q.startswith(OF)), "")


def are_partners(one: str, other: str) -> bool:
    """Whether two roles are steps of one love: fiancée and wife."""
    return any(head_role(one) in group and head_role(other) in group for group in roles().partners)


def is_same_role(one: str, other: str) -> bool:
    """Whether two roles can be one person's without saying more of one than of the other: brother, older brother."""
    if one == other:
        return True
    a, b = one.split(), other.split()
    if len(a) > 1 and len(b) > 1:
        return False
    telling = a[:-1] + b[:-1]
    if any(word.startswith("ex") or word in ("former", "late", "old", "new", "other", "previous") for word in telling):
        return False
    if any(word.startswith("ex-") for word in a + b):
        return False
    return head_role(one) == head_role(other) or (not telling and are_partners(one, other))


def clash(one: Iterable[str], other: Iterable[str]) -> bool:
    """Whether two sets of qualifiers are those of two people: a sister is no mother, and not the one at reception."""
    left, right = set(one), set(other)
    places = {q for q in left if q.startswith(AT)}, {q for q in right if q.startswith(AT)}
    if places[0] and places[1] and not places[0] & places[1]:
        return True
    kin = _kin(left), _kin(right)
    if (kin[0] and places[1]) or (kin[1] and places[0]):
        return True
    if kin[0] and kin[1]:
        return not any(is_same_role(a, b) for a in kin[0] for b in kin[1])
    return bool((kin[0] and _others(right)) or (kin[1] and _others(left)))


def has_kin(qualifiers: Iterable[str]) -> bool:
    """Whether the bearer is family of the remembered person."""
    return bool(_kin(set(qualifiers)))


def _kin(qualifiers: set[str]) -> set[str]:
    return {q for q in qualifiers if roles().kind.get(head_role(q)) == "kin" and f" {OF}" not in q}


def _others(qualifiers: set[str]) -> set[str]:
    return {q for q in qualifiers if roles().kind.get(head_role(q)) in ("social", "professional") and f" {OF}" not in q}
