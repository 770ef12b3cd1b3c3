"""From a request to its plan: which names, facts and ids it covers, and what every message becomes.

Reads the log and the newest tables, writes nothing. A plan is made once, before anything is changed: afterwards the
tables it was read from are gone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date

from em_pipelines.errors import UsageError
from em_pipelines.home import Home
from em_pipelines.landing.erasure_gate import ID_COLUMNS, ErasureGate
from em_pipelines.landing.erasure_requests import Plan, Request, Scope, ScopeKind, message_place
from em_pipelines.landing.record_cutting import cut_content
from em_pipelines.redaction.affected_readings import Reading, readings_of_day, spans_of
from em_pipelines.redaction.reading_home import ReadingHome
from em_pipelines.redaction.rereading import without_new_claims
from em_pipelines.redaction.targets import KnownWorld, Target, is_proper
from em_pipelines.schema.ids import message_id
from em_pipelines.schema.rows import EdgeRow
from em_pipelines.schema.table import Record
from em_pipelines.storage.landed_log import LandedLog
from em_pipelines.storage.tombstones import EDGE, FACT, MESSAGE, NAME, RECORD, SESSION, USER, Tombstone, Tombstones
from em_pipelines.text.cleaning import clean_text
from em_pipelines.text.fact_keys import key_of_claim
from em_pipelines.text.name_matching import NameIndex, Span, key_of, sentences

KINDS = ("interactions", "skill_invocations", "feedback", "dead_letters")
MIN_EDGE_ID = 12
MAX_TEXTS = 500
MIN_TEXT_CHARACTERS = 24
"""Shorter pieces are said by chance elsewhere as well."""


@dataclass(slots=True)
class Preview:
    """What would go, for people: facts as read, and numbers of records by kind, cut and removed."""

    facts: tuple[str, ...] = ()
    n_cut: int = 0
    n_removed: dict[str, int] = field(default_factory=dict)


def plan(home: ReadingHome, request: Request) -> tuple[Plan, Preview]:
    """What a request comes to. `is_found` is False where nothing in memory or log fits it."""
    target = target_of(home, request.scope)
    if target is None:
        if request.scope.kind is not ScopeKind.ENTITY:
            return Plan(is_found=False), Preview()
        target = Target(names=(request.scope.target,) if is_proper(request.scope.target) else ())
    made = _Planner(home, request, target)
    made.walk()
    return made.plan(), Preview(target.shown, len(made.messages), made.n_removed)


def target_of(home: Home, scope: Scope) -> Target | None:
    """What a scope covers in the newest state; None where it covers nothing there.

    Raises UsageError where it covers the remembered person, who is forgotten as a whole or not at all.
    """
    world = KnownWorld(home.store, scope.user_id)
    if scope.kind is ScopeKind.ENTITY:
        return _entity_target(world, scope.target)
    if scope.kind is ScopeKind.FACT:
        return _fact_target(home, world, scope)
    if scope.kind is ScopeKind.SESSION:
        return _session_target(world, scope.target)
    return Target(shown=tuple(map(world.shown, world.edges)))


def tombstones_of(tombstones: Tombstones, request: Request, made: Plan) -> Iterator[Tombstone]:
    """What may not come back once the plan is carried out."""
    user, until, scope = request.scope.user_id, request.until, request.scope
    if scope.kind is ScopeKind.USER:
        yield tombstones.of(USER, user, until=until)
    if scope.kind is ScopeKind.SESSION:
        yield tombstones.of(SESSION, user, scope.target, until=until)
    for key in sorted({key_of(name) for name in made.names}):
        yield tombstones.of(NAME, user, key, until=until, n_words=key.count(" ") + 1)
    for fact in made.facts:
        yield tombstones.of(FACT, user, *fact, until=until)
    for edge_id in made.edge_ids:
        yield tombstones.of(EDGE, user, edge_id, until=until)
    for place in made.messages:
        yield tombstones.of(MESSAGE, user, *place.split("\x1f"), until=until)
    for kind, record_id in made.records:
        yield tombstones.of(RECORD, kind, record_id, until=until)


def _entity_target(world: KnownWorld, name: str) -> Target | None:
    bearers = world.named(name)
    if key_of(name) == "user" or world.is_user(bearers):
        raise UsageError(f"forgetting {name!r}: that is the remembered person; use --all to forget all")
    return world.entity(bearers) if bearers else None


def _session_target(world: KnownWorld, session_id: str) -> Target:
    """The facts that were said in this session alone."""
    alone = [e for e in world.edges if {p["session_id"] for p in e["provenance"]} == {session_id}]
    return Target(edge_ids=frozenset(e["edge_id"] for e in alone), shown=tuple(map(world.shown, alone)))


def _edge_called(world: KnownWorld, edge_id: str) -> EdgeRow | None:
    """The fact of an id, or of the beginning of one where that fits no other; None where there is none."""
    edges = [e for e in world.edges if e["edge_id"] == edge_id]
    if not edges and len(edge_id) >= MIN_EDGE_ID:
        edges = [e for e in world.edges if e["edge_id"].startswith(edge_id)]
    return edges[0] if len(edges) == 1 else None


def _fact_target(home: Home, world: KnownWorld, scope: Scope) -> Target | None:
    """The fact, and those of its ends that nothing else is known of: they are erased with it."""
    edge = _edge_called(world, scope.target)
    if edge is None:
        return None
    target = world.fact(edge)
    lonely: set[str] = set()
    for group in world.ends(edge):
        others = [e for e in world.edges_of(group) if e["edge_id"] not in target.edge_ids]
        if not others and not _is_mentioned_elsewhere(home, scope.user_id, target, group):
            lonely |= group
    return Target(
        names=tuple(filter(is_proper, world.names(lonely))),
        entity_ids=frozenset(lonely),
        facts=target.facts,
        edge_ids=target.edge_ids,
        shown=target.shown,
    )


def _is_mentioned_elsewhere(home: Home, user_id: str, target: Target, group: set[str]) -> bool:
    """Whether a message names the entity outside the words that state the fact."""
    for day in home.store.log.days("interactions"):
        for reading in readings_of_day(home.store, day, user_id).values():
            stated = [
                Span(claim["span_start"], claim["span_end"])
                for claim in reading.claims
                if key_of_claim(claim) in target.facts
            ]
            for mention, entity in reading.mentions:
                span = Span(mention["span_start"], mention["span_end"])
                if entity in group and not any(span.meets(words) for words in stated):
                    return True
    return False


class _Planner:
    """Walks the log once and notes what every record becomes."""

    def __init__(self, home: ReadingHome, request: Request, target: Target) -> None:
        self.messages: dict[str, Record] = {}
        self.records: set[tuple[str, str]] = set()
        self.n_removed: dict[str, int] = {}
        self._home = home
        self._request = request
        self._target = target
        self._days: set[date] = set()
        self._texts: dict[str, None] = {}
        self._first = Plan(target.names, tuple(sorted(target.facts)), edge_ids=tuple(sorted(target.edge_ids)))
        stones = home.tombstones.with_more(tombstones_of(home.tombstones, request, self._first))
        self._gate = ErasureGate(stones, home.book)

    def walk(self) -> None:
        """Goes through everything that the log holds of the user, and dead letters of nobody known."""
        log = self._home.store.log
        for kind in KINDS:
            for day in log.days(kind):
                if kind == "interactions":
                    self._walk_messages(log, day)
                else:
                    self._walk_others(log, kind, day)

    def plan(self) -> Plan:
        """The plan, once walked."""
        return Plan(
            names=self._first.names,
            facts=self._first.facts,
            ids=tuple(sorted(self._target.entity_ids)),
            edge_ids=self._first.edge_ids,
            messages=self.messages,
            records=tuple(sorted(self.records)),
            texts=tuple(self._texts)[:MAX_TEXTS],
            days=tuple(sorted(self._days)),
            is_found=bool(self._days or self._target.entity_ids or self._target.edge_ids),
        )

    def _walk_messages(self, log: LandedLog, day: date) -> None:
        user, names = self._request.scope.user_id, NameIndex.of(self._target.names)
        readings: dict[str, Reading] | None = None
        changed: dict[str, Record] = {}
        for record in log.read("interactions", day):
            if not self._is_asked_about(record):
                continue
            if self._gate.is_of_erased(record):
                self._note_removed("interactions", day, record["content"])
                continue
            if readings is None:
                readings = readings_of_day(self._home.store, day, user)
            text = clean_text(record["content"])
            reading = readings.get(message_id(user, record["session_id"], record["turn_number"]), Reading())
            spans = spans_of(reading, self._target, text)
            left = cut_content(record, names, spans, is_by_word=bool(self._target.facts))
            if left != record:
                changed[message_place(record["session_id"], record["turn_number"])] = left
                self._note(day, text, left["content"])
        self.messages |= without_new_claims(self._home, day, user, changed)

    def _walk_others(self, log: LandedLog, kind: str, day: date) -> None:
        for record in log.read(kind, day):
            left = self._left_of_letter(record) if kind == "dead_letters" else self._left_of(kind, record)
            if left != record:
                self.records.add((kind, record[ID_COLUMNS[kind]]))
                self._days.add(day)
                if left is None:
                    self.n_removed[kind] = self.n_removed.get(kind, 0) + 1

    def _is_asked_about(self, record: Record) -> bool:
        """Whether it is of the user, and was said until the request."""
        return bool(record["user_id"] == self._request.scope.user_id and record["timestamp"] <= self._request.until)

    def _left_of(self, kind: str, record: Record) -> Record | None:
        if not self._is_asked_about(record):
            return record
        return None if self._gate.is_of_erased(record) else self._gate.left_of(kind, record)

    def _left_of_letter(self, letter: Record) -> Record | None:
        """A letter may be of anybody, or of nobody known; a line without `raw` only says what became of one."""
        return letter if "raw" not in letter or self._gate.admits_letter(letter) else None

    def _note_removed(self, kind: str, day: date, text: str) -> None:
        self.n_removed[kind] = self.n_removed.get(kind, 0) + 1
        self._note(day, text, "")

    def _note(self, day: date, before: str, after: str) -> None:
        self._days.add(day)
        for sentence in sentences(before):
            piece = before[sentence.start : sentence.end]
            if len(piece) >= MIN_TEXT_CHARACTERS and piece not in after:
                self._texts.setdefault(piece)
