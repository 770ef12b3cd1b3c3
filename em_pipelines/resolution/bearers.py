"""The bearer of a name in one message: what it says that somebody is, and whose."""

import re
from dataclasses import dataclass, replace

from em_pipelines.resolution.name_parts import PEOPLE, Name, Person, parse_name, role_of
from em_pipelines.resolution.qualifiers import AT, as_qualifier
from em_pipelines.resolution.role_statements import (
    OTHER,
    SaidRole,
    denied_of,
    is_somebody,
    nouns_said,
    owner_of_mention,
    roles_apposed,
    roles_said,
    where_from,
    word_beside,
)
from em_pipelines.resolution.speech import ALONE, Speech
from em_pipelines.resolution.word_lists import NOWHERE, Place, is_another, is_introduced, is_one_more, roles
from em_pipelines.schema.rows import MentionRow
from em_pipelines.text.name_keys import fold, name_key

_OWNED = re.compile(r"(?<![\w'])(my|our|your) $", re.IGNORECASE)


_PRONOUNS = frozenset({"his", "her", "their"})


@dataclass(frozen=True, slots=True)
class Bearer:
    """What a message says about the bearer of a name: type, whose role it is, what and where from, what it is not, and
    whether it is another one than before, or one more."""

    name: Name
    entity_type: str
    owner: str = ""
    qualifiers: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    beside: str = ""
    """The word before the name, which tells who is meant if somebody was told by it: `choir Anna`."""
    is_another: bool = False
    is_one_more: bool = False
    is_somebody: bool = False

    @property
    def is_role(self) -> bool:
        """Named by a role alone."""
        return self.name.person is not None and self.name.person.is_role


def roles_of_mention(mention: MentionRow, place: Place, speech: Speech = ALONE) -> list[SaidRole]:
    """What the message, the extractor and the name itself say that somebody is, each with its owner; nothing of which
    it is unclear whose."""
    if mention["entity_type"] not in PEOPLE:  # what a thing is, is nobody's
        return _roles_of_mention(mention, place)
    owned = ((role, speech.owner(role.owner or "my")) for role in _roles_of_mention(mention, place))
    return [replace(role, owner=fold(name_key(owner))) for role, owner in owned if owner is not None]


def _roles_of_mention(mention: MentionRow, place: Place) -> list[SaidRole]:
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


def _owner_marks(place: Place, said: list[SaidRole], speech: Speech) -> list[str]:
    """Whose somebody is of those who speak, by a role or by `my Hanna`."""
    if not speech.is_among_people:
        return []
    found = _OWNED.search(place.before)
    named = speech.owner(found[1].casefold()) if found else None
    owners = {role.owner for role in said} | ({fold(name_key(named))} if named is not None else set())
    return [mark for owner in sorted(owners) for mark in speech.marks(owner)]


def bearer_of(mention: MentionRow, place: Place, said: list[SaidRole], speech: Speech = ALONE) -> Bearer:
    entity_type = mention["entity_type"]
    name = parse_name(mention["name"], entity_type)
    if name.person is None:
        return Bearer(name, entity_type, is_another=is_another(place))
    if name.person.is_role:
        told = fold(owner_of_mention(place))
        return Bearer(name, entity_type, owner=name.person.owner or (told if told in _PRONOUNS else ""))
    if speech.is_speaker(mention["name"]) and not said:
        return Bearer(name, entity_type, qualifiers=(speech.speaker_mark(),))
    qualifiers = [as_qualifier(role.role, role.owner) for role in said]
    qualifiers += _owner_marks(place, said, speech)
    qualifiers += [f"{AT}{where}" for where in (name.person.where, where_from(place)) if where]
    is_new = is_another(place) or (name.is_proper and is_introduced(place, is_single=not name.person.given))
    denied = [*denied_of(place), *(q.removeprefix(OTHER) for q in qualifiers if q.startswith(OTHER))]
    return Bearer(
        name, entity_type, qualifiers=tuple(q for q in qualifiers if q not in denied), denied=tuple(denied),
        beside=word_beside(place),
        is_another=is_new, is_one_more=is_one_more(place), is_somebody=is_somebody(place),
    )  # fmt: skip
