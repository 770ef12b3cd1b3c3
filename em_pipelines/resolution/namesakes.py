"""Which bearer of a name is meant: what the message says of the bearer, against what is known of the namesakes.

`bearer_of` extracts type, owner and roles from one message; `choose` compares them with the entities of that name, and
prefers the one mentioned last.
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count

from em_pipelines.language.name_keys import fold, name_key
from em_pipelines.resolution.clusters import is_one_under_one_name
from em_pipelines.resolution.linking import GUESSED, qualifiers_of
from em_pipelines.resolution.name_parts import PEOPLE, Name, Person, head_role, parse_name, role_of
from em_pipelines.resolution.qualifiers import (
    ALONE,
    AT,
    BY,
    FROM,
    Speech,
    as_qualifier,
    clash,
    is_same_role,
    owner_in,
    owners_of,
    qualifiers_by,
)
from em_pipelines.resolution.role_statements import (
    NEW,
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
from em_pipelines.resolution.settings import ResolutionSettings
from em_pipelines.resolution.user_registry import Registry, is_user, parsed
from em_pipelines.resolution.word_lists import (
    NOWHERE,
    Place,
    is_another,
    is_introduced,
    is_listed_name,
    is_one_more,
    roles,
    words,
)
from em_pipelines.schema.rows import EntityRow, MentionRow
from em_pipelines.schema.vocabulary import EntityType

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


UNSAID = "unsaid"


ANOTHER = "another"


@dataclass(frozen=True, slots=True)
class Choice:
    """A row that is meant, or the discriminator of a new one, with the fuller name that it shortens where that is
    known; and how many bearers of the name might be meant."""

    row: EntityRow | None
    discriminator: str = ""
    full: EntityRow | None = None
    n_namesakes: int = 1
    is_unclear: bool = False
    """Which of several owners' namesakes is meant: then nobody is, for the fact would be another's."""


def choose(
    registry: Registry, bearer: Bearer, when: datetime, settings: ResolutionSettings, speech: Speech = ALONE
) -> Choice:
    """Returns the row of the name that is meant, or what tells a new one from those that stand."""
    rows = registry.named(name_key(bearer.name.text))
    if not rows:
        return Choice(None, bearer.owner)  # a full name may have it: that is compared when the row stands
    of_type = _of_type(registry, rows, bearer)
    since = when - timedelta(hours=settings.conversation_hours)
    if not of_type:
        return Choice(None, bearer.entity_type)
    if bearer.name.person is not None and bearer.is_role:
        return _choose_role(registry, of_type, bearer.name.person.role, bearer.owner, since)
    if bearer.is_another and not bearer.is_one_more and len(of_type) > 1:
        return Choice(_other_one(registry, of_type))
    told = [] if bearer.is_another or bearer.is_one_more else _told_to_be(registry, of_type, bearer)
    told = [row for row in told if _may_be_owned(registry, row, bearer, speech)]
    return _chosen(registry, told, bearer, since, speech) if told else Choice(None, unused(rows, _told_by(bearer)))


def _chosen(registry: Registry, told: list[EntityRow], bearer: Bearer, since: datetime, speech: Speech) -> Choice:
    if speech.is_among_people and not bearer.qualifiers and _is_others(registry, told, since, speech):
        return Choice(None, is_unclear=True)
    return _spoken_of(registry, told, bearer, since)


def _may_be_owned(registry: Registry, row: EntityRow, bearer: Bearer, speech: Speech) -> bool:
    """Whether one who is said to be somebody's may be one of whom nothing of the kind is known: not where only others
    spoke of that one."""
    theirs = {qualifier for member in registry.group(row) for qualifier in member["qualifiers"]}
    is_new = bool(qualifiers_by(BY, bearer.qualifiers)) and not qualifiers_by(BY, theirs)
    sources = qualifiers_by(FROM, theirs)
    return not (is_new and sources) or not theirs.isdisjoint((*speech.source(), *bearer.qualifiers))


def _is_others(registry: Registry, rows: list[EntityRow], since: datetime, speech: Speech) -> bool:
    """Whether a bare name may be another owner's: of namesakes of several owners only the speaker's own is sure to be
    meant, and only where that one was spoken of last in this conversation."""
    owners = {row["entity_id"]: owners_of(qualifiers_of(registry.group(row))) for row in rows}
    if len({frozenset(found) for found in owners.values()}) < 2:
        return False
    last, own = _last(registry, rows), speech.marks(fold(name_key(speech.own)))
    return _since(registry, last) < since or owners[last["entity_id"]].isdisjoint(own)


def _told_by(bearer: Bearer) -> str:
    """What tells a bearer from the namesakes who cannot be meant."""
    if bearer.is_another or bearer.is_one_more:
        return ANOTHER
    return min(bearer.qualifiers) if bearer.qualifiers else f"not {min(bearer.denied)}"


def unused(rows: list[EntityRow], discriminator: str) -> str:
    """A discriminator that no namesake has: whoever it is, he is none of them."""
    taken = {row["discriminator"] for row in rows}
    numbered = (f"{discriminator} {n}" for n in count(2))
    return discriminator if discriminator not in taken else next(found for found in numbered if found not in taken)


def _other_one(registry: Registry, rows: list[EntityRow]) -> EntityRow:
    """`The other Tom`: the one who was told of as another, else the one who was not spoken of last."""
    others = [row for row in rows if row["discriminator"].startswith(ANOTHER)]
    last = _last(registry, rows)
    return _last(registry, others or [row for row in rows if row is not last])


def _told_to_be(registry: Registry, rows: list[EntityRow], bearer: Bearer) -> list[EntityRow]:
    """Of the namesakes who can be the bearer those who were said to be what the bearer is said to be, else all."""
    said = set(bearer.qualifiers)
    is_other = any(q.startswith(OTHER) for q in said)
    can_be = []
    for row in rows:
        theirs = qualifiers_of(registry.group(row))
        if not said & theirs and _is_denied_of(bearer.denied, theirs):
            continue
        if not clash(said, theirs if is_other else {q.removeprefix(OTHER).removeprefix(NEW) for q in theirs}):
            can_be.append((row, theirs))
    told = [row for row, theirs in can_be if said & theirs]
    told = told or [row for row, theirs in can_be if bearer.beside and f"{AT}{bearer.beside}" in theirs]
    if said and not told:  # of whom nothing is known before those who are known by something else
        told = [row for row, theirs in can_be if not theirs]
    return told or [row for row, _ in can_be]


def _is_denied_of(denied: tuple[str, ...], qualifiers: set[str]) -> bool:
    """Whether somebody is what the bearer is said not to be."""
    return any(
        is_same_role(one, other) if not one.startswith(AT) else one == other for one in denied for other in qualifiers
    )


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
        is_pet = row["entity_type"] == EntityType.ANIMAL  # what is said of it tells its kind: our basset Gravy
        return not bearer.qualifiers and (is_pet or not qualifiers_of(registry.group(row)))
    if _is_borne_by_many(bearer.name):
        return False
    if bearer.entity_type == EntityType.PERSON:
        return not (bearer.qualifiers or bearer.is_somebody) and row["entity_type"] != EntityType.PERSON
    return not qualifiers_of(registry.group(row))


def _is_borne_by_many(name: Name) -> bool:
    first = name.all_tokens[0] if name.all_tokens else ""
    return fold(name.text) in words("names_of_many_things") or is_listed_name(first)


def _choose_role(registry: Registry, rows: list[EntityRow], role: str, owner: str, since: datetime) -> Choice:
    """`My boss` is the one spoken of last; which of two brothers is `my brother`, only this conversation can say."""
    theirs = [row for row in rows if owner_in(row["qualifiers"]) == owner]
    if not theirs:
        return Choice(None, owner)
    last = _last(registry, theirs)
    is_recent = _since(registry, last) >= since
    if len(theirs) == 1 or head_role(role) in roles().unique or is_recent:
        return Choice(last)
    return Choice(None, as_qualifier(UNSAID, owner))


def _spoken_of(registry: Registry, rows: list[EntityRow], bearer: Bearer, since: datetime) -> Choice:
    """The namesake spoken of in this conversation, by whatever name; else the one spoken of most, else most lately."""
    last = _last(registry, rows)
    full = _in_full(registry, rows, bearer, since)
    if full is not None and _since(registry, full) > _since(registry, last):
        return Choice(None, unused(registry.named(last["name_key"]), full["name_key"]), full)
    n_namesakes = 1 if set(bearer.qualifiers) else len(rows)
    if len(rows) == 1 or _since(registry, last) >= since:
        return Choice(last, n_namesakes=n_namesakes)
    most = max(rows, key=lambda row: (row["mention_count"], _since(registry, row), row["entity_id"]))
    return Choice(most, n_namesakes=n_namesakes)


def _in_full(registry: Registry, rows: list[EntityRow], bearer: Bearer, since: datetime) -> EntityRow | None:
    """Who of that given name was spoken of in full in this conversation, and is none of the rows: Callum of Callum
    Doyle, although Callum alone was always Callum Frew. Nobody of whom it was said that they are not the
    one who goes by that name alone."""
    person = bearer.name.person
    if person is None or not person.single or bearer.qualifiers:
        return None
    recent = [
        other
        for other in registry.near([f"~{person.single}"])
        if other["last_referenced"] >= since
        and is_given_of(person.single, other)
        and not any(registry.are_one(row, other) or other["entity_id"] in row["distinct_from"] for row in rows)
    ]
    return _last(registry, recent) if recent else None


def is_given_of(single: str, other: EntityRow) -> bool:
    person = parsed(other).person
    return person is not None and person.given == single and len(person.surname) > 1


def _since(registry: Registry, row: EntityRow) -> datetime:
    """When somebody was last spoken of by any of their names."""
    return max(member["last_referenced"] for member in registry.group(row))


def _last(registry: Registry, rows: list[EntityRow]) -> EntityRow:
    return max(rows, key=lambda row: (_since(registry, row), row["last_referenced"], row["entity_id"]))


def is_person(entity_type: str) -> bool:
    """Whether roles of people can be said of it."""
    return entity_type == EntityType.PERSON
