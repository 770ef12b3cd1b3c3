"""From a request to its plan: which names, facts and ids it covers, and what every message becomes.

Reads the log and the newest tables, writes nothing. A plan is made once, before anything is changed: afterwards the
tables it was read from are gone.
"""

import base64
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import date

import orjson

from em_pipelines.errors import UsageError
from em_pipelines.home import Home
from em_pipelines.landing.erasure_gate import ID_COLUMNS, ErasureGate, named_sessions, named_users, time_in, unescaped
from em_pipelines.landing.erasure_requests import Plan, Request, Scope, ScopeKind
from em_pipelines.landing.planned_cuts import Cut
from em_pipelines.landing.reasons import Reason
from em_pipelines.landing.record_cutting import cut_content, gone_with
from em_pipelines.language.cleaning import clean_text
from em_pipelines.language.fact_keys import key_of_claim, strings_in
from em_pipelines.language.name_matching import NameIndex, Span, key_of, sentences, word_keys
from em_pipelines.redaction.affected_readings import Reading, readings_of_day, spans_of
from em_pipelines.redaction.reading_home import ReadingHome
from em_pipelines.redaction.rereading import message_place, without_new_claims
from em_pipelines.redaction.role_names import common_names, is_proper
from em_pipelines.redaction.targets import KnownWorld, Target
from em_pipelines.schema.ids import message_id
from em_pipelines.schema.rows import EdgeRow
from em_pipelines.schema.table import Record
from em_pipelines.schema.vocabulary import USER as USER_NAME
from em_pipelines.storage.landed_log import LandedLog
from em_pipelines.storage.sealed_texts import sealed, sealed_runs
from em_pipelines.storage.tombstones import EDGE, FACT, MESSAGE, NAME, RECORD, SESSION, USER, Tombstone, Tombstones

KINDS = ("interactions", "skill_invocations", "feedback", "dead_letters")
MIN_EDGE_ID = 12
N_TURNS_MEANT = 2
"""Turns behind one that speaks of somebody in which a pronoun may still mean them."""
MAX_SENTENCES = 500
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
    target = target_of(home, request)
    if target is None and request.scope.kind is not ScopeKind.ENTITY:
        return Plan(is_found=False), Preview()
    made = _Planner(home, request, target)
    made.walk()
    return made.plan(), Preview(target.shown if target else (), len(made.cuts), made.n_removed)


def target_of(home: Home, request: Request) -> Target | None:
    """What a request covers in the newest state; None where it covers nothing there.

    Raises UsageError where it covers the remembered person, who is forgotten as a whole or not at all.
    """
    scope = request.scope
    world = KnownWorld(home.store, scope.user_id)
    if scope.kind is ScopeKind.ENTITY:
        return _entity_target(world, home.book.asked_name(request))
    if scope.kind is ScopeKind.FACT:
        return _fact_target(home, world, scope)
    if scope.kind is ScopeKind.SESSION:
        return _session_target(world, scope.target)
    return Target(shown=tuple(map(world.shown, world.edges)), n_entities=len(world.entities))


def tombstones_of(tombstones: Tombstones, request: Request, made: Plan) -> Iterator[Tombstone]:
    """What may not come back once the plan is carried out."""
    user, until, scope = request.scope.user_id, request.until, request.scope
    if scope.kind is ScopeKind.USER:
        yield tombstones.of(USER, user, until=until)
    if scope.kind is ScopeKind.SESSION:
        yield tombstones.of(SESSION, user, scope.target, until=until)
    yield from made.stones


def _stones_of(home: Home, request: Request, target: Target | None) -> Iterator[Tombstone]:
    """The tombstones of names, facts and edges that a target covers; of a name that memory does not know, its own."""
    user, until, of = request.scope.user_id, request.until, home.tombstones.of
    asked = home.book.asked_name(request)
    if target is None and not any(map(asked.is_name, common_names())):
        yield replace(of(NAME, user, "", until=until, n_words=request.n_words), key=request.scope.target)
    known = target or Target()
    for key in sorted({key_of(name) for name in known.names}):
        yield of(NAME, user, key, until=until, n_words=key.count(" ") + 1)
    for fact in sorted(known.facts):
        yield of(FACT, user, *fact, until=until)
    for edge_id in sorted(known.edge_ids):
        yield of(EDGE, user, edge_id, until=until)


def _entity_target(world: KnownWorld, name: NameIndex) -> Target | None:
    bearers = world.named(name.is_name)
    if name.is_name(USER_NAME) or world.is_user(bearers):
        raise UsageError("forgetting: that is the remembered person; use --all to forget all")
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


@dataclass(slots=True)
class _Meant:
    """Whether pronouns of a turn may mean who is erased: somebody was meant shortly before."""

    session_id: str = ""
    until: int = -1

    def at(self, record: Record) -> bool:
        """Whether they may in this turn."""
        return bool(record["session_id"] == self.session_id and record["turn_number"] <= self.until)

    def note(self, record: Record, gone: list[Span], is_meant: bool) -> None:
        """Notes what goes of a turn, and whether pronouns behind it may still mean them."""
        if not is_meant:
            self.until = -1
        elif gone:
            self.session_id, self.until = record["session_id"], record["turn_number"] + N_TURNS_MEANT


class _Planner:
    """Walks the log once and notes what every record becomes."""

    def __init__(self, home: ReadingHome, request: Request, target: Target | None) -> None:
        self.cuts: dict[str, Cut] = {}
        self.n_removed: dict[str, int] = {}
        self._home = home
        self._request = request
        self._target = target or Target()
        self._days: set[date] = set()
        self._pieces: dict[str, None] = {}
        self._cut_sessions: set[str] = set()
        self._kept: list[str] = []
        self._stones = list(_stones_of(home, request, target))
        self._first = Plan(tuple(self._stones))
        self._names = home.book.names(request.with_plan(self._first))
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
        gone = self._gone()
        return Plan(
            stones=tuple(self._stones),
            ids=tuple(sorted(self._target.entity_ids)),
            edge_ids=tuple(sorted(self._target.edge_ids)),
            cuts=self.cuts,
            sentences=tuple(filter(None, (sealed(piece, self._home.salt) for piece in gone))),
            runs=sealed_runs([*self._pieces][:MAX_SENTENCES], self._kept, self._home.salt),
            days=tuple(sorted(self._days)),
            is_found=bool(self._days or self._target.entity_ids or self._target.edge_ids),
            n_edges=max(len(self._target.edge_ids), len(self._target.shown)),
            n_entities=len(self._target.entity_ids) or self._target.n_entities,
        )

    def _gone(self) -> list[str]:
        """The sentences that the user says nowhere any more: what other records say as well is no trace of these."""
        kept = f" {' '.join(key for text in self._kept for _, key in word_keys(text))} "
        long = (piece for piece in self._pieces if len(piece) >= MIN_TEXT_CHARACTERS)
        said = ((piece, f" {' '.join(key for _, key in word_keys(piece))} ") for piece in long)
        return [piece for piece, words in said if words not in kept][:MAX_SENTENCES]

    def _walk_messages(self, log: LandedLog, day: date) -> None:
        user = self._request.scope.user_id
        readings: dict[str, Reading] | None = None
        landed: dict[str, Record] = {}
        changed: dict[str, Record] = {}
        meant = _Meant()
        for record in sorted(log.read("interactions", day), key=lambda r: (r["session_id"], r["turn_number"])):
            if record["user_id"] != user:
                continue
            if not self._is_asked_about(record):
                self._kept.append(record["content"])
                continue
            if self._gate.is_of_erased(record):
                self._note_removed("interactions", day, record["content"])
                continue
            if readings is None:
                readings = readings_of_day(self._home.store, day, user)
            landed[message_place(record["session_id"], record["turn_number"])] = record
            reading = readings.get(message_id(user, record["session_id"], record["turn_number"]), Reading())
            left = self._left_of_message(record, reading, meant)
            if left != record:
                changed[message_place(record["session_id"], record["turn_number"])] = left
        changed = without_new_claims(self._home, day, user, changed)
        for place, record in landed.items():
            self._note_message(day, record, changed.get(place, record))

    def _left_of_message(self, record: Record, reading: Reading, meant: "_Meant") -> Record:
        text = clean_text(record["content"])
        spans = spans_of(reading, self._target, text)
        if not spans.is_of_fact:
            spans = replace(spans, is_meant=meant.at(record))
            meant.note(record, *gone_with(text, self._names, spans))
        return cut_content(record, self._names, spans)

    def _note_message(self, day: date, record: Record, left: Record) -> None:
        self._kept.append(left["content"])
        if left == record:
            return
        user, until = self._request.scope.user_id, self._request.until
        place = (record["session_id"], str(record["turn_number"]))
        self._cut_sessions.add(record["session_id"])
        stone = self._home.tombstones.of(MESSAGE, user, *place, until=until)
        self._stones.append(stone)
        self.cuts[stone.key] = Cut.between(record["content"], left["content"], self._home.salt)
        self._note(day, clean_text(record["content"]), left["content"])

    def _walk_others(self, log: LandedLog, kind: str, day: date) -> None:
        for record in log.read(kind, day):
            left = self._left_of_letter(record) if kind == "dead_letters" else self._left_of(kind, record)
            if left is not None and record.get("user_id") == self._request.scope.user_id:
                self._kept.extend(strings_in({**left, "payload": orjson.loads(left.get("payload") or "null")}))
            if left != record:
                until = max(self._request.until, _time_of(record))
                self._stones.append(self._home.tombstones.of(RECORD, kind, record[ID_COLUMNS[kind]], until=until))
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
        """A letter may be of anybody, or of nobody known; a line without `raw` only says what became of one.

        One that names nobody goes where it says a sentence that goes: it may be theirs. What was said in another branch
        goes with anything of its conversation: most often it says the same in other words.
        """
        if "raw" not in letter:
            return letter
        raw = base64.b64decode(letter["raw"])
        if self._is_of_cut_conversation(letter, raw) or self._may_be_theirs(letter, raw):
            return None
        return letter if self._gate.admits_letter(letter) else None

    def _may_be_theirs(self, letter: Record, raw: bytes) -> bool:
        if letter.get("user_id") is not None or named_users(raw):
            return False
        text = unescaped(raw)
        return any(piece in text for piece in self._pieces if len(piece) >= MIN_TEXT_CHARACTERS)

    def _is_of_cut_conversation(self, letter: Record, raw: bytes) -> bool:
        """Whether a letter was said in another branch of a conversation of which something goes."""
        is_theirs = letter["user_id"] == self._request.scope.user_id
        return is_theirs and letter["reason"] == Reason.OTHER_BRANCH and bool(self._cut_sessions & named_sessions(raw))

    def _note_removed(self, kind: str, day: date, text: str) -> None:
        self.n_removed[kind] = self.n_removed.get(kind, 0) + 1
        self._note(day, text, "")

    def _note(self, day: date, before: str, after: str) -> None:
        self._days.add(day)
        for sentence in sentences(before):
            piece = before[sentence.start : sentence.end]
            if piece not in after:
                self._pieces.setdefault(piece)


def _time_of(record: Record) -> str:
    """When a record was said; of a dead letter when its raw bytes say so."""
    return time_in(base64.b64decode(record["raw"])) if "raw" in record else str(record.get("timestamp", ""))
