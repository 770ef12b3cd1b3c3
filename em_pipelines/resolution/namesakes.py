"""Which bearer of a name a mention means: by type, by whose and what somebody is, by who was spoken of last."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from em_pipelines.resolution.kinds import is_one_under_one_name
from em_pipelines.resolution.lexicon import is_given_name, roles, words
from em_pipelines.resolution.naming import Name, head_role
from em_pipelines.resolution.normalization import fold, name_key
from em_pipelines.resolution.objections import qualifiers_of
from em_pipelines.resolution.qualifiers import as_qualifier, clash, owner_in
from em_pipelines.resolution.settings import ResolutionSettings
from em_pipelines.resolution.state import Registry, is_user, parsed
from em_pipelines.vocabulary import EntityType

Row = dict[str, Any]
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


@dataclass(frozen=True, slots=True)
class Choice:
    """A row that is meant, or the discriminator of a new one."""

    row: Row | None
    discriminator: str = ""


def choose(registry: Registry, bearer: Bearer, when: datetime, settings: ResolutionSettings) -> Choice:
    """Returns the row of the name that is meant, or what tells a new one from those that stand."""
    rows = registry.named(name_key(bearer.name.text))
    person = bearer.name.person
    if not rows:
        return Choice(None, bearer.owner)
    fitting = _of_type(registry, rows, bearer)
    if not fitting:
        return Choice(None, bearer.entity_type)
    if person is not None and person.is_role:
        theirs = [row for row in fitting if owner_in(row["qualifiers"]) == bearer.owner]
        return _choose_role(theirs, person.role, bearer.owner, when, settings)
    if bearer.is_another:
        return Choice(None, ANOTHER) if len(fitting) == 1 else Choice(_last(fitting))
    said = [row for row in fitting if set(bearer.qualifiers) & qualifiers_of(registry.group(row))]
    fitting = said or [row for row in fitting if not clash(bearer.qualifiers, qualifiers_of(registry.group(row)))]
    return Choice(_spoken_of(fitting, when, settings)) if fitting else Choice(None, min(bearer.qualifiers))


def _of_type(registry: Registry, rows: list[Row], bearer: Bearer) -> list[Row]:
    """The rows that can be what is meant, those of the very type before others."""
    if is_user(rows[0]):
        return rows[:1]
    if not is_person(bearer.entity_type):
        rows = [row for row in rows if not _fills_a_role(row)]  # Greta works as a physio, and is not the work
    n_tokens = bearer.name.n_telling
    fitting = [row for row in rows if is_one_under_one_name(row["entity_type"], bearer.entity_type, n_tokens)]
    fitting = [row for row in fitting if row["entity_type"] == bearer.entity_type] or fitting
    return fitting or [row for row in rows if is_guessed(registry, row, bearer)]


def _fills_a_role(row: Row) -> bool:
    person = parsed(row).person
    return person is not None and person.is_role


def is_guessed(registry: Registry, row: Row, bearer: Bearer) -> bool:
    """Whether a name was taken for a person's, now or before, with nothing to show for it: unknown names mostly are.

    Pets are spoken of like people. A name that many people bear, a role, a place to tell somebody by, or what only
    people do, are enough to believe it.
    """
    types = {row["entity_type"], bearer.entity_type}
    if EntityType.PERSON not in types or types <= {EntityType.PERSON, EntityType.CONCEPT}:
        return False
    if types == {EntityType.PERSON, EntityType.ANIMAL}:
        return not bearer.qualifiers and not qualifiers_of(registry.group(row))
    first = bearer.name.all_tokens[0] if bearer.name.all_tokens else ""
    if fold(bearer.name.text) in words("names_of_many_things") or is_given_name(first):
        return False
    if bearer.entity_type == EntityType.PERSON:
        return not (bearer.qualifiers or bearer.is_somebody) and row["entity_type"] != EntityType.PERSON
    return not qualifiers_of(registry.group(row))


def _choose_role(rows: list[Row], role: str, owner: str, when: datetime, settings: ResolutionSettings) -> Choice:
    """`My boss` is the one spoken of last; which of two brothers is `my brother`, only this conversation can say."""
    if not rows:
        return Choice(None, owner)
    last = _last(rows)
    is_recent = last["last_referenced"] >= when - timedelta(hours=settings.conversation_hours)
    if len(rows) == 1 or head_role(role) in roles().unique or is_recent:
        return Choice(last)
    return Choice(None, as_qualifier(UNSAID, owner))


def _spoken_of(rows: list[Row], when: datetime, settings: ResolutionSettings) -> Row:
    """The namesake spoken of in this conversation, else the one spoken of most, else the one met first."""
    last = _last(rows)
    if last["last_referenced"] >= when - timedelta(hours=settings.conversation_hours):
        return last
    return max(rows, key=lambda row: (row["mention_count"], -row["first_seen"].timestamp(), row["entity_id"]))


def _last(rows: list[Row]) -> Row:
    return max(rows, key=lambda row: (row["last_referenced"], row["entity_id"]))


def is_person(entity_type: str) -> bool:
    """Whether roles of people can be said of it."""
    return entity_type == EntityType.PERSON
