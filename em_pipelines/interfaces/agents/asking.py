"""What one user's memory answers from Python: facts as readers see them, and what a question finds."""

from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any

from em_pipelines.errors import UsageError
from em_pipelines.governance.corrections import Fact
from em_pipelines.pipeline import Pipeline
from em_pipelines.redaction.veils import hiding
from em_pipelines.retrieval.documents import Hit
from em_pipelines.retrieval.search import Search
from em_pipelines.retrieval.user_search import ask, seen_from
from em_pipelines.serving.facts import FactQuery, FactRow, check_made, facts


def today() -> date:
    """Today by UTC."""
    return datetime.now(UTC).date()


def as_day(given: date | str | None, name: str) -> date | None:
    """A day as it may be given: a date, a moment (its day by UTC), or text (YYYY-MM-DD). Raises UsageError."""
    if isinstance(given, str):
        try:
            return date.fromisoformat(given)
        except ValueError as error:
            raise UsageError(f"reading {name}: {given!r:.40} is no day; give YYYY-MM-DD, or a date") from error
    if not isinstance(given, datetime):
        return given
    if given.tzinfo is None:
        raise UsageError(f"reading {name}: {given} has no offset, so its day is not known; give a date")
    return given.astimezone(UTC).date()


def known_facts(home: Pipeline, query: FactQuery, until: date, domain: str | None) -> list[Fact]:
    """The facts, best first: feedback given up to the end of `until` that waits is laid over them, what is to be
    forgotten is gone, and in a domain no more is told than was said there. Raises NotMadeError where none are known for
    no run has read what was said."""
    found = told_facts(home, query, until, domain)
    if not found and home.waiting(query.user_id, until) is None:
        check_made(home.store, query.user_id, "reading facts")
    return found


def told_facts(home: Pipeline, query: FactQuery, until: date, domain: str | None = None) -> list[Fact]:
    """The same, and none where none are known, for whatever reason."""
    waiting = home.waiting(query.user_id, until)
    view = seen_from(home, query.user_id, domain)
    hides = hiding(home, query.user_id)
    return facts(home.store, query, home.settings.decay, waiting, hides, view.told if view else _as_it_is)


def hits(  # noqa: PLR0913  (what is asked, each by its name)
    home: Pipeline,
    user: str,
    query: str,
    *,
    k: int | None,
    kinds: Iterable[str],
    as_of: date | str | None,
    n_hops: int,
    domain: str | None,
    **narrowed: Any,
) -> list[Hit]:
    """What a question finds in the user's pack, best first; `narrowed` are fields of `retrieval.search.Search`."""
    asked: dict[str, Any] = {"domain": domain, "is_capped": k is not None, **narrowed}
    asked |= {name: frozenset(asked[name]) for name in ("sessions", "entities", "relations") if name in asked}
    asked["tags"] = frozenset(tag.strip().casefold() for tag in asked.get("tags", ()))
    n_hits, day = k or home.settings.retrieval.n_hits, as_day(as_of, "as_of")
    return ask(home, user, Search(query, n_hits, day or today(), frozenset(kinds), day, **asked), n_hops)


def _as_it_is(row: FactRow) -> FactRow:
    return row
