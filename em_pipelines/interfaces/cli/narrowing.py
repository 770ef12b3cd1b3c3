"""Names by which a question is narrowed: entities, conversations, tags, domains and relations. Where one is none, the
nearest is said; relations are a closed list, and another one is wrong use."""

from collections.abc import Callable, Iterable
from datetime import date
from typing import TYPE_CHECKING

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.cli.console import say

if TYPE_CHECKING:
    from em_pipelines.pipeline import Pipeline


def check_relations(relations: Iterable[str]) -> None:
    """Raises UsageError for what is no relation of the vocabulary, naming the nearest."""
    from em_pipelines.schema.near_names import hint
    from em_pipelines.schema.vocabulary import RELATIONS

    for relation in relations:
        if relation not in RELATIONS:
            meant = hint(relation, RELATIONS) or "docs/neo4j.md lists them all"
            raise UsageError(f"reading --relation: {relation!r:.80} is no relation of the vocabulary; {meant}")


def note_unknown_names(
    home: "Pipeline",
    user_id: str,
    *,
    entities: Iterable[str] = (),
    sessions: Iterable[str] = (),
    tags: Iterable[str] = (),
    domain: str | None = None,
) -> None:
    """For an answer that is empty: says on stderr which of the names that it was narrowed by are none of this user."""
    asked: tuple[tuple[str, Iterable[str], Callable[[], set[str]]], ...] = (
        ("entity", entities, lambda: _names(home, user_id)),
        ("conversation", sessions, lambda: _said(home, user_id, "session_id")),
        ("tag", tags, lambda: _said(home, user_id, "tags")),
        ("domain", [domain] if domain else [], lambda: _said(home, user_id, "domain")),
    )
    for kind, wanted, read in asked:
        names = [*wanted]
        _note(kind, names, read() if names else set())


def _note(kind: str, wanted: list[str], known: set[str]) -> None:
    from em_pipelines.language.name_keys import name_key
    from em_pipelines.schema.near_names import hint

    keys = {name_key(one) for one in known}
    for name in wanted:
        if name_key(name) not in keys:
            meant = hint(name, known)
            say(f"no {kind} of this user is called {name!r:.80}{f'; {meant}' if meant else ''}")


def _names(home: "Pipeline", user_id: str) -> set[str]:
    from em_pipelines.schema.tables.graph import ENTITIES

    day = home.store.lake.latest(ENTITIES, date.max)
    if day is None:
        return set()
    rows = home.store.lake.find(ENTITIES, day, "user_id", [user_id])
    return {*rows["canonical_name"].to_pylist(), *(alias for own in rows["aliases"].to_pylist() for alias in own)}


def _said(home: "Pipeline", user_id: str, column: str) -> set[str]:
    """What stands in a column of the user's messages; of a list its items."""
    from em_pipelines.schema.tables.clean import MESSAGES

    lake = home.store.lake
    found: set[str] = set()
    for day in lake.days(MESSAGES):
        for value in lake.find(MESSAGES, day, "user_id", [user_id])[column].to_pylist():
            found.update(value if isinstance(value, list) else filter(None, [value]))
    return found
