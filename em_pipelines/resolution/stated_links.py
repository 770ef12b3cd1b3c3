"""What follows for the registry from what a message says: roles and names that are one person, two names of a thing."""

from collections.abc import Iterable

from em_pipelines.language.name_keys import compact_key, fold, name_key, owned_name
from em_pipelines.resolution.clusters import Verdict, is_same_kind
from em_pipelines.resolution.linking import compare, is_kept_apart, is_open, qualifiers_of
from em_pipelines.resolution.name_parts import (
    head_role,
    parse_name,
)
from em_pipelines.resolution.qualifiers import AT, MARKS, OF, as_qualifier, clash, is_same_role, owner_in
from em_pipelines.resolution.role_statements import SaidRole
from em_pipelines.resolution.user_registry import AliasEntry, Cause, Grounds, Registry, is_user, parsed
from em_pipelines.resolution.word_lists import Partner, roles, words
from em_pipelines.schema.rows import EntityRow
from em_pipelines.schema.vocabulary import EntityType

ALIAS_FILE = Grounds("alias_file", 1.0, "the alias file says so")
STATEMENT = Grounds("statement", 0.97, "a message says that both are names of one")
ROLE = Verdict("role", 0.9)
NAMED_BEARER = Grounds(ROLE.method, 0.95, "a message names the bearer of the role")
NAMED_THING = Grounds(ROLE.method, 0.95, "a message says what its name is")
ONLY_BEARER = Grounds(ROLE.method, ROLE.score, "the one who was said to fill the role")
ONLY_SUCH = Grounds(ROLE.method, ROLE.score, "the one who was said to be such a one")
NAMED_TYPES = frozenset(
    {
        EntityType.PERSON, EntityType.ORGANIZATION, EntityType.PLACE, EntityType.PROJECT, EntityType.TOOL,
        EntityType.PRODUCT, EntityType.VEHICLE, EntityType.ANIMAL, EntityType.WORK, EntityType.EVENT,
    }
)  # fmt: skip
SHARED_LETTERS = 2


def apply_roles(registry: Registry, row: EntityRow, said: list[SaidRole], cause: Cause) -> None:
    """Keeps what somebody is, and makes the role and the name one: `Zoe, my daughter`."""
    for role in said:
        if not role.is_sure and not _unfilled(registry, row, role):
            continue
        registry.qualify(row, as_qualifier(role.role, role.owner))
        if role.is_known and row["entity_type"] == EntityType.PERSON:
            _join_role(registry, row, role, cause)
        else:
            _join_noun(registry, row, role, cause)


def _join_role(registry: Registry, row: EntityRow, said: SaidRole, cause: Cause) -> None:
    """The role's row becomes one with the name; a role that is another's already gets a row of this bearer's."""
    bearers = _bearers(registry, said)
    own = [other for other in bearers if registry.are_one(other, row)]
    for other in own:
        other["last_referenced"] = max(other["last_referenced"], cause.timestamp)
    if own:
        return
    free = _unfilled(registry, row, said)
    for other in free:
        registry.join(other, row, NAMED_BEARER, cause)
    if said.text and not free:
        is_taken = any(_named(registry, other) for other in bearers)
        _join_new_role(registry, row, said, name_key(row["canonical_name"]) if is_taken else said.owner, cause)


def _join_new_role(registry: Registry, row: EntityRow, said: SaidRole, discriminator: str, cause: Cause) -> None:
    made = registry.create(owned_name(said.owner, said.text), EntityType.PERSON, discriminator, cause, "role")
    if said.owner:
        registry.qualify(made, f"{OF}{said.owner}")
    if is_open(registry, row, made, ROLE):
        registry.join(made, row, NAMED_BEARER, cause)


def _bearers(registry: Registry, said: SaidRole) -> list[EntityRow]:
    near = registry.near(f"${role}" for role in {said.role, head_role(said.role)})
    return [other for other in near if _is_role_row(other, said.role, said.owner)]


def _unfilled(registry: Registry, row: EntityRow, said: SaidRole) -> list[EntityRow]:
    """The rows of a role that was spoken of, and that nobody is known to fill."""
    found = _bearers(registry, said)
    return [other for other in found if not _named(registry, other) and is_open(registry, row, other, ROLE)]


def apply_apposed(registry: Registry, row: EntityRow, name: str, cause: Cause) -> None:
    """Makes a role one with the name behind it, if nobody fills it yet: `my boss, Yolanda, left`."""
    if not name or _named(registry, row):
        return
    known = [other for other in registry.named(name_key(name)) if other["entity_type"] == EntityType.PERSON]
    bearer = known[0] if known else registry.create(name, EntityType.PERSON, "", cause, "role")
    if len(known) < 2 and is_open(registry, row, bearer, ROLE):
        registry.join(row, bearer, NAMED_BEARER, cause)


def _is_role_row(row: EntityRow, role: str, owner: str) -> bool:
    person = parsed(row).person
    if person is None or not person.is_role:
        return False
    return is_same_role(person.role, role) and (owner_in(row["qualifiers"]) or person.owner) == owner


def _named(registry: Registry, row: EntityRow) -> list[EntityRow]:
    """The rows of a group that are names, not roles."""
    named = []
    for member in registry.group(row):
        person = parsed(member).person
        if person is not None and not person.is_role:
            named.append(member)
    return named


def _join_noun(registry: Registry, row: EntityRow, said: SaidRole, cause: Cause) -> None:
    """`The python is called Monty`, `Mr. Sayın is the tree man`: if such a one was spoken of, and has no name yet."""
    others = [
        other
        for other in registry.named(name_key(said.text))
        if other["entity_type"] == row["entity_type"] and not registry.are_one(other, row) and not is_user(other)
    ]
    open_ones = [other for other in others if is_open(registry, row, other, ROLE)]
    if len(open_ones) == 1 and not _proper(registry, open_ones[0]):
        registry.join(open_ones[0], row, NAMED_THING, cause)


def _proper(registry: Registry, row: EntityRow) -> bool:
    return any(parsed(member).is_proper for member in registry.group(row) if member is not row)


def link_role(registry: Registry, row: EntityRow, cause: Cause) -> None:
    """Joins the row of a role met first with who was said to fill it, or with other words for the same role."""
    person = parsed(row).person
    if person is None or not person.is_role:
        _link_noun(registry, row, cause)
        return
    owner = owner_in(row["qualifiers"]) or person.owner
    bearers = _known_bearers(registry, row, person.role, owner)
    if len(bearers) > 1 and head_role(person.role) in roles().unique:
        bearers = [_spoken_of_last(bearers)]
    if len(bearers) == 1:
        registry.join(row, bearers[0], ONLY_BEARER, cause)


def _known_bearers(registry: Registry, row: EntityRow, role: str, owner: str) -> list[EntityRow]:
    """One row of each group that may fill a role, or is another word for it."""
    bearers: dict[str, EntityRow] = {}
    for other in registry.near(f"${akin}" for akin in _akin(role)):
        if registry.are_one(row, other) or is_user(other) or row["name_key"] == other["name_key"]:
            continue
        if _may_fill(other, role, owner) and is_open(registry, row, other, ROLE):
            bearers.setdefault(registry.representative(other)["entity_id"], other)
    return list(bearers.values())


def _may_fill(row: EntityRow, role: str, owner: str) -> bool:
    """Whether a row is that of somebody who was said to be what the role says, or that of the same role."""
    if _is_role_row(row, role, owner):
        return True
    wanted = as_qualifier(role, owner)
    is_said = any(_fits(qualifier, wanted) for qualifier in row["qualifiers"])
    return is_said and not _is_role_row(row, row["canonical_name"], owner)


def _spoken_of_last(rows: list[EntityRow]) -> EntityRow:
    return max(rows, key=lambda row: (row["last_referenced"], row["entity_id"]))


def _akin(role: str) -> set[str]:
    head = head_role(role)
    return {role, head, *(member for group in roles().partners if head in group for member in group)}


def _fits(qualifier: str, wanted: str) -> bool:
    if qualifier.startswith((AT, *MARKS)):
        return False
    role, _, owner = qualifier.partition(f" {OF}")
    wanted_role, _, wanted_owner = wanted.partition(f" {OF}")
    return owner == wanted_owner and is_same_role(role, wanted_role)


def _link_noun(registry: Registry, row: EntityRow, cause: Cause) -> None:
    """Joins a common noun with the one thing that was said to be such a one: the tree man."""
    if parsed(row).is_proper:
        return
    keys = {f"${row['name_key']}", f"${fold(row['name_key'])}"}
    found: dict[str, EntityRow] = {}
    for other in registry.near(keys):
        if registry.are_one(row, other) or other["entity_type"] != row["entity_type"]:
            continue
        if fold(row["name_key"]) in other["qualifiers"] and is_open(registry, row, other, ROLE):
            found.setdefault(registry.representative(other)["entity_id"], other)
    if len(found) == 1:
        registry.join(row, next(iter(found.values())), ONLY_SUCH, cause)


def apply_partners(registry: Registry, row: EntityRow, said: Iterable[Partner], cause: Cause) -> None:
    """Makes two names one because a message says so."""
    for partner in said:
        other = _partner_row(registry, row, partner, cause)
        if other is None or registry.are_one(row, other):
            continue
        own, theirs = registry.group(row), registry.group(other)
        if not is_kept_apart(registry, own, theirs) and not clash(qualifiers_of(own), qualifiers_of(theirs)):
            registry.join(row, other, STATEMENT, cause)


def _partner_row(registry: Registry, row: EntityRow, partner: Partner, cause: Cause) -> EntityRow | None:
    """The row of the other name, if the statement is strong enough for what is known of it."""
    key = name_key(partner.name)
    if _names_nothing(key):
        return None
    known = _spelled_so(registry, partner.name, row) or _comparable(registry, partner.name, row)
    if known:
        is_believed = partner.strength != "alike" or _is_alike(row, partner.name)
        return _spoken_of_last(known) if is_believed else None
    if registry.named(key) or row["entity_type"] not in NAMED_TYPES or not _is_new_name(row, partner):
        return None
    return registry.create(partner.name, row["entity_type"], "", cause, STATEMENT.method)


def _names_nothing(key: str) -> bool:
    return not key or fold(key) in words("nothing") or fold(key) in words("dates")


def _spelled_so(registry: Registry, name: str, row: EntityRow) -> list[EntityRow]:
    """Rows of the other name that a row can be one with by their types."""
    near = registry.near([f"={compact_key(name)}"])
    return [other for other in near if is_same_kind(other["entity_type"], row["entity_type"]) and not is_user(other)]


def _is_new_name(row: EntityRow, partner: Partner) -> bool:
    """Whether a name that is not known yet is believed to be another one of the row's."""
    if partner.strength == "sure" or _is_comparable(row, partner.name):
        return True
    return partner.strength == "likely" and _is_alike(row, partner.name)


def _comparable(registry: Registry, name: str, row: EntityRow) -> list[EntityRow]:
    """Who else the other name can only be: Juan Carlos of Juan Carlos Ibarra."""
    wanted = parse_name(name, row["entity_type"])
    found: dict[str, EntityRow] = {}
    for other in registry.alike(name, row["entity_type"]):
        if other is row or other["entity_type"] != row["entity_type"] or is_user(other):
            continue
        verdict = compare(wanted, parsed(other))
        if verdict is not None and verdict.method in ("part", "spelling", "initials"):
            found.setdefault(registry.representative(other)["entity_id"], other)
    return list(found.values()) if len(found) == 1 else []


def _is_alike(row: EntityRow, name: str) -> bool:
    """Whether the other name looks like this one: a slip of the tongue does not."""
    own, other = parsed(row), parse_name(name, row["entity_type"])
    if own.compact[:SHARED_LETTERS] == other.compact[:SHARED_LETTERS]:
        return True
    return _is_comparable(row, name)


def _is_comparable(row: EntityRow, name: str) -> bool:
    verdict = compare(parsed(row), parse_name(name, row["entity_type"]))
    return verdict is not None and not verdict.is_conflict


def _type_by_alias(entry: AliasEntry, row: EntityRow) -> str | None:
    """The type of what an entry of the alias file names; None where a row of that name is something else."""
    if entry.type is None:
        return str(row["entity_type"])
    return entry.type.value if row["entity_type"] in (entry.type, EntityType.CONCEPT) else None


def link_to_alias(registry: Registry, row: EntityRow, cause: Cause) -> None:
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
