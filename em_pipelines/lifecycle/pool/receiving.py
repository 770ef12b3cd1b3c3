"""Taking from a pool: what is accepted of it, merged by what it tells, for one user and one domain or all.

A pool is written by others. Every file is bounded, checked against its schema, read as public words alone and led
through the gates that what the home finds itself has to pass; what fails is named and left out. Nothing of it is ever
told in its own words: what is said of it is made by our templates.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from em_pipelines.errors import UsageError
from em_pipelines.lifecycle.consolidation.evidence import Cluster
from em_pipelines.lifecycle.consolidation.safety import SafetyRules, refusal
from em_pipelines.lifecycle.consolidation.settings import ConsolidationSettings
from em_pipelines.lifecycle.pool.books import LOCK, SharedEntry
from em_pipelines.lifecycle.pool.contributing import folder_of, mark_of
from em_pipelines.lifecycle.pool.entry import BANDS, Contribution, Refused, months_before, read_contribution
from em_pipelines.lifecycle.pool.pool_folder import Place, PoolFolder
from em_pipelines.lifecycle.pool.pooling_home import PoolingHome
from em_pipelines.lifecycle.pool.public_words import STEP, domains
from em_pipelines.schema.ids import content_id

SHARED = "shared"
"""Source and status of what nobody here has seen yet."""
NO_NAME = "a file"


@dataclass(frozen=True, slots=True)
class Received:
    """What was taken in for a user, what was left out and why, and how many entries went because the pool does not hold
    them any more."""

    entries: tuple[SharedEntry, ...]
    refused: tuple[Refused, ...]
    n_new: int
    n_gone: int


def receive(
    home: PoolingHome, user_id: str, now: date, *, folder: str | None = None, domain: str | None = None
) -> Received:
    """Makes what a user has of a pool (of one domain, or of all) what that pool holds now; of the home's own where no
    other folder is given. Raises UsageError for a domain that is none or a folder that is no pool, StorageError."""
    own = folder_of(home)
    check_domain(domain)
    place = folder or own
    found, refused = contributions(home, place, now)
    others = [one for one in found if one.mark != mark_of(home, user_id, one.entry_id)]
    pool_id = content_id("place", place)
    entries = {one for one in merged(user_id, pool_id, others) if domain in (None, one.domain)}
    with home.lock(LOCK):
        before = set(home.pool_book.shared())
        replaced = {one for one in before if _is_of(one, user_id, pool_id, domain)}
        if entries != replaced:
            home.pool_book.put_shared((before - replaced) | entries)
    home.refresh_consolidation()
    ids, ids_before = _ids(entries), _ids(replaced)
    ordered = sorted(entries, key=lambda one: one.entry_id)
    return Received(tuple(ordered), tuple(refused), len(ids - ids_before), len(ids_before - ids))


def _ids(entries: Iterable[SharedEntry]) -> set[str]:
    return {one.entry_id for one in entries}


def _is_of(one: SharedEntry, user_id: str, pool: str, domain: str | None) -> bool:
    return one.user_id == user_id and one.pool == pool and domain in (None, one.domain)


def check_domain(domain: str | None) -> None:
    """Raises UsageError for what is no domain."""
    if domain is not None and domain not in domains():
        raise UsageError(f"choosing a domain: there is no {domain!r:.40}; give one of {', '.join(domains())}")


def contributions(home: PoolingHome, folder: str, now: date) -> tuple[list[Contribution], list[Refused]]:
    """What of a pool is accepted, and what is not."""
    settings, pool = home.settings.pool, PoolFolder(folder)
    if not pool.is_there:
        raise UsageError("reading the pool: there is none at that place; `em pool export` begins one")
    rules = SafetyRules(home.settings.consolidation.rules_file)
    found, refused = [], []
    for place, data in pool.contributions(settings.max_entries, settings.max_entry_bytes):
        name = ".".join((place[0], place[1][:8])) if place else NO_NAME
        read = _accepted(home, place, data, now, rules)
        if isinstance(read, str):
            refused.append(Refused(name, read))
        else:
            found.append(read)
    return found, refused


def _accepted(
    home: PoolingHome, place: Place | None, data: bytes | None, now: date, rules: SafetyRules
) -> Contribution | str:
    """A contribution that may be taken in, or why it may not."""
    if place is None or data is None:
        return "it is too large, or one too many" if place else "its name is not that of a contribution"
    settings = home.settings.pool
    read = read_contribution(data, settings.public_words)
    if isinstance(read, str):
        return read
    if (read.entry_id, read.mark) != place:
        return "its name and what it says of itself differ"
    months = months_before(read.month, now)
    if months < 0:
        return "it was seen in a month to come"
    if months > settings.max_months:
        return "it was seen too long ago"
    return unsafe(read, rules, home.settings.consolidation) or read


def unsafe(
    found: Contribution | SharedEntry, rules: SafetyRules, settings: ConsolidationSettings, user_id: str = ""
) -> str | None:
    """Why the safety gates refuse what a pool tells; None where they let it through."""
    names = [found.component, *found.category.split(STEP), *([found.mitigation] if found.mitigation else ())]
    nothing_behind_it = Cluster(user_id, SHARED, found.component, found.category, ())
    refused = refusal(nothing_behind_it, names, [found.trigger] if found.trigger else [], rules, settings)
    return f"{refused.gate}: {refused.reason}" if refused else None


def merged(user_id: str, pool: str, found: Iterable[Contribution]) -> list[SharedEntry]:
    """Contributions by what they tell: of trigger and mitigation what most of them have, of count and month the
    greatest, of levels the strictest."""
    by_entry: dict[str, list[Contribution]] = {}
    for one in found:
        by_entry.setdefault(one.entry_id, []).append(one)
    return [_one_of(user_id, pool, by_entry[entry_id]) for entry_id in sorted(by_entry)]


def _one_of(user_id: str, pool: str, same: Sequence[Contribution]) -> SharedEntry:
    order = [name for _, name in BANDS]
    first = same[0]
    return SharedEntry(
        user_id=user_id,
        pool=pool,
        entry_id=first.entry_id,
        kind=first.kind,
        component=first.component,
        category=first.category,
        trigger=_most([one.trigger for one in same]),
        mitigation=_most([one.mitigation for one in same]),
        count=max((one.count for one in same), key=order.index),
        month=max(one.month for one in same),
        domain=min(one.domain for one in same),
        privacy_level=max(one.privacy_level for one in same),
        n_contributors=len(same),
    )


def _most(told: Iterable[str | None]) -> str | None:
    counts = Counter(text for text in told if text is not None)
    return min(counts, key=lambda text: (-counts[text], text)) if counts else None
