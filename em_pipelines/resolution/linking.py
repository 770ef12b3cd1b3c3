"""Joining a row with what its name shows it to be: candidates by blocking key, verdicts on each, one group or none.

A group is a candidate if some name of it fits and none speaks against it; of several that cannot be one, none is taken
unless one fits clearly better.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from em_pipelines.resolution.comparison import compare
from em_pipelines.resolution.kinds import is_one_under_one_name, is_same_kind
from em_pipelines.resolution.lexicon import roles
from em_pipelines.resolution.naming import Name, head_role
from em_pipelines.resolution.people_names import is_familiar
from em_pipelines.resolution.qualifiers import clash, has_kin, is_same_role
from em_pipelines.resolution.settings import ResolutionSettings
from em_pipelines.resolution.state import Cause, Registry, is_user, parsed
from em_pipelines.resolution.verdicts import CONFLICT, IN_FULL, Verdict
from em_pipelines.vocabulary import EntityType

Row = dict[str, Any]
REASONS = {
    "spelling": "the same name in another spelling",
    "known": "two names that are one thing everywhere",
    "word_order": "the same words in another order",
    "acronym": "the initials of the other name",
    "abbreviation": "the other name abbreviated, with the same number",
    "model": "the same model, by its maker and by its family",
    "initials": "the same surname, and the initial of the given name",
    "nickname": "a familiar form of the given name",
    "part": "the same name with fewer words, and no other has them",
    "short_form": "the given name shortened, after it was known in full",
    "similarity": "all but the same spelling",
    "definite": "one of its kind, spoken of as known",
}
WEAK = frozenset({"nickname", "short_form", "similarity"})
FAMILIAR = frozenset({"nickname", "short_form"})
STRONG = frozenset({"spelling", "word_order", "known", "acronym", "abbreviation"})
DEFINITE_TYPES = frozenset(
    {
        EntityType.VEHICLE, EntityType.CONCEPT, EntityType.PLACE, EntityType.ORGANIZATION, EntityType.ANIMAL,
        EntityType.PRODUCT, EntityType.PROJECT, EntityType.EVENT,
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fit:
    """A group that a name fits, by which of its rows and how."""

    row: Row
    verdict: Verdict


def link_by_name(
    registry: Registry, row: Row, settings: ResolutionSettings, cause: Cause, *, is_definite: bool
) -> None:
    """Joins a row with the group that its name fits, if there is one."""
    if is_user(row):
        return
    fits = fitting(registry, row, settings)
    if not fits and is_definite:
        fits = _definite(registry, row, settings)
    for fit in _chosen(registry, fits):
        method = fit.verdict.method
        registry.join(row, fit.row, method, fit.verdict.score, REASONS[method], cause)


def fitting(registry: Registry, row: Row, settings: ResolutionSettings) -> list[Fit]:
    """The best fit of each group that a row's name fits, best groups first."""
    name = parsed(row)
    found: dict[str, Fit] = {}
    refused: set[str] = set()
    for other in registry.alike(row["canonical_name"], row["entity_type"]):
        group = registry.representative(other)["entity_id"]
        if group in refused or is_user(other) or registry.are_one(row, other):
            continue
        verdict = _judge(name, row, other)
        if verdict is not None and verdict.method in FAMILIAR and _is_of_one_talk(row, other, settings):
            refused.add(group)
            continue
        if verdict is None or verdict.is_conflict or verdict.score < settings.min_score:
            continue
        known = found.get(group)
        if known is None and not is_open(registry, row, other, verdict):
            refused.add(group)
        elif known is None or verdict.score > known.verdict.score:
            found[group] = Fit(other, verdict)
    return sorted(found.values(), key=lambda fit: (-fit.verdict.score, fit.row["entity_id"]))


def _is_of_one_talk(row: Row, other: Row, settings: ResolutionSettings) -> bool:
    """Whether both were spoken of in one conversation: there, nobody changes from Chris to Christine without a word."""
    return bool(row["last_referenced"] - other["last_referenced"] < timedelta(hours=settings.conversation_hours))


def _judge(name: Name, row: Row, other: Row) -> Verdict | None:
    """The verdict on two rows: of one name key where they are namesakes, else of their names."""
    if row["name_key"] == other["name_key"]:
        return None
    against = parsed(other)
    if not is_same_kind(row["entity_type"], other["entity_type"]):
        is_near = is_one_under_one_name(row["entity_type"], other["entity_type"], len(name.tokens))
        return Verdict("spelling", 0.95) if is_near and name.compact == against.compact else None
    verdict = compare(name, against)
    if verdict is not None and verdict.method == "short_form":
        return verdict if _is_shortened(name, against) else CONFLICT
    return verdict


def _is_shortened(name: Name, known: Name) -> bool:
    """Familiar forms follow the name: who was met as Priya is not Priyanka for being shorter."""
    if name.person is None or known.person is None or not name.person.single:
        return False
    short = name.person.single
    long = known.person.given or known.person.single
    return len(long) - len(short) >= 2 and is_familiar(short, long)


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
    return any(person is not None and person.given and len(person.surname) > 1 for person in people)


def _is_contrary(registry: Registry, one: Row, another: Row, matched: Row, fit: Verdict) -> bool:
    """Whether two names of the two groups cannot be one thing's.

    Who answers to two given names ("Kalle", "Karl-Henrik") may have a surname with the one he is known by.
    """
    if not is_same_kind(one["entity_type"], another["entity_type"]):
        return not is_one_under_one_name(one["entity_type"], another["entity_type"], 2)
    verdict = _judge(parsed(one), one, another)
    if verdict is None or not verdict.is_conflict:
        return False
    is_stated = any(link["method"] in ("statement", "feedback") for row in (another, matched) for link in row["links"])
    return not (
        fit.method == "part" and is_stated and another is not matched and registry.representative(matched) is matched
    )


def _definite(registry: Registry, row: Row, settings: ResolutionSettings) -> list[Fit]:
    """`The bus` is the team bus, `the walnut` the walnut tree, if it is the only one of its type that shares the word,
    and was spoken of not long ago."""
    name = parsed(row)
    if row["entity_type"] not in DEFINITE_TYPES:
        return []
    since = row["last_referenced"] - timedelta(days=settings.definite_days)
    found: dict[str, Fit] = {}
    for other in registry.alike(row["canonical_name"], row["entity_type"]):
        if (
            registry.are_one(row, other)
            or other["entity_type"] != row["entity_type"]
            or other["last_referenced"] < since
        ):
            continue
        short, long = sorted((name, parsed(other)), key=lambda n: len(n.all_tokens))
        size = len(short.all_tokens)
        is_part = size < len(long.all_tokens) and short.all_tokens in (long.all_tokens[:size], long.all_tokens[-size:])
        verdict = Verdict("definite", settings.min_score)
        if is_part and not short.digits and is_open(registry, row, other, verdict):
            found.setdefault(registry.representative(other)["entity_id"], Fit(other, verdict))
        elif is_part:
            return []
    return list(found.values()) if len(found) == 1 else []


def _chosen(registry: Registry, fits: list[Fit]) -> list[Fit]:
    """All fits that can be one thing together; else the one that is clearly the best; else none."""
    if len(fits) > 1:
        fits = [fit for fit in fits if fit.verdict.method not in FAMILIAR or fit.verdict.score >= IN_FULL] or fits
    if len(fits) < 2 or _are_one_thing(registry, fits):
        return fits
    strong = [fit for fit in fits if fit.verdict.method in STRONG]
    if strong and _are_one_thing(registry, strong):
        return strong
    best, second = fits[0], fits[1]
    return [best] if best.verdict.score > second.verdict.score and best.verdict.method != "part" else []


def _are_one_thing(registry: Registry, fits: list[Fit]) -> bool:
    for n, fit in enumerate(fits):
        for other in fits[n + 1 :]:
            if not is_open(registry, fit.row, other.row, fit.verdict):
                return False
            if fit.row["name_key"] == other.row["name_key"]:
                return False
    return True
