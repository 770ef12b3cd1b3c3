"""One mention meets the registry: the row of its name is found or made, and what its message says of it is kept.

Which bearer of a name is meant is told by type, by whose and what somebody is, by who was spoken of last. Everything
that is remembered stands in rows, so that the next day goes on where this one ended.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p

from em_pipelines.language.name_keys import name_key, namesakes, noun_of
from em_pipelines.resolution.linking import GUESSED, Wording, fitting, link_by_name, qualifiers_of
from em_pipelines.resolution.name_parts import is_nameable, parse_name
from em_pipelines.resolution.namesakes import Bearer, Choice, bearer_of, choose, is_given_of, roles_of_mention, unused
from em_pipelines.resolution.qualifiers import ALONE, OF, Speech, clash, name_by_owner
from em_pipelines.resolution.role_statements import is_definite, owner_of_mention
from em_pipelines.resolution.settings import ResolutionSettings
from em_pipelines.resolution.stated_links import apply_apposed, apply_partners, apply_roles, link_role, link_to_alias
from em_pipelines.resolution.user_registry import Cause, Grounds, Registry, is_user
from em_pipelines.resolution.word_lists import (
    NOWHERE,
    Place,
    apposed,
    is_called_so,
    is_denied,
    is_told_from_part,
    joined_names,
    locate,
    partners,
)
from em_pipelines.schema.rows import EntityRow, MentionRow
from em_pipelines.schema.vocabulary import USER, EntityType

MENTIONS_AT_FULL_IMPORTANCE = 50
MENTIONS_AT_FULL_CERTAINTY = 3
NAMESAKE = "namesake"
"""How a mention was found that might be another's of its name; the score is one by their number."""
HINTED = Grounds("hint", 0.9, "the one whose full name the agent gave to what the message mentions")
SPOKEN_OF_IN_FULL = Grounds("part", 0.9, "the one of that name who was spoken of in full in the conversation")


@dataclass(frozen=True, slots=True)
class Heard:
    """What a message says, and the full names that an agent gave to what it mentions."""

    content: str = ""
    hints: Sequence[str] = ()
    speech: Speech = ALONE


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
    by_owner = owned(mention, place_of(mention, heard.content), heard.speech)
    return None if by_owner is None else _see_named(registry, by_owner, heard, settings, cause)


def _see_named(
    registry: Registry, mention: MentionRow, heard: Heard, settings: ResolutionSettings, cause: Cause
) -> Seen | None:
    content = heard.content
    place, name = place_of(mention, content), mention["name"]
    said = roles_of_mention(mention, place, heard.speech)
    bearer = bearer_of(mention, place, said, heard.speech)
    hinted = None if is_denied(place) else _hinted(registry, bearer, heard.hints)
    choice = hinted or choose(registry, bearer, mention["timestamp"], settings, heard.speech)
    if choice.is_unclear:
        return None
    row, is_new = choice.row, False
    if row is None:
        row, is_new = _create(registry, mention, bearer, choice.discriminator, cause)
    is_new |= _count(registry, row, mention)
    if choice.full is not None:
        registry.join(row, choice.full, HINTED if hinted else SPOKEN_OF_IN_FULL, cause)
    _keep(registry, row, bearer, place, heard)
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


def _keep(registry: Registry, row: EntityRow, bearer: Bearer, place: Place, heard: Heard) -> None:
    """Keeps in a row what its bearer is said to be, and whom it is told apart from."""
    _set_apart_from_denied(registry, row, bearer)
    for other in (*joined_names(place), *_namesakes_of(bearer.name.text, heard.content)):
        _set_apart_from_joined(registry, row, other)
    for qualifier in (*bearer.qualifiers, *_marks(bearer, heard.speech)):
        registry.qualify(row, qualifier)


def _namesakes_of(name: str, content: str) -> list[str]:
    """The names in full of those who are the same to others in the message: Ann's brother Tom, of Bea's brother Tom."""
    found = [[one.in_full for one in owned] for owned in namesakes(content).values()]
    return [other for names in found if name in names for other in names if other != name]


def place_of(mention: MentionRow, content: str) -> Place:
    """The sentence around a mention; around the noun of `Bea's brother`, which she calls her brother."""
    place = locate(content, mention["name"], mention["span_start"], mention["span_end"])
    noun = noun_of(mention["name"])
    return locate(content, noun, mention["span_start"], mention["span_end"]) if place is NOWHERE else place


def owned(mention: MentionRow, place: Place, speech: Speech) -> MentionRow | None:
    """The mention by the name that tells whose a role is; None where that is unclear."""
    determiner = None if place is NOWHERE else owner_of_mention(place)
    name = name_by_owner(parse_name(mention["name"], mention["entity_type"]), determiner, speech)
    return None if name is None else mention if name == mention["name"] else {**mention, "name": name}


def _marks(bearer: Bearer, speech: Speech) -> tuple[str, ...]:
    """What is kept of whoever is spoken of among people: of a role, whose; and who spoke of them."""
    if bearer.name.person is None:
        return ()
    return (*(speech.marks(bearer.owner) if bearer.is_role else ()), *speech.source())


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


def _hinted(registry: Registry, bearer: Bearer, hints: Sequence[str]) -> Choice | None:
    """Whom a hint means: of those whose given name the message says, the one known by the full name that the agent
    gave, unless what is said of the bearer clashes with what is known of them. A hint of nobody known makes nobody."""
    person = bearer.name.person
    if person is None or not person.single or bearer.is_another or bearer.is_one_more:
        return None
    known = [row for hint in hints for row in registry.named(name_key(hint)) if is_given_of(person.single, row)]
    if len({registry.group(row)[0]["entity_id"] for row in known}) != 1:
        return None
    full, rows = known[0], registry.named(name_key(bearer.name.text))
    if clash(set(bearer.qualifiers), qualifiers_of(registry.group(full))):
        return None
    one = next((row for row in rows if registry.are_one(row, full)), None)
    return Choice(one) if one else Choice(None, unused(rows, full["name_key"]) if rows else "", full)
