"""What follows for the registry from what a message says: roles and names that are one person, two names of a thing."""

from collections.abc import Iterable
from typing import Any

from em_pipelines.resolution.comparison import compare
from em_pipelines.resolution.kinds import is_same_kind
from em_pipelines.resolution.lexicon import roles, words
from em_pipelines.resolution.naming import head_role, parse_name
from em_pipelines.resolution.normalization import compact_key, fold, name_key
from em_pipelines.resolution.objections import is_kept_apart, is_open, qualifiers_of
from em_pipelines.resolution.qualifiers import AT, OF, as_qualifier, clash, is_same_role, owner_in
from em_pipelines.resolution.roles_said import SaidRole
from em_pipelines.resolution.state import Cause, Registry, is_user, parsed
from em_pipelines.resolution.statements import Partner
from em_pipelines.resolution.verdicts import Verdict
from em_pipelines.vocabulary import EntityType

Row = dict[str, Any]
STATEMENT = Verdict("statement", 0.97)
SAID_ROLE = 0.95
ROLE = Verdict("role", 0.9)
NAMED_TYPES = frozenset(
    {
        EntityType.PERSON, EntityType.ORGANIZATION, EntityType.PLACE, EntityType.PROJECT, EntityType.TOOL,
        EntityType.PRODUCT, EntityType.VEHICLE, EntityType.ANIMAL, EntityType.WORK, EntityType.EVENT,
    }
)  # fmt: skip
SHARED_LETTERS = 2


def apply_roles(registry: Registry, row: Row, said: list[SaidRole], cause: Cause) -> None:
    """Keeps what somebody is, and makes the role and the name one: `Zoe, my daughter`."""
    for role in said:
        if not role.is_sure and not _unfilled(registry, row, role):
            continue
        registry.qualify(row, as_qualifier(role.role, role.owner))
        if role.is_known and row["entity_type"] == EntityType.PERSON:
            _join_role(registry, row, role, cause)
        else:
            _join_noun(registry, row, role, cause)


def _join_role(registry: Registry, row: Row, said: SaidRole, cause: Cause) -> None:
    """The role's row becomes one with the name; a role that is another's already gets a row of this bearer's."""
    bearers = _bearers(registry, said)
    if any(registry.are_one(other, row) for other in bearers):
        for other in bearers:
            if registry.are_one(other, row):
                other["last_referenced"] = max(other["last_referenced"], cause.timestamp)
        return
    free = _unfilled(registry, row, said)
    taken = [other for other in bearers if _named(registry, other)]
    if free:
        for other in free:
            registry.join(other, row, "role", SAID_ROLE, "a message names the bearer of the role", cause)
        return
    if not said.text:
        return
    discriminator = name_key(row["canonical_name"]) if taken else said.owner
    made = registry.create(said.text, EntityType.PERSON, discriminator, cause, "role")
    if said.owner:
        registry.qualify(made, f"{OF}{said.owner}")
    if is_open(registry, row, made, ROLE):
        registry.join(made, row, "role", SAID_ROLE, "a message names the bearer of the role", cause)


def _bearers(registry: Registry, said: SaidRole) -> list[Row]:
    near = registry.near(f"${role}" for role in {said.role, head_role(said.role)})
    return [other for other in near if _is_role_row(other, said.role, said.owner)]


def _unfilled(registry: Registry, row: Row, said: SaidRole) -> list[Row]:
    """The rows of a role that was spoken of, and that nobody is known to fill."""
    found = _bearers(registry, said)
    return [other for other in found if not _named(registry, other) and is_open(registry, row, other, ROLE)]


def apply_apposed(registry: Registry, row: Row, name: str, cause: Cause) -> None:
    """Makes a role one with the name behind it, if nobody fills it yet: `my boss, Yolanda, left`."""
    if not name or _named(registry, row):
        return
    known = [other for other in registry.named(name_key(name)) if other["entity_type"] == EntityType.PERSON]
    bearer = known[0] if known else registry.create(name, EntityType.PERSON, "", cause, "role")
    if len(known) < 2 and is_open(registry, row, bearer, ROLE):
        registry.join(row, bearer, "role", SAID_ROLE, "a message names the bearer of the role", cause)


def _is_role_row(row: Row, role: str, owner: str) -> bool:
    person = parsed(row).person
    if person is None or not person.is_role:
        return False
    return is_same_role(person.role, role) and (owner_in(row["qualifiers"]) or person.owner) == owner


def _named(registry: Registry, row: Row) -> list[Row]:
    """The rows of a group that are names, not roles."""
    named = []
    for member in registry.group(row):
        person = parsed(member).person
        if person is not None and not person.is_role:
            named.append(member)
    return named


def _join_noun(registry: Registry, row: Row, said: SaidRole, cause: Cause) -> None:
    """`The python is called Monty`, `Mr. Sayın is the tree man`: if such a one was spoken of, and has no name yet."""
    others = [
        other
        for other in registry.named(name_key(said.text))
        if other["entity_type"] == row["entity_type"] and not registry.are_one(other, row) and not is_user(other)
    ]
    open_ones = [other for other in others if is_open(registry, row, other, ROLE)]
    if len(open_ones) == 1 and not _proper(registry, open_ones[0]):
        registry.join(open_ones[0], row, "role", SAID_ROLE, "a message says what its name is", cause)


def _proper(registry: Registry, row: Row) -> bool:
    return any(parsed(member).is_proper for member in registry.group(row) if member is not row)


def link_role(registry: Registry, row: Row, cause: Cause) -> None:
    """Joins the row of a role met first with who was said to fill it, or with other words for the same role."""
    if row["entity_type"] != EntityType.PERSON:
        _link_noun(registry, row, cause)
        return
    person = parsed(row).person
    if person is None:
        return
    if not person.is_role:
        _link_noun(registry, row, cause)
        return
    owner = owner_in(row["qualifiers"]) or person.owner
    wanted = as_qualifier(person.role, owner)
    keys = [f"${role}" for role in _akin(person.role)]
    found: dict[str, Row] = {}
    for other in registry.near(keys):
        if registry.are_one(row, other) or is_user(other) or row["name_key"] == other["name_key"]:
            continue
        is_bearer = any(_fits(q, wanted) for q in other["qualifiers"]) and not _is_role_row(
            other, other["canonical_name"], owner
        )
        if (is_bearer or _is_role_row(other, person.role, owner)) and is_open(registry, row, other, ROLE):
            found.setdefault(registry.representative(other)["entity_id"], other)
    bearers = list(found.values())
    if len(bearers) > 1 and head_role(person.role) in roles().unique:
        bearers = [max(bearers, key=lambda other: (other["last_referenced"], other["entity_id"]))]
    if len(bearers) == 1:
        registry.join(row, bearers[0], ROLE.method, ROLE.score, "the one who was said to fill the role", cause)


def _akin(role: str) -> set[str]:
    head = head_role(role)
    return {role, head, *(member for group in roles().partners if head in group for member in group)}


def _fits(qualifier: str, wanted: str) -> bool:
    if qualifier.startswith((OF, AT)):
        return False
    role, _, owner = qualifier.partition(f" {OF}")
    wanted_role, _, wanted_owner = wanted.partition(f" {OF}")
    return owner == wanted_owner and is_same_role(role, wanted_role)


def _link_noun(registry: Registry, row: Row, cause: Cause) -> None:
    """Joins a common noun with the one thing that was said to be such a one: the tree man."""
    if parsed(row).is_proper:
        return
    keys = {f"${row['name_key']}", f"${fold(row['name_key'])}"}
    found: dict[str, Row] = {}
    for other in registry.near(keys):
        if registry.are_one(row, other) or other["entity_type"] != row["entity_type"]:
            continue
        if fold(row["name_key"]) in other["qualifiers"] and is_open(registry, row, other, ROLE):
            found.setdefault(registry.representative(other)["entity_id"], other)
    if len(found) == 1:
        other = next(iter(found.values()))
        registry.join(row, other, ROLE.method, ROLE.score, "the one who was said to be such a one", cause)


def apply_partners(registry: Registry, row: Row, said: Iterable[Partner], cause: Cause) -> None:
    """Makes two names one because a message says so."""
    for partner in said:
        other = _partner_row(registry, row, partner, cause)
        if other is None or registry.are_one(row, other):
            continue
        apart = {name for member in registry.group(row) for name in member["distinct_from"]}
        is_apart = any(member["entity_id"] in apart for member in registry.group(other))
        if is_apart or is_kept_apart(registry, registry.group(row), registry.group(other)):
            continue
        if clash(qualifiers_of(registry.group(row)), qualifiers_of(registry.group(other))):
            continue
        registry.join(row, other, STATEMENT.method, STATEMENT.score, "a message says that both are names of one", cause)


def _partner_row(registry: Registry, row: Row, partner: Partner, cause: Cause) -> Row | None:
    """The row of the other name, if the statement is strong enough for what is known of it."""
    key = name_key(partner.name)
    if not key or fold(key) in words("nothing") or fold(key) in words("dates"):
        return None
    known = [
        other
        for other in registry.near([f"={compact_key(partner.name)}"])
        if is_same_kind(other["entity_type"], row["entity_type"]) and not is_user(other)
    ]
    known = known or _comparable(registry, partner.name, row)
    is_alike = _is_alike(row, partner.name)
    if known:
        if partner.strength == "alike" and not is_alike:
            return None
        return max(known, key=lambda other: (other["last_referenced"], other["entity_id"]))
    if registry.named(key) or row["entity_type"] not in NAMED_TYPES:
        return None
    if partner.strength == "sure" or (is_alike and partner.strength == "likely") or _is_comparable(row, partner.name):
        return registry.create(partner.name, row["entity_type"], "", cause, "statement")
    return None


def _comparable(registry: Registry, name: str, row: Row) -> list[Row]:
    """Who else the other name can only be: Juan Carlos of Juan Carlos Ibarra."""
    wanted = parse_name(name, row["entity_type"])
    found: dict[str, Row] = {}
    for other in registry.alike(name, row["entity_type"]):
        if other is row or other["entity_type"] != row["entity_type"] or is_user(other):
            continue
        verdict = compare(wanted, parsed(other))
        if verdict is not None and verdict.method in ("part", "spelling", "initials"):
            found.setdefault(registry.representative(other)["entity_id"], other)
    return list(found.values()) if len(found) == 1 else []


def _is_alike(row: Row, name: str) -> bool:
    """Whether the other name looks like this one: a slip of the tongue does not."""
    own, other = parsed(row), parse_name(name, row["entity_type"])
    if own.compact[:SHARED_LETTERS] == other.compact[:SHARED_LETTERS]:
        return True
    return _is_comparable(row, name)


def _is_comparable(row: Row, name: str) -> bool:
    verdict = compare(parsed(row), parse_name(name, row["entity_type"]))
    return verdict is not None and not verdict.is_conflict
