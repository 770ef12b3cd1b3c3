"""Joining a row with what its name shows it to be: candidates by blocking key, verdicts on each, one group or none.

A group is a candidate if some name of it fits and nothing known of the two speaks against it (cannot-link evidence);
of several that cannot be one, none is taken unless one fits clearly better.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import product

from em_pipelines.language.document import english
from em_pipelines.resolution.clusters import (
    CONFLICT,
    FAMILIAR,
    IN_FULL,
    MEANING,
    REWORDED,
    REWORDING,
    SPELLING,
    STRONG,
    UNLIKE,
    WEAK,
    Verdict,
    is_one_under_one_name,
    is_same_kind,
)
from em_pipelines.resolution.name_parts import Name, head_role
from em_pipelines.resolution.person_names import compare_people
from em_pipelines.resolution.qualifiers import FROM, OF, clash, has_kin, is_same_role
from em_pipelines.resolution.settings import ResolutionSettings
from em_pipelines.resolution.thing_names import are_initials, compare_things
from em_pipelines.resolution.user_registry import Cause, Grounds, Registry, is_user, parsed
from em_pipelines.resolution.word_lists import is_given_name, roles
from em_pipelines.schema.rows import EntityRow
from em_pipelines.schema.vocabulary import EntityType

MADE_THINGS = frozenset({EntityType.PRODUCT, EntityType.VEHICLE, EntityType.TOOL, EntityType.PROJECT})
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
    "rewording": "the same in other words",
    "meaning": "the same by what it means, in words of its own",
    "similarity": "all but the same spelling",
    "definite": "one of its kind, spoken of as known",
}
GUESSED = frozenset({EntityType.CONCEPT, EntityType.PERSON})
"""Types that are given to what nothing is known of; another one is believed in their place."""
DEFINITE_TYPES = frozenset(
    {
        EntityType.VEHICLE, EntityType.CONCEPT, EntityType.PLACE, EntityType.ORGANIZATION, EntityType.ANIMAL,
        EntityType.PRODUCT, EntityType.PROJECT, EntityType.EVENT,
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wording:
    """How a message words a name: as one that both know ("the bus"), and as what somebody is called."""

    is_definite: bool
    is_called_so: bool


@dataclass(frozen=True, slots=True)
class Fit:
    """A group that a name fits, by which of its rows and how."""

    row: EntityRow
    verdict: Verdict

    @property
    def is_weak(self) -> bool:
        """May be a namesake's as well."""
        return self.verdict.method in WEAK and self.verdict.score < IN_FULL

    def score(self) -> float:
        return self.verdict.score

    def order(self) -> tuple[float, str]:
        """Sorts the best first."""
        return -self.verdict.score, self.row["entity_id"]


def compare(one: Name, other: Name) -> Verdict | None:
    """Returns the verdict on two names of types that go together; None where the wording says nothing."""
    if one.compact == other.compact and (one.person is None or not one.person.is_role):
        return SPELLING
    if one.person is not None and other.person is not None:
        if one.person.is_role or other.person.is_role:
            return None
        return compare_people(one, one.person, other, other.person)
    if one.is_person or other.is_person:
        return None
    return compare_things(one, other)


def judge(row: EntityRow, other: EntityRow) -> Verdict | None:
    """The verdict on two rows: of one name key where they are namesakes, else of their names."""
    if row["name_key"] == other["name_key"]:
        return None
    name, against = parsed(row), parsed(other)
    if not is_same_kind(row["entity_type"], other["entity_type"]):
        if {row["entity_type"], other["entity_type"]} <= REWORDED and (reworded := compare_things(name, against)):
            return reworded if reworded.method == REWORDING else None
        is_near = is_one_under_one_name(row["entity_type"], other["entity_type"], name.n_telling)
        return Verdict("spelling", 0.95) if is_near and name.compact == against.compact else None
    verdict = compare(name, against)
    if verdict is None:
        return None
    if verdict.method == "short_form":
        return verdict if _is_shortened(name, against) else CONFLICT
    is_one_type = row["entity_type"] == other["entity_type"]
    return verdict if is_one_type or _holds_of_concepts(verdict, name, against) else None


def _holds_of_concepts(verdict: Verdict, one: Name, other: Name) -> bool:
    """Whether a verdict holds where the type of one is not known: `Bukh` may be the Bukh DV36, but a community is
    neither its centre nor its conference."""
    if verdict.method == "spelling":
        return one.all_tokens == other.all_tokens or one.compact == other.compact
    if verdict.method == "part":
        return not {one.entity_type, other.entity_type}.isdisjoint(MADE_THINGS)
    return verdict.method != "similarity"


def _is_shortened(name: Name, known: Name) -> bool:
    """Familiar forms follow the name: who was met as Priya is not Priyanka for being shorter."""
    if name.person is None or known.person is None:
        return False
    return bool(name.person.single) and len(name.person.single) < len(known.person.given or known.person.single)


def is_open(registry: Registry, row: EntityRow, other: EntityRow, verdict: Verdict) -> bool:
    """Whether nothing known of the two groups speaks against joining them."""
    own, theirs = registry.group(row), registry.group(other)
    if is_kept_apart(registry, own, theirs):
        return False
    if clash(qualifiers_of(own), qualifiers_of(theirs)) or _is_family_in_full(own, theirs, verdict):
        return False
    if (verdict.method in WEAK or verdict.method == "part") and _are_of_other_roles(own, theirs):
        return False
    if len(own) == 1 and _is_lone_part(parsed(row), parsed(other), verdict):
        return True
    pairs = product(own, theirs)
    return not any(_is_contrary(registry, one, another, other, verdict) for one, another in pairs)


def _is_lone_part(name: Name, full: Name, verdict: Verdict) -> bool:
    """A lone surname of a full name: that its bearer is also called by another given name is no news."""
    if verdict.method != "part" or name.person is None or full.person is None:
        return False
    return not name.person.given and bool(full.person.given) and len(full.person.given) > 1


def _are_of_other_roles(own: list[EntityRow], theirs: list[EntityRow]) -> bool:
    """Whether both have roles, and none is that of the other: the flatmate Pieter is not the landlord Pietersen."""
    left, right = (
        {q for q in qualifiers_of(rows) if head_role(q) in roles().kind and " of " not in q} for rows in (own, theirs)
    )
    return bool(left and right) and not any(is_same_role(a, b) for a in left for b in right)


def is_kept_apart(registry: Registry, own: list[EntityRow], theirs: list[EntityRow]) -> bool:
    """Whether somebody, a message or the alias file said that two groups are two things."""
    apart = {name for member in own for name in member["distinct_from"]}
    return any(member["entity_id"] in apart for member in theirs) or _have_other_aliases(registry, own, theirs)


def _have_other_aliases(registry: Registry, own: list[EntityRow], theirs: list[EntityRow]) -> bool:
    one = {id(registry.aliases[row["name_key"]]) for row in own if row["name_key"] in registry.aliases}
    two = {id(registry.aliases[row["name_key"]]) for row in theirs if row["name_key"] in registry.aliases}
    return bool(one and two and one != two)


def qualifiers_of(rows: Iterable[EntityRow]) -> set[str]:
    """What the bearers of a group's names were said to be."""
    return {qualifier for row in rows for qualifier in row["qualifiers"] if not qualifier.startswith((OF, FROM))}


def _is_family_in_full(own: list[EntityRow], theirs: list[EntityRow], verdict: Verdict) -> bool:
    """Nobody calls a sister by her full name: Anna Kovacs is another Anna."""
    if verdict.method in STRONG:
        return False
    kin = has_kin(qualifiers_of(own)), has_kin(qualifiers_of(theirs))
    full = _is_any_full(own), _is_any_full(theirs)
    return (kin[0] and full[1] and not full[0]) or (kin[1] and full[0] and not full[1])


def _is_any_full(rows: list[EntityRow]) -> bool:
    people = [parsed(row).person for row in rows]
    return any(
        person is not None and person.given and len(person.surname) > 1 and not is_given_name(person.surname)
        for person in people
    )


def _is_contrary(registry: Registry, one: EntityRow, another: EntityRow, matched: EntityRow, fit: Verdict) -> bool:
    """Whether two names of the two groups cannot be one thing's.

    Who answers to two given names ("Kalle", "Karl-Henrik") may have a surname with the one he is known by; who is Ale
    for short is not Ale Brandt, who has more of a name than that.
    """
    if not is_same_kind(one["entity_type"], another["entity_type"]):
        return not is_one_under_one_name(one["entity_type"], another["entity_type"], 2)
    if _is_name_against_noun(one, another, matched, fit):
        return False
    verdict = judge(one, another)
    if verdict is None or not verdict.is_conflict or (verdict is UNLIKE and fit.method in STRONG):
        return False
    return fit.method != "part" or another is matched or not _has_two_names(registry, another, matched)


def _is_name_against_noun(one: EntityRow, another: EntityRow, matched: EntityRow, fit: Verdict) -> bool:
    """Whether one is a role or a noun by which somebody goes: it is no other name of his, and contradicts none."""
    are_proper = parsed(one).is_proper, parsed(another).is_proper
    if fit.method in ("role", "definite") and not all(are_proper):
        return True
    return another is not matched and are_proper[0] != are_proper[1]


def _has_two_names(registry: Registry, another: EntityRow, matched: EntityRow) -> bool:
    """Whether both are known to be names of one, and the surname that is met now may go with the matched one."""
    own, fuller = parsed(matched).compact, parsed(another).compact
    methods = {link["method"] for row in (another, matched) for link in row["links"]}
    if fuller.startswith(own):
        return False
    if own.startswith(fuller):
        return bool(methods & (FAMILIAR | {"statement", "feedback"}))
    return bool(methods & {"statement", "feedback"}) and registry.representative(matched) is matched


def link_by_name(
    registry: Registry, row: EntityRow, wording: Wording, settings: ResolutionSettings, cause: Cause
) -> None:
    """Joins a row with the group that its name fits, if there is one."""
    if is_user(row):
        return
    fits = fitting(registry, row, settings, is_called_so=wording.is_called_so)
    if not fits and wording.is_definite:
        fits = _definite(registry, row, settings)
    for fit in _chosen(registry, fits):
        method = fit.verdict.method
        registry.join(row, fit.row, Grounds(method, fit.verdict.score, REASONS[method]), cause)


def fitting(
    registry: Registry, row: EntityRow, settings: ResolutionSettings, *, is_called_so: bool = False
) -> list[Fit]:
    """The best fit of each group that a row's name fits, best groups first."""
    best: dict[str, Fit] = {}
    refused: set[str] = set()
    for other in _comparable(registry, row):
        group = registry.representative(other)["entity_id"]
        verdict = judge(row, other) or _meant(registry, row, other) if group not in refused else None
        if verdict is None or _is_thing_and_statement(row, other, verdict):
            continue
        if not is_called_so and _is_told_apart(row, other, verdict, settings):
            refused.add(group)
        elif not verdict.is_conflict and verdict.score >= _needed(verdict, settings):
            if group in best or is_open(registry, row, other, verdict):
                fit = Fit(other, verdict)
                best[group] = max(best.get(group, fit), fit, key=Fit.score)
            else:
                refused.add(group)
    return sorted(best.values(), key=Fit.order)


BY_A_PART = frozenset({"part", "role", "definite"})
"""Methods by which one name may be a piece of the other."""


def _is_thing_and_statement(row: EntityRow, other: EntityRow, verdict: Verdict) -> bool:
    """Whether one is a sentence, which is neither what it speaks of nor another sentence; or a thing stands beside what
    the other is about."""
    names = row["canonical_name"], other["canonical_name"]
    if verdict.method == SPELLING.method:
        return False
    if any(map(english.is_statement, names)):
        return True
    short, long = sorted(names, key=len)
    return verdict.method in BY_A_PART and english.is_beside(short, long)


def _meant(registry: Registry, row: EntityRow, other: EntityRow) -> Verdict | None:
    """The verdict on two phrases whose words say nothing: that they mean the same, where their vectors show it."""
    cosine = registry.meant.get(row["name_key"], {}).get(other["name_key"])
    is_kind = {row["entity_type"], other["entity_type"]} <= REWORDED
    return Verdict(MEANING, cosine) if cosine is not None and is_kind else None


def _needed(verdict: Verdict, settings: ResolutionSettings) -> float:
    own = {REWORDING: settings.min_rewording, MEANING: settings.min_meaning}
    return own.get(verdict.method, settings.min_score)


def _comparable(registry: Registry, row: EntityRow) -> Iterator[EntityRow]:
    """Rows of other things whose names can be compared with a row's."""
    for other in registry.comparable(row):
        if not (is_user(other) or registry.are_one(row, other)):
            yield other


def _is_told_apart(row: EntityRow, other: EntityRow, verdict: Verdict, settings: ResolutionSettings) -> bool:
    """Whether both were spoken of in one conversation: there, nobody changes from Chris to Christine, or from Marc to
    Mark, without a word."""
    is_one_spelling = verdict.method == "similarity" and row["entity_type"] != EntityType.PERSON
    if verdict.method not in WEAK or is_one_spelling:
        return False
    since = row["last_referenced"] - other["last_referenced"]
    return bool(since < timedelta(hours=settings.conversation_hours))


def _definite(registry: Registry, row: EntityRow, settings: ResolutionSettings) -> list[Fit]:
    """`The bus` is the team bus, `the walnut` the walnut tree, `the FT` the Financial Times, if it is the only one of
    its type that shares the word or has the initials, and was spoken of not long ago."""
    verdict = Verdict("definite", settings.min_score)
    since = row["last_referenced"] - timedelta(days=settings.definite_days)
    fits: dict[str, Fit] = {}
    for other in registry.alike(row["canonical_name"], row["entity_type"]):
        is_other = registry.are_one(row, other) or other["entity_type"] != row["entity_type"]
        if is_other or _is_thing_and_statement(row, other, verdict):
            continue
        part = _part_of_other(parsed(row), parsed(other)) if row["entity_type"] in DEFINITE_TYPES else None
        if part is None and row["entity_type"] not in GUESSED and are_initials(parsed(row), parsed(other)):
            part = parsed(row)
        if part is None or other["last_referenced"] < since:
            continue
        if part.digits or not is_open(registry, row, other, verdict):
            return []
        fits.setdefault(registry.representative(other)["entity_id"], Fit(other, verdict))
    return list(fits.values()) if len(fits) == 1 else []


def _part_of_other(one: Name, other: Name) -> Name | None:
    """Of two names the one whose words begin or end the other, if there is one."""
    short, long = sorted((one, other), key=lambda name: len(name.all_tokens))
    size = len(short.all_tokens)
    is_part = size < len(long.all_tokens) and short.all_tokens in (long.all_tokens[:size], long.all_tokens[-size:])
    return short if is_part else None


def _chosen(registry: Registry, fits: list[Fit]) -> list[Fit]:
    """All fits that can be one thing together; else the one that is clearly the best; else none."""
    fits = _not_weak(fits) or fits
    if len(fits) < 2 or _are_one_thing(registry, fits):
        return fits
    strong = [fit for fit in fits if fit.verdict.method in STRONG]
    if strong and _are_one_thing(registry, strong):
        return strong
    return fits[:1] if _is_clearly_best(*fits[:2]) else []


def _not_weak(fits: list[Fit]) -> list[Fit]:
    return [fit for fit in fits if not fit.is_weak]


def _is_clearly_best(best: Fit, second: Fit) -> bool:
    return best.verdict.score > second.verdict.score and best.verdict.method != "part"


def _are_one_thing(registry: Registry, fits: list[Fit]) -> bool:
    for n, fit in enumerate(fits):
        for other in fits[n + 1 :]:
            if not is_open(registry, fit.row, other.row, fit.verdict):
                return False
            if fit.row["name_key"] == other.row["name_key"]:
                return False
    return True
