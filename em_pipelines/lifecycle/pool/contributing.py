"""Giving to a pool: what of a user's experiences may leave, the proof that nothing of the user does, and taking back.

What a home gives is always what its memory says now: a contribution that memory does not make any more (its night was
rolled back, its evidence erased, its user has not agreed any more) is withdrawn by the next export, and after an
erasure at once. Withdrawals wait where a pool cannot be reached; exports, erasures and runs try them again.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from em_pipelines.errors import EmError, UsageError
from em_pipelines.language.fact_keys import strings_in
from em_pipelines.lifecycle.consolidation.night import experiences
from em_pipelines.lifecycle.pool.books import LOCK, Given
from em_pipelines.lifecycle.pool.entry import Contribution, Refused, contribution_of
from em_pipelines.lifecycle.pool.pool_folder import Place, PoolFolder
from em_pipelines.lifecycle.pool.pooling_home import PoolingHome
from em_pipelines.lifecycle.pool.traces import Traces
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.graph import EDGES, ENTITIES
from em_pipelines.schema.tables.raw import FEEDBACK, INTERACTIONS, SKILL_INVOCATIONS

MARK_DIGITS = 32
THEMSELVES = "user"
"""The entity that the remembered person is: everybody has it."""
_NAMES = {
    INTERACTIONS: ("session_id", "speaker", "subject", "participants", "agent_id", "domain", "entities_mentioned",
                   "source_id", "tags"),
    SKILL_INVOCATIONS: ("session_id",),
    FEEDBACK: ("session_id",),
    ENTITIES: ("canonical_name", "name_key", "aliases", "qualifiers"),
    EDGES: ("value", "attribute", "over"),
}  # fmt: skip
"""Columns of which every word is a trace."""
_PROSE = {INTERACTIONS: ("content",), FEEDBACK: ("payload",), EDGES: ("statement",)}
_OUTPUT = {SKILL_INVOCATIONS: ("output_summary",)}


@dataclass(frozen=True, slots=True)
class Offer:
    """What one user gives: contributions with their marks, and what is kept back, by the id of the experience."""

    given: tuple[Contribution, ...]
    kept: tuple[Refused, ...]


@dataclass(slots=True)
class Exported:
    """What an export came to, of all contributors."""

    offers: dict[str, Offer] = field(default_factory=dict)
    n_new: int = 0
    n_withdrawn: int = 0
    n_waiting: int = 0

    @property
    def by_place(self) -> dict[Place, Contribution]:
        """What is given, by where it goes."""
        return {(one.entry_id, one.mark): one for made in self.offers.values() for one in made.given}


def folder_of(home: PoolingHome) -> str:
    """Where the pool of a home lies; raises UsageError where it has none, or none that is switched on."""
    pool = home.settings.pool
    if not pool.is_enabled:
        raise UsageError("using the pool: it is switched off; set pool.is_enabled in em.yaml, see docs/pool.md")
    if not pool.folder:
        raise UsageError("using the pool: nothing says where it lies; set pool.folder in em.yaml, see docs/pool.md")
    return pool.folder


def offer(home: PoolingHome, user_id: str) -> Offer:
    """What a user's experiences give to a pool now. Reads all that is known of the user; writes nothing."""
    more = home.settings.pool.public_words
    traces: Traces | None = None
    given: dict[str, Contribution] = {}
    kept = []
    for row in experiences(home, user_id):
        made = contribution_of(row, more)
        if isinstance(made, str):
            kept.append(Refused(row["experience_id"], made))
            continue
        traces = traces or traces_of(home, user_id)
        safe = without_traces(made, traces)
        if isinstance(safe, str):
            kept.append(Refused(row["experience_id"], safe))
        else:
            given.setdefault(safe.entry_id, safe.model_copy(update={"mark": mark_of(home, user_id, safe.entry_id)}))
    return Offer(tuple(given[entry_id] for entry_id in sorted(given)), tuple(kept))


def without_traces(made: Contribution, traces: Traces) -> Contribution | str:
    """The contribution, without what of its trigger or mitigation is a trace; or why nothing of it may leave."""
    if traces.is_in(made.component) or traces.is_in(made.category):
        return "a word of its names is a name, a value or an identifier of the user"
    dropped = {name: None for name in ("trigger", "mitigation") if (text := getattr(made, name)) and traces.is_in(text)}
    safe = made.model_copy(update=dropped)
    if leak := next((text for text in safe.free if traces.is_in(text)), None):
        return f"a trace of the user is in it ({len(leak)} characters)"
    return safe


def traces_of(home: PoolingHome, user_id: str) -> Traces:
    """What would tell of a user: of all days, for a name that was said once is a name."""

    def texts(columns: Mapping[Table, tuple[str, ...]]) -> Iterator[str]:
        for table, names in columns.items():
            for row in rows_of(home, table, user_id):
                for name in names:
                    yield from strings_in(row[name])

    names = (text for text in texts(_NAMES) if text != THEMSELVES)
    skills = frozenset(texts({SKILL_INVOCATIONS: ("skill_name",)}))
    return Traces.of([user_id, *names], texts(_PROSE), texts(_OUTPUT), skills)


def rows_of(home: PoolingHome, table: Table, user_id: str) -> Iterator[dict[str, Any]]:
    """A user's rows of all days; of a state those of the last."""
    lake = home.store.lake
    last = lake.latest(table, date.max)
    days = lake.days(table) if not table.is_state else [last] if last else []
    for day in days:
        yield from lake.find(table, day, "user_id", [user_id]).to_pylist()


def mark_of(home: PoolingHome, user_id: str, entry_id: str) -> str:
    """Under what a user's contribution to an entry stands: nobody without the home's salt can say whose it is, or that
    two are the same user's."""
    return home.salt.hash("pool", user_id, entry_id)[:MARK_DIGITS]


def export(home: PoolingHome, *, is_dry_run: bool = False) -> Exported:
    """Makes the pool hold what those who agreed have to give now. Raises UsageError where the pool is off or names no
    place, StorageError where it cannot be reached."""
    folder = folder_of(home)
    if home.book.pending():
        raise UsageError("exporting to the pool: something waits to be forgotten first; `em run` does it")
    done = Exported({user: offer(home, user) for user in sorted(home.settings.pool.contributors)})
    if not is_dry_run:
        with home.lock(LOCK):
            _put(home, folder, done)
    return done


def _put(home: PoolingHome, folder: str, done: Exported) -> None:
    """Makes a pool hold what is offered, and nothing else of this home."""
    pool, before = PoolFolder(folder), home.pool_book.given()
    pool.begin()
    wanted = done.by_place
    here = {(one.entry_id, one.mark): one for one in before if one.folder == folder}
    ours = {place for place, one in here.items() if not one.is_withdrawn}
    gone = [replace(here[place], is_withdrawn=True) for place in here.keys() - wanted.keys()]
    # Noted first: what a process that is killed has written can be taken back.
    elsewhere = [one for one in before if one.folder != folder]
    home.pool_book.put_given([*elsewhere, *gone, *(Given(*place, folder) for place in wanted)])
    for place, made in wanted.items():
        pool.put(place, made.as_bytes())
    done.n_new, done.n_withdrawn = len(wanted.keys() - ours), len(ours - wanted.keys())
    done.n_waiting = _send(home)


def withdraw(home: PoolingHome, user_id: str, entry_ids: Iterable[str] = ()) -> tuple[int, int]:
    """Takes back what a user has given: all of it, or some entries. Returns how many, and how many of all that were
    taken back wait for a pool. Raises UsageError for an entry that the user has not given to."""
    wanted = set(entry_ids)
    with home.lock(LOCK):
        given = home.pool_book.given()
        theirs = {one.entry_id for one in given if _is_of(home, one, user_id) and not one.is_withdrawn}
        if unknown := sorted(wanted - theirs):
            raise UsageError(
                f"withdrawing: {unknown[0]!r:.80} is no entry that this user has given to; see `em pool list`"
            )
        return _take_back(home, given, user_id, wanted or theirs)


def after_erasure(home: PoolingHome, user_id: str, *, is_all: bool) -> int:
    """Takes back what memory does not say any more after something of a user was erased. Returns how many withdrawals
    wait for a pool; does nothing in a home that has given nothing to any."""
    if not home.pool_book.has_given:
        return 0
    with home.lock(LOCK):
        given = home.pool_book.given()
        theirs = {one.entry_id for one in given if _is_of(home, one, user_id)}
        still_said = _still_said(home, user_id) if theirs and not is_all else set()
        return _take_back(home, given, user_id, theirs - still_said)[1]


def retry(home: PoolingHome) -> int:
    """Tries withdrawals again that a pool could not be reached for; returns how many still wait."""
    if not home.pool_book.has_given or not any(one.is_withdrawn for one in home.pool_book.given()):
        return 0
    with home.lock(LOCK):
        return _send(home)


def given_by(home: PoolingHome, user_id: str) -> list[str]:
    """The entries that a user has given to, by their ids."""
    return sorted(one.entry_id for one in home.pool_book.given() if _is_of(home, one, user_id) and not one.is_withdrawn)


def n_waiting(home: PoolingHome) -> int:
    """How many withdrawals wait for a pool."""
    return sum(one.is_withdrawn for one in home.pool_book.given()) if home.pool_book.has_given else 0


def _still_said(home: PoolingHome, user_id: str) -> set[str]:
    try:
        return {one.entry_id for one in offer(home, user_id).given}
    except EmError:  # nobody can say, so nothing is: the next export gives it again
        return set()


def _is_of(home: PoolingHome, one: Given, user_id: str) -> bool:
    return one.mark == mark_of(home, user_id, one.entry_id)


def _take_back(home: PoolingHome, given: list[Given], user_id: str, entry_ids: set[str]) -> tuple[int, int]:
    gone = {one for one in given if one.entry_id in entry_ids and _is_of(home, one, user_id) and not one.is_withdrawn}
    home.pool_book.put_given(replace(one, is_withdrawn=True) if one in gone else one for one in given)
    return len(gone), _send(home)


def _send(home: PoolingHome) -> int:
    """Tells pools what is withdrawn from them; what they cannot be told waits. Returns how much."""
    left = []
    for one in home.pool_book.given():
        if one.is_withdrawn:
            try:
                PoolFolder(one.folder).withdraw((one.entry_id, one.mark))
                continue
            except EmError:
                pass
        left.append(one)
    home.pool_book.put_given(left)
    return sum(one.is_withdrawn for one in left)
