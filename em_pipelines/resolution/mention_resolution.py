"""One mention meets the registry: the row of its name is found or made, and what its message says of it is kept.

Which bearer of a name is meant is told by type, by whose and what somebody is, by who was spoken of last. Everything
that is remembered stands in rows, so that the next day goes on where this one ended.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from math import log1p

from em_pipelines.resolution.clusters import is_one_under_one_name
from em_pipelines.resolution.linking import Wording, fitting, link_by_name, qualifiers_of
from em_pipelines.resolution.name_parts import (
    AT,
    OF,
    Name,
    as_qualifier,
    clash,
    head_role,
    is_nameable,
    is_same_role,
    owner_in,
)
from em_pipelines.resolution.role_statements import (
    NEW,
    OTHER,
    Bearer,
    bearer_of,
    is_definite,
    roles_of_mention,
)
from em_pipelines.resolution.settings import ResolutionSettings
from em_pipelines.resolution.stated_links import apply_apposed, apply_partners, apply_roles, link_role, link_to_alias
from em_pipelines.resolution.user_registry import Cause, Grounds, Registry, is_user, parsed
from em_pipelines.resolution.word_lists import (
    apposed,
    is_called_so,
    is_denied,
    is_listed_name,
    is_told_from_part,
    joined_names,
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
NAMESAKE = "namesake"
"""How a mention was found that might be another's of its name; the score is one by their number."""
HINTED = Grounds("hint", 0.9, "the one whose full name the agent gave to what the message mentions")
SPOKEN_OF_IN_FULL = Grounds("part", 0.9, "the one of that name who was spoken of in full in the conversation")
GUESSED = frozenset({EntityType.CONCEPT, EntityType.PERSON})
"""Types that are given to what nothing is known of; another one is believed in their place."""
UNSAID = "unsaid"
ANOTHER = "another"


@dataclass(frozen=True, slots=True)
class Heard:
    """What a message says, and the full names that an agent gave to what it mentions."""

    content: str = ""
    hints: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """A row that is meant, or the discriminator of a new one, with the fuller name that it shortens where that is
    known; and how many bearers of the name might be meant."""

    row: EntityRow | None
    discriminator: str = ""
    full: EntityRow | None = None
    n_namesakes: int = 1


@dataclass(frozen=True, slots=True)
class Seen:
    """The row that a mention names, and how it was found."""

    row: EntityRow
    method: str
    score: float


def see(registry: Registry, mention: MentionRow, heard: Heard, settings: ResolutionSettings) -> Seen | None:
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
    return _see_named(registry, mention, heard, settings, cause)


def _see_named(
    registry: Registry, mention: MentionRow, heard: Heard, settings: ResolutionSettings, cause: Cause
) -> Seen:
    name, content = mention["name"], heard.content
    place = locate(content, name, mention["span_start"], mention["span_end"])
    said = roles_of_mention(mention, place)
    bearer = bearer_of(mention, place, said)
    hinted = None if is_denied(place) else _hinted(registry, bearer, heard.hints)
    choice = hinted or choose(registry, bearer, mention["timestamp"], settings)
    row, is_new = choice.row, False
    if row is None:
        row, is_new = _create(registry, mention, bearer, choice.discriminator, cause)
    is_new |= _count(registry, row, mention)
    if choice.full is not None:
        registry.join(row, choice.full, HINTED if hinted else SPOKEN_OF_IN_FULL, cause)
    _set_apart_from_denied(registry, row, bearer)
    for other in joined_names(place):
        _set_apart_from_joined(registry, row, other)
    for qualifier in bearer.qualifiers:
        registry.qualify(row, qualifier)
    if is_new:
        link_to_alias(registry, row, cause)
    apply_roles(registry, row, said, cause)
    if bearer.is_role:
        apply_apposed(registry, row, apposed(place), cause)
    if is_denied(place) or bearer.is_another or bearer.is_one_more or is_told_from_part(content, name):
        _set_apart_from_alike(registry, row, settings)
    else:
        apply_partners(registry, row, partners(place), cause)
        if is_new:
            link_role(registry, row, cause)
            link_by_name(registry, row, Wording(is_definite(place, name), is_called_so(place)), settings, cause)
    if choice.n_namesakes > 1:
        return Seen(row, NAMESAKE, round(1 / choice.n_namesakes, 4))
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


def _set_apart_from_joined(registry: Registry, row: EntityRow, name: str) -> None:
    """Notes that a row is not the one of the other name that is counted beside it."""
    for other in registry.named(name_key(name)):
        if other["entity_type"] == row["entity_type"] and not registry.are_one(row, other):
            registry.set_apart(row, other)


def _set_apart_from_denied(registry: Registry, row: EntityRow, bearer: Bearer) -> None:
    """Notes that a row is none of the namesakes who are what its bearer was said not to be."""
    for other in registry.named(row["name_key"]) if bearer.denied else ():
        if other["entity_type"] == row["entity_type"] and not registry.are_one(row, other):
            registry.set_apart(row, other)


def _seen(row: EntityRow, *, is_new: bool) -> Seen:
    """How the row was found: by its very name, by what joined it with others at once, or it is new."""
    if not is_new:
        return Seen(row, "exact", 1.0)
    if row["links"]:
        return Seen(row, str(row["links"][0]["method"]), float(row["links"][0]["score"]))
    return Seen(row, "new", 1.0)


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


def choose(registry: Registry, bearer: Bearer, when: datetime, settings: ResolutionSettings) -> Choice:
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
    if not told:
        return Choice(None, _unused(rows, _told_by(bearer)))
    return _spoken_of(registry, told, bearer, since)


def _hinted(registry: Registry, bearer: Bearer, hints: Sequence[str]) -> Choice | None:
    """Whom a hint means: of those whose given name the message says, the one known by the full name that the agent
    gave, unless what is said of the bearer clashes with what is known of them. A hint of nobody known makes nobody."""
    person = bearer.name.person
    if person is None or not person.single or bearer.is_another or bearer.is_one_more:
        return None
    known = [row for hint in hints for row in registry.named(name_key(hint)) if _is_given_of(person.single, row)]
    if len({registry.group(row)[0]["entity_id"] for row in known}) != 1:
        return None
    full, rows = known[0], registry.named(name_key(bearer.name.text))
    if clash(set(bearer.qualifiers), qualifiers_of(registry.group(full))):
        return None
    one = next((row for row in rows if registry.are_one(row, full)), None)
    return Choice(one) if one else Choice(None, _unused(rows, full["name_key"]) if rows else "", full)


def _told_by(bearer: Bearer) -> str:
    """What tells a bearer from the namesakes who cannot be meant."""
    if bearer.is_another or bearer.is_one_more:
        return ANOTHER
    return min(bearer.qualifiers) if bearer.qualifiers else f"not {min(bearer.denied)}"


def _unused(rows: list[EntityRow], discriminator: str) -> str:
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
        return Choice(None, _unused(registry.named(last["name_key"]), full["name_key"]), full)
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
        and _is_given_of(person.single, other)
        and not any(registry.are_one(row, other) or other["entity_id"] in row["distinct_from"] for row in rows)
    ]
    return _last(registry, recent) if recent else None


def _is_given_of(single: str, other: EntityRow) -> bool:
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
