"""One mention meets the registry: the row of its name is found or made, and what its message says of it is kept.

Which bearer of a name is meant is told by type, by whose and what somebody is, by who was spoken of last. Everything
that is remembered stands in rows, so that the next day goes on where this one ended.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import log1p

from em_pipelines.resolution.aliases import AliasEntry
from em_pipelines.resolution.linking import Wording, fitting, link_by_name, qualifiers_of
from em_pipelines.resolution.name_parts import (
    AT,
    OF,
    Name,
    Person,
    as_qualifier,
    clash,
    head_role,
    owner_in,
    parse_name,
    role_of,
)
from em_pipelines.resolution.role_statements import (
    SaidRole,
    is_definite,
    is_somebody,
    nouns_said,
    owner_of_mention,
    roles_apposed,
    roles_said,
    where_from,
)
from em_pipelines.resolution.settings import ResolutionSettings
from em_pipelines.resolution.stated_links import apply_apposed, apply_partners, apply_roles, link_role
from em_pipelines.resolution.user_registry import Cause, Grounds, Registry, is_user, parsed
from em_pipelines.resolution.verdicts import is_one_under_one_name
from em_pipelines.resolution.word_lists import (
    NOWHERE,
    Place,
    apposed,
    is_another,
    is_called_so,
    is_denied,
    is_given_name,
    is_introduced,
    is_told_from_part,
    known_names,
    locate,
    partners,
    roles,
    words,
)
from em_pipelines.schema.rows import EntityRow, MentionRow
from em_pipelines.schema.vocabulary import USER, EntityType
from em_pipelines.text.name_keys import fold, name_key

MENTIONS_AT_FULL_IMPORTANCE = 50
MENTIONS_AT_FULL_CERTAINTY = 3
ALIAS_FILE = Grounds("alias_file", 1.0, "the alias file says so")
GUESSED = frozenset({EntityType.CONCEPT, EntityType.PERSON})
"""Types that are given to what nothing is known of; another one is believed in their place."""
NAMED_LIKE_DATES = frozenset(
    {EntityType.PERSON, EntityType.PLACE, EntityType.WORK, EntityType.PROJECT, EntityType.ANIMAL}
)
ABBREVIATED = frozenset({EntityType.ORGANIZATION, EntityType.PLACE, EntityType.TOOL, EntityType.PRODUCT})
"""Types of which a word in capitals is a name: the WHO, the US."""
UNSAID = "unsaid"
ANOTHER = "another"


@dataclass(frozen=True, slots=True)
class Bearer:
    """What a message says about the bearer of a name: type, whose role it is, what and where from, and whether it is
    another one than before."""

    name: Name
    entity_type: str
    owner: str = ""
    qualifiers: tuple[str, ...] = ()
    is_another: bool = False
    is_somebody: bool = False

    @property
    def is_role(self) -> bool:
        """Named by a role alone."""
        return self.name.person is not None and self.name.person.is_role


@dataclass(frozen=True, slots=True)
class Choice:
    """A row that is meant, or the discriminator of a new one."""

    row: EntityRow | None
    discriminator: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """The row that a mention names, and how it was found."""

    row: EntityRow
    method: str
    score: float


def is_nameable(name: str, entity_type: str) -> bool:
    """Whether anything can be known by the name: not by a pronoun, a stop word, a date or a bare verb."""
    key = fold(name_key(name))
    if entity_type == EntityType.PERSON and name[:1].isupper() and key in words("names_of_many_things"):
        return True
    if not any(c.isalnum() for c in key) or _is_stop_word(name, key, entity_type):
        return False
    return entity_type in NAMED_LIKE_DATES or key not in words("dates")


def _is_stop_word(name: str, key: str, entity_type: str) -> bool:
    """Whether a word names nothing; capitals make it an abbreviation, and everybody may know it as a name."""
    is_abbreviated = name.isupper() and len(key) > 1 and entity_type in ABBREVIATED
    return key in words("nothing") and not is_abbreviated and key not in known_names(entity_type)


def see(registry: Registry, mention: MentionRow, content: str, settings: ResolutionSettings) -> Seen | None:
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
    return _see_named(registry, mention, content, settings, cause)


def _see_named(
    registry: Registry, mention: MentionRow, content: str, settings: ResolutionSettings, cause: Cause
) -> Seen:
    name = mention["name"]
    place = locate(content, name, mention["span_start"], mention["span_end"])
    said = _roles(mention, place)
    bearer = _bearer(mention, place, said)
    choice = choose(registry, bearer, mention["timestamp"], settings)
    row, is_new = choice.row, False
    if row is None:
        row, is_new = _create(registry, mention, bearer, choice.discriminator, cause)
    is_new |= _count(registry, row, mention)
    for qualifier in bearer.qualifiers:
        registry.qualify(row, qualifier)
    if is_new:
        _link_to_alias(registry, row, cause)
    apply_roles(registry, row, said, cause)
    if bearer.is_role:
        apply_apposed(registry, row, apposed(place), cause)
    if is_denied(place) or bearer.is_another or is_told_from_part(content, name):
        _set_apart_from_alike(registry, row, settings)
    else:
        apply_partners(registry, row, partners(place), cause)
        if is_new:
            link_role(registry, row, cause)
            link_by_name(registry, row, Wording(is_definite(place, name), is_called_so(place)), settings, cause)
    return _seen(row, is_new=is_new and choice.row is None)


def _create(
    registry: Registry, mention: MentionRow, bearer: Bearer, discriminator: str, cause: Cause
) -> tuple[EntityRow, bool]:
    """The row of a bearer who was not met before, and whether it was made now."""
    known = set(registry.rows)
    row = registry.create(mention["name"], mention["entity_type"], discriminator, cause)
    if bearer.owner:
        registry.qualify(row, f"{OF}{bearer.owner}")
    return row, row["entity_id"] not in known


def _set_apart_from_alike(registry: Registry, row: EntityRow, settings: ResolutionSettings) -> None:
    """Notes that a row is none of those that its name fits."""
    for fit in fitting(registry, row, settings):
        registry.set_apart(row, fit.row)


def _seen(row: EntityRow, *, is_new: bool) -> Seen:
    """How the row was found: by its very name, by what joined it with others at once, or it is new."""
    if not is_new:
        return Seen(row, "exact", 1.0)
    if row["links"]:
        return Seen(row, str(row["links"][0]["method"]), float(row["links"][0]["score"]))
    return Seen(row, "new", 1.0)


def _roles(mention: MentionRow, place: Place) -> list[SaidRole]:
    """What the message, the extractor and the name itself say that somebody is."""
    person = parse_name(mention["name"], mention["entity_type"]).person
    found = _said_of(person, place) if place is not NOWHERE else []
    if person is None or person.is_role:
        return found
    if person.role in roles().called_by or (person.role and person.is_own):
        found.append(SaidRole(person.role, person.owner, True, person.role))
    if mention["role"]:
        found.append(SaidRole(role_of(mention["role"]) or mention["role"], "", True, mention["role"]))
    return list({(said.role, said.owner): said for said in reversed(found)}.values())


def _said_of(person: Person | None, place: Place) -> list[SaidRole]:
    if person is None:
        return nouns_said(place)
    return roles_apposed(place) if person.is_role else roles_said(place)


def _bearer(mention: MentionRow, place: Place, said: list[SaidRole]) -> Bearer:
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


def _count(registry: Registry, row: EntityRow, mention: MentionRow) -> bool:
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


def _type_by_alias(entry: AliasEntry, row: EntityRow) -> str | None:
    """The type of what an entry of the alias file names; None where a row of that name is something else."""
    if entry.type is None:
        return str(row["entity_type"])
    return entry.type.value if row["entity_type"] in (entry.type, EntityType.CONCEPT) else None


def _link_to_alias(registry: Registry, row: EntityRow, cause: Cause) -> None:
    """Joins a name with the one that the alias file reads it by."""
    entry = registry.aliases.get(row["name_key"])
    kind = _type_by_alias(entry, row) if entry is not None else None
    if entry is None or kind is None:
        return
    for name in (entry.name, *entry.aliases):
        others = [
            other for other in registry.named(name_key(name)) if other["entity_type"] in (kind, EntityType.CONCEPT)
        ]
        if not others and name == entry.name:
            others = [registry.create(name, kind, "", cause, "alias_file")]
        for other in others:
            registry.join(row, other, ALIAS_FILE, cause)


def choose(registry: Registry, bearer: Bearer, when: datetime, settings: ResolutionSettings) -> Choice:
    """Returns the row of the name that is meant, or what tells a new one from those that stand."""
    rows = registry.named(name_key(bearer.name.text))
    if not rows:
        return Choice(None, bearer.owner)
    of_type = _of_type(registry, rows, bearer)
    if not of_type:
        return Choice(None, bearer.entity_type)
    if bearer.name.person is not None and bearer.is_role:
        return _choose_role(of_type, bearer.name.person.role, bearer.owner, when, settings)
    if bearer.is_another:
        return Choice(None, ANOTHER) if len(of_type) == 1 else Choice(_last(of_type))
    told = _told_to_be(registry, of_type, bearer)
    return Choice(_spoken_of(told, when, settings)) if told else Choice(None, min(bearer.qualifiers))


def _told_to_be(registry: Registry, rows: list[EntityRow], bearer: Bearer) -> list[EntityRow]:
    """The namesakes who were said to be what the bearer is said to be, else those who can be."""
    said = [row for row in rows if set(bearer.qualifiers) & qualifiers_of(registry.group(row))]
    return said or [row for row in rows if not clash(bearer.qualifiers, qualifiers_of(registry.group(row)))]


def _of_type(registry: Registry, rows: list[EntityRow], bearer: Bearer) -> list[EntityRow]:
    """The rows that can be what is meant, those of the very type before others."""
    if is_user(rows[0]):
        return rows[:1]
    if not is_person(bearer.entity_type):
        rows = [row for row in rows if not _fills_a_role(row)]  # Greta works as a physio, and is not the work
    return _of_near_type(rows, bearer) or [row for row in rows if is_guessed(registry, row, bearer)]


def _of_near_type(rows: list[EntityRow], bearer: Bearer) -> list[EntityRow]:
    n_tokens = bearer.name.n_telling
    near = [row for row in rows if is_one_under_one_name(row["entity_type"], bearer.entity_type, n_tokens)]
    return [row for row in near if row["entity_type"] == bearer.entity_type] or near


def _fills_a_role(row: EntityRow) -> bool:
    person = parsed(row).person
    return person is not None and person.is_role


def is_guessed(registry: Registry, row: EntityRow, bearer: Bearer) -> bool:
    """Whether a name was taken for a person's, now or before, with nothing to show for it: unknown names mostly are.

    Pets are spoken of like people. A name that many people bear, a role, a place to tell somebody by, or what only
    people do, are enough to believe it.
    """
    types = {row["entity_type"], bearer.entity_type}
    if EntityType.PERSON not in types or types <= GUESSED:
        return False
    if types == {EntityType.PERSON, EntityType.ANIMAL}:
        return not bearer.qualifiers and not qualifiers_of(registry.group(row))
    if _is_borne_by_many(bearer.name):
        return False
    if bearer.entity_type == EntityType.PERSON:
        return not (bearer.qualifiers or bearer.is_somebody) and row["entity_type"] != EntityType.PERSON
    return not qualifiers_of(registry.group(row))


def _is_borne_by_many(name: Name) -> bool:
    first = name.all_tokens[0] if name.all_tokens else ""
    return fold(name.text) in words("names_of_many_things") or is_given_name(first)


def _choose_role(rows: list[EntityRow], role: str, owner: str, when: datetime, settings: ResolutionSettings) -> Choice:
    """`My boss` is the one spoken of last; which of two brothers is `my brother`, only this conversation can say."""
    theirs = [row for row in rows if owner_in(row["qualifiers"]) == owner]
    if not theirs:
        return Choice(None, owner)
    last = _last(theirs)
    is_recent = last["last_referenced"] >= when - timedelta(hours=settings.conversation_hours)
    if len(theirs) == 1 or head_role(role) in roles().unique or is_recent:
        return Choice(last)
    return Choice(None, as_qualifier(UNSAID, owner))


def _spoken_of(rows: list[EntityRow], when: datetime, settings: ResolutionSettings) -> EntityRow:
    """The namesake spoken of in this conversation, else the one spoken of most, else the one met first."""
    last = _last(rows)
    if last["last_referenced"] >= when - timedelta(hours=settings.conversation_hours):
        return last
    return max(rows, key=lambda row: (row["mention_count"], -row["first_seen"].timestamp(), row["entity_id"]))


def _last(rows: list[EntityRow]) -> EntityRow:
    return max(rows, key=lambda row: (row["last_referenced"], row["entity_id"]))


def is_person(entity_type: str) -> bool:
    """Whether roles of people can be said of it."""
    return entity_type == EntityType.PERSON
