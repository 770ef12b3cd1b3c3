"""One mention meets the registry: the row of its name is found or made, and what its message says of it is kept.

Everything that is remembered stands in rows, so that the next day goes on where this one ended.
"""

from dataclasses import dataclass
from math import log1p
from typing import Any

from em_pipelines.resolution.lexicon import known_names, roles, words
from em_pipelines.resolution.linking import fitting, link_by_name
from em_pipelines.resolution.namesakes import Bearer, choose, is_person
from em_pipelines.resolution.naming import parse_name, role_of
from em_pipelines.resolution.normalization import fold, name_key
from em_pipelines.resolution.qualifiers import AT, OF, as_qualifier
from em_pipelines.resolution.roles_said import (
    SaidRole,
    is_definite,
    is_somebody,
    owner_of_mention,
    roles_apposed,
    roles_said,
    where_from,
)  # fmt: skip
from em_pipelines.resolution.saying import apply_apposed, apply_partners, apply_roles, link_role
from em_pipelines.resolution.settings import ResolutionSettings
from em_pipelines.resolution.state import Cause, Registry, is_user
from em_pipelines.resolution.statements import (
    NOWHERE,
    Place,
    apposed,
    is_another,
    is_called_so,
    is_denied,
    is_introduced,
    is_told_from_part,
    locate,
    partners,
)  # fmt: skip
from em_pipelines.vocabulary import USER, EntityType

Row = dict[str, Any]
MENTIONS_AT_FULL_IMPORTANCE = 50
MENTIONS_AT_FULL_CERTAINTY = 3
GUESSED = frozenset({EntityType.CONCEPT, EntityType.PERSON})
"""Types that are given to what nothing is known of; another one is believed in their place."""
NAMED_LIKE_DATES = frozenset(
    {EntityType.PERSON, EntityType.PLACE, EntityType.WORK, EntityType.PROJECT, EntityType.ANIMAL}
)
ABBREVIATED = frozenset({EntityType.ORGANIZATION, EntityType.PLACE, EntityType.TOOL, EntityType.PRODUCT})
"""Types of which a word in capitals is a name: the WHO, the US."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The row that a mention names, and how it was found."""

    row: Row
    method: str
    score: float


def is_nameable(name: str, entity_type: str) -> bool:
    """Whether anything can be known by the name: not by a pronoun, a stop word, a date or a bare verb."""
    key = fold(name_key(name))
    if entity_type == EntityType.PERSON and name[:1].isupper() and key in words("names_of_many_things"):
        return True
    if not any(c.isalnum() for c in key):
        return False
    is_abbreviated = name.isupper() and len(key) > 1 and entity_type in ABBREVIATED
    if key in words("nothing") and not is_abbreviated and key not in known_names(entity_type):
        return False
    return entity_type in NAMED_LIKE_DATES or key not in words("dates")


def see(registry: Registry, mention: Row, content: str, settings: ResolutionSettings) -> Seen | None:
    """Finds or makes the row of a mention, and draws what follows from its message; None for what names nothing."""
    name, entity_type = mention["name"], mention["entity_type"]
    if not is_nameable(name, entity_type):
        return None
    cause = Cause(
        mention["mention_id"], mention["timestamp"], mention["session_id"], mention["turn_number"],
        mention["correlation_id"],
    )  # fmt: skip
    if name_key(name) == USER:
        found = registry.named(USER)
        row = found[0] if found else registry.create(name, entity_type, "", cause)
        _count(registry, row, mention)
        return Seen(row, "exact" if found else "new", 1.0)
    place = locate(content, name, mention["span_start"], mention["span_end"])
    return _see_named(registry, mention, place, settings, cause, is_apart=is_told_from_part(content, name))


def _see_named(
    registry: Registry, mention: Row, place: Place, settings: ResolutionSettings, cause: Cause, *, is_apart: bool
) -> Seen:
    entity_type = mention["entity_type"]
    said = _roles(mention, place)
    bearer = _bearer(mention, place, said)
    choice = choose(registry, bearer, mention["timestamp"], settings)
    row, is_new = choice.row, False
    if row is None:
        known = set(registry.rows)
        row = registry.create(mention["name"], entity_type, choice.discriminator, cause)
        is_new = row["entity_id"] not in known
        if bearer.owner:
            registry.qualify(row, f"{OF}{bearer.owner}")
    is_new |= _count(registry, row, mention)
    for qualifier in bearer.qualifiers:
        registry.qualify(row, qualifier)
    if is_new:
        _link_to_alias(registry, row, cause)
    apply_roles(registry, row, said, cause)
    if bearer.name.person is not None and bearer.name.person.is_role:
        apply_apposed(registry, row, apposed(place), cause)
    if is_denied(place) or bearer.is_another or is_apart:
        for fit in fitting(registry, row, settings):
            registry.set_apart(row, fit.row)
    else:
        apply_partners(registry, row, partners(place), cause)
        if is_new:
            link_role(registry, row, cause)
            link_by_name(
                registry, row, settings, cause,
                is_definite=is_definite(place, mention["name"]), is_called_so=is_called_so(place),
            )  # fmt: skip
    return _seen(row, is_new=is_new and choice.row is None)


def _seen(row: Row, *, is_new: bool) -> Seen:
    """How the row was found: by its very name, by what joined it with others at once, or it is new."""
    if not is_new:
        return Seen(row, "exact", 1.0)
    if row["links"]:
        return Seen(row, str(row["links"][0]["method"]), float(row["links"][0]["score"]))
    return Seen(row, "new", 1.0)


def _roles(mention: Row, place: Place) -> list[SaidRole]:
    """What the message, the extractor and the name itself say that somebody is."""
    entity_type = mention["entity_type"]
    found = [] if place is NOWHERE else roles_said(place, is_bare_noun_read=not is_person(entity_type))
    name = parse_name(mention["name"], entity_type)
    if not is_person(entity_type):
        return [said for said in found if not said.is_known and not said.owner]
    if name.person is not None and name.person.is_role:
        return [] if place is NOWHERE else roles_apposed(place)
    if name.person is not None and (name.person.role in roles().called_by or (name.person.role and name.person.is_own)):
        found.append(SaidRole(name.person.role, name.person.owner, True, name.person.role))
    if mention["role"]:
        found.append(SaidRole(role_of(mention["role"]) or mention["role"], "", True, mention["role"]))
    return list({(said.role, said.owner): said for said in reversed(found)}.values())


def _bearer(mention: Row, place: Place, said: list[SaidRole]) -> Bearer:
    entity_type = mention["entity_type"]
    name = parse_name(mention["name"], entity_type)
    if name.person is None:
        return Bearer(name, entity_type, is_another=is_another(place))
    if name.person.is_role:
        return Bearer(name, entity_type, owner=name.person.owner or owner_of_mention(place))
    qualifiers = [as_qualifier(role.role, role.owner) for role in said]
    qualifiers += [f"{AT}{where}" for where in (name.person.where, where_from(place)) if where]
    is_new = is_another(place) or (name.is_proper and is_introduced(place, is_single=not name.person.given))
    return Bearer(name, entity_type, qualifiers=tuple(qualifiers), is_another=is_new, is_somebody=is_somebody(place))


def _count(registry: Registry, row: Row, mention: Row) -> bool:
    """Counts a mention; says whether it told what kind of thing the row is, of which nothing was known."""
    row["mention_count"] += 1
    row["last_referenced"] = max(row["last_referenced"], mention["timestamp"])
    count = row["mention_count"]
    row["importance"] = round(min(1.0, log1p(count) / log1p(MENTIONS_AT_FULL_IMPORTANCE)), 6)
    row["certainty"] = round(min(1.0, count / MENTIONS_AT_FULL_CERTAINTY), 6)
    is_told = row["entity_type"] in GUESSED and mention["entity_type"] not in GUESSED | {row["entity_type"]}
    is_told |= row["entity_type"] == EntityType.CONCEPT and mention["entity_type"] == EntityType.PERSON
    is_told = is_told and not is_user(row)
    if is_told:
        row["entity_type"] = mention["entity_type"]
        registry.reindex(row)
    return bool(is_told)


def _link_to_alias(registry: Registry, row: Row, cause: Cause) -> None:
    """Joins a name with the one that the alias file reads it by."""
    entry = registry.aliases.get(row["name_key"])
    if entry is None or (entry.type is not None and entry.type != row["entity_type"] != EntityType.CONCEPT):
        return
    kind = entry.type.value if entry.type else row["entity_type"]
    for name in (entry.name, *entry.aliases):
        others = [
            other for other in registry.named(name_key(name)) if other["entity_type"] in (kind, EntityType.CONCEPT)
        ]
        if not others and name == entry.name:
            others = [registry.create(name, kind, "", cause, "alias_file")]
        for other in others:
            registry.join(row, other, "alias_file", 1.0, "the alias file says so", cause)
