"""What speaks against joining two groups, however well one name of theirs fits another."""

from collections.abc import Iterable
from typing import Any

from em_pipelines.resolution.judging import judge
from em_pipelines.resolution.kinds import is_one_under_one_name, is_same_kind
from em_pipelines.resolution.lexicon import is_given_name, roles
from em_pipelines.resolution.naming import Name, head_role
from em_pipelines.resolution.qualifiers import clash, has_kin, is_same_role
from em_pipelines.resolution.state import Registry, parsed
from em_pipelines.resolution.verdicts import FAMILIAR, STRONG, UNLIKE, WEAK, Verdict

Row = dict[str, Any]


def is_open(registry: Registry, row: Row, other: Row, verdict: Verdict) -> bool:
    """Whether nothing known of the two groups speaks against joining them."""
    own, theirs = registry.group(row), registry.group(other)
    apart = {name for member in own for name in member["distinct_from"]}
    if any(member["entity_id"] in apart for member in theirs) or is_kept_apart(registry, own, theirs):
        return False
    if clash(qualifiers_of(own), qualifiers_of(theirs)) or _is_family_in_full(own, theirs, verdict):
        return False
    if (verdict.method in WEAK or verdict.method == "part") and _are_of_other_roles(own, theirs):
        return False
    if len(own) == 1 and _is_lone_part(parsed(row), parsed(other), verdict):
        return True
    return not any(_is_contrary(registry, one, another, other, verdict) for one in own for another in theirs)


def _is_lone_part(name: Name, full: Name, verdict: Verdict) -> bool:
    """A lone surname of a full name: that its bearer is also called by another given name is no news."""
    if verdict.method != "part" or name.person is None or full.person is None:
        return False
    return not name.person.given and bool(full.person.given) and len(full.person.given) > 1


def _are_of_other_roles(own: list[Row], theirs: list[Row]) -> bool:
    """Whether both have roles, and none is that of the other: the flatmate Pieter is not the landlord Pietersen."""
    left, right = (
        {q for q in qualifiers_of(rows) if head_role(q) in roles().kind and " of " not in q} for rows in (own, theirs)
    )
    return bool(left and right) and not any(is_same_role(a, b) for a in left for b in right)


def is_kept_apart(registry: Registry, own: list[Row], theirs: list[Row]) -> bool:
    """Whether the alias file says that they are two things."""
    one = {id(registry.aliases[row["name_key"]]) for row in own if row["name_key"] in registry.aliases}
    two = {id(registry.aliases[row["name_key"]]) for row in theirs if row["name_key"] in registry.aliases}
    return bool(one and two and one != two)


def qualifiers_of(rows: Iterable[Row]) -> set[str]:
    """What the bearers of a group's names were said to be."""
    return {qualifier for row in rows for qualifier in row["qualifiers"] if not qualifier.startswith("of ")}


def _is_family_in_full(own: list[Row], theirs: list[Row], verdict: Verdict) -> bool:
    """Nobody calls a sister by her full name: Anna Kovacs is another Anna."""
    if verdict.method in STRONG:
        return False
    kin = has_kin(qualifiers_of(own)), has_kin(qualifiers_of(theirs))
    full = _is_any_full(own), _is_any_full(theirs)
    return (kin[0] and full[1] and not full[0]) or (kin[1] and full[0] and not full[1])


def _is_any_full(rows: list[Row]) -> bool:
    people = [parsed(row).person for row in rows]
    return any(
        person is not None and person.given and len(person.surname) > 1 and not is_given_name(person.surname)
        for person in people
    )


def _is_contrary(registry: Registry, one: Row, another: Row, matched: Row, fit: Verdict) -> bool:
    """Whether two names of the two groups cannot be one thing's.

    Who answers to two given names ("Kalle", "Karl-Henrik") may have a surname with the one he is known by; who is Ale
    for short is not Ale Brandt, who has more of a name than that.
    """
    if not is_same_kind(one["entity_type"], another["entity_type"]):
        return not is_one_under_one_name(one["entity_type"], another["entity_type"], 2)
    if fit.method in ("role", "definite") and not (parsed(one).is_proper and parsed(another).is_proper):
        return False
    if another is not matched and parsed(one).is_proper != parsed(another).is_proper:
        return False  # a role or a noun by which somebody goes is no other name of his
    verdict = judge(one, another)
    if verdict is None or not verdict.is_conflict or (verdict is UNLIKE and fit.method in STRONG):
        return False
    return fit.method != "part" or another is matched or not _has_two_names(registry, another, matched)


def _has_two_names(registry: Registry, another: Row, matched: Row) -> bool:
    """Whether both are known to be names of one, and the surname that is met now may go with the matched one."""
    own, fuller = parsed(matched).compact, parsed(another).compact
    methods = {link["method"] for row in (another, matched) for link in row["links"]}
    if fuller.startswith(own):
        return False
    if own.startswith(fuller):
        return bool(methods & (FAMILIAR | {"statement", "feedback"}))
    return bool(methods & {"statement", "feedback"}) and registry.representative(matched) is matched
