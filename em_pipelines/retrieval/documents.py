"""What can be found, and what is found: messages, and facts as short sentences; hits with their score, why they have
it, and what stands around them; and which messages are archived, kept and not to be found any more.

What is archived is read from the landed feedback, so at once; the last word on a message counts. Facts that were
learned from it stay: whoever wants those gone retracts or forgets.
"""

import re
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.retrieval.pack import Pack
from em_pipelines.retrieval.settings import Weights
from em_pipelines.retrieval.terms import STOP_WORDS, Floats, stems
from em_pipelines.schema.feedback_payloads import Archive, read_payload
from em_pipelines.schema.rows import ContradictionRow
from em_pipelines.schema.table import Record
from em_pipelines.schema.vocabulary import Mechanism, Status
from em_pipelines.storage.landed_log import LandedLog
from em_pipelines.text.name_matching import MARKER, Span, cut

MESSAGE, FACT = "message", "fact"
MIN_OWN_WORDS = 2
"""One is mostly the verb, which the relation stands for: `I love tea`, user likes tea."""
_LITTLE_STEMS = frozenset(stem for word in STOP_WORDS for stem in stems(word))
Row = dict[str, Any]
SCHEMA = pa.schema(
    [
        ("kind", pa.string()),
        ("session_id", pa.string()),
        ("turn_number", pa.int64()),
        ("edge_id", pa.string()),
        ("text", pa.string()),
        ("speaker", pa.string()),
        ("role", pa.string()),
        ("said_at", pa.timestamp("us", "UTC")),
        ("confidence", pa.float32()),
        ("tags", pa.list_(pa.string())),
        ("domain", pa.string()),
        ("status", pa.string()),
        ("subject", pa.string()),
        ("relation", pa.string()),
        ("object", pa.string()),
        ("names", pa.list_(pa.string())),
        (
            "sources",
            pa.list_(
                pa.struct(
                    [
                        ("session_id", pa.string()),
                        ("turn_number", pa.int64()),
                        ("span_start", pa.int64()),
                        ("span_end", pa.int64()),
                    ]
                )
            ),
        ),
        ("conflicts", pa.list_(pa.string())),
        ("polarity", pa.int64()),
        ("is_withdrawn", pa.bool_()),
        ("user_id", pa.string()),
    ]
)
"""One row a document; from `status` on, columns are of facts alone, but for `user_id`, whose it is. `turn_number` and
`session_id` of a fact are those of its first provenance; `confidence` is the effective one of a fact, 1 of a message;
`names` are keys of all names of both ends (`text.name_keys.name_key`); `sources` are where it was said; `conflicts` are
the facts that cannot hold beside it; `polarity` is 1, or -1 of what is not so. What `is_withdrawn` was taken back or
corrected by people: where it was said it is not quoted any more."""


def messages(table: pa.Table, user_id: str) -> pa.Table:
    """The user's messages as documents, in order of time and turn; those of tools and the system are left out."""
    own = table.filter(
        pc.and_(pc.equal(table["user_id"], user_id), pc.is_in(table["role"], pa.array(["user", "assistant"])))
    )
    columns = {
        "kind": pa.repeat(MESSAGE, len(own)), "session_id": own["session_id"], "turn_number": own["turn_number"],
        "text": own["content"], "speaker": pc.coalesce(own["speaker"], own["role"]), "role": own["role"],
        "said_at": own["timestamp"], "confidence": pa.repeat(1.0, len(own)), "tags": own["tags"],
        "domain": own["domain"], "user_id": own["user_id"],
    }  # fmt: skip
    return ordered(
        pa.table(
            [columns.get(field.name, pa.nulls(len(own), field.type)) for field in SCHEMA],
            names=SCHEMA.names,
        ).cast(SCHEMA)
    )


def ordered(said: pa.Table) -> pa.Table:
    """Messages in order of time and turn."""
    return said.sort_by([(name, "ascending") for name in ("said_at", "session_id", "turn_number")])


def facts(rows: Sequence[Mapping[str, Any]], conflicts: Sequence[ContradictionRow], said: pa.Table) -> pa.Table:
    """Facts in every status, as `serving.facts.known` gives them, as documents: `user lives in Bremen`.

    `conflicts` are rows of `contradictions`, `said` the messages: a fact is of the domain in which all of it was said.
    """
    against: dict[str, set[str]] = defaultdict(set)
    for row in conflicts:
        if row["status"] == "open":
            against[row["edge_id"]].add(row["other_edge_id"])
            against[row["other_edge_id"]].add(row["edge_id"])
    turns = zip(*(said[name].to_pylist() for name in ("session_id", "turn_number", "domain")), strict=True)
    domains = {(session, turn): domain for session, turn, domain in turns if domain}
    withdrawn = _withdrawn(rows)
    made = [_fact(row, against, domains, is_withdrawn=row["edge_id"] in withdrawn) for row in rows]
    _note_retractions(made, {row["edge_id"]: row["unlearned_at"] for row in rows}, said)
    return pa.Table.from_pylist(made, schema=SCHEMA)


def _withdrawn(rows: Sequence[Mapping[str, Any]]) -> set[str]:
    """The facts that people took back, or put another value in the place of: not those that time has overtaken."""
    corrections = {row["edge_id"] for row in rows if row["source_mechanism"] == Mechanism.USER_CORRECTION}
    return {
        row["edge_id"]
        for row in rows
        if row["status"] == Status.RETRACTED
        or (row["status"] == Status.SUPERSEDED and row["superseded_by"] in corrections)
    }


def _note_retractions(made: Sequence[Row], unlearned_at: Mapping[str, datetime | None], said: pa.Table) -> None:
    """Adds to the sources of what was taken back in a message the place where that message names it."""
    gone = {unlearned_at[row["edge_id"]] for row in made if row["is_withdrawn"]} - {None}
    if not gone:
        return
    at = said.filter(pc.is_in(said["said_at"], value_set=pa.array(sorted(filter(None, gone)), said["said_at"].type)))
    messages_at = {row["said_at"]: row for row in at.to_pylist()}
    for row in made:
        message = messages_at.get(unlearned_at[row["edge_id"]]) if row["is_withdrawn"] else None
        start = (message["text"] or "").casefold().find(row["object"].casefold()) if message else -1
        if message is not None and start >= 0:
            place = {name: message[name] for name in ("session_id", "turn_number")}
            row["sources"].append({**place, "span_start": start, "span_end": start + len(row["object"])})


def sentence(row: Mapping[str, Any]) -> str:
    """A fact in words."""
    verb = str(row["relation"]).replace("_", " ")
    return f"{row['subject']} {'' if row['polarity'] == 1 else 'not '}{verb} {row['object']}"


def says_more(row: Mapping[str, Any]) -> str | None:
    """The statement of a fact, where it has words of its own: two that the fact in words has not. Else None."""
    statement: str | None = row["statement"]
    if statement is None:
        return None
    own = set(stems(statement)) - set(stems(sentence(row))) - _LITTLE_STEMS
    return statement if len(own) >= MIN_OWN_WORDS else None


def _told(row: Mapping[str, Any]) -> str:
    """A fact in words, and as it was said where that says more."""
    return ": ".join(filter(None, (sentence(row), says_more(row))))


def _fact(
    row: Mapping[str, Any],
    against: Mapping[str, set[str]],
    domains: Mapping[tuple[str, int], str],
    *,
    is_withdrawn: bool,
) -> Row:
    places = ("session_id", "turn_number", "span_start", "span_end")
    sources = [{name: source[name] for name in places} for source in row["provenance"]]
    first = sources[0] if sources else {}
    said_in = {domains.get((source["session_id"], source["turn_number"])) for source in sources}
    return {
        "kind": FACT, "session_id": first.get("session_id"), "turn_number": first.get("turn_number"),
        "edge_id": row["edge_id"], "text": _told(row), "speaker": None, "role": None, "said_at": row["learned_at"],
        "confidence": row["effective_confidence"], "tags": [], "domain": said_in.pop() if len(said_in) == 1 else None,
        "status": row["status"], "subject": row["subject"], "relation": row["relation"], "object": row["object"],
        "names": row["end_keys"], "sources": sources, "conflicts": sorted(against[row["edge_id"]]),
        "polarity": row["polarity"],
        "is_withdrawn": is_withdrawn, "user_id": row["user_id"],
    }  # fmt: skip


ARCHIVE = "archive"
Place = tuple[str, int]
"""Session and turn."""


class Archived:
    """What is archived in one log. A day's feedback is read again only when its segments have changed."""

    def __init__(self, log: LandedLog) -> None:
        self._log = log
        self._days: dict[date, tuple[str | None, tuple[Record, ...]]] = {}
        self._lock = threading.Lock()

    def of(self, user_id: str) -> frozenset[Place]:
        """The places of a user's messages that are archived now."""
        said = sorted(
            (record for record in self._said() if record["user_id"] == user_id),
            key=lambda record: (record["timestamp"], record["feedback_id"]),
        )
        last: dict[Place, bool] = {}
        for record in said:
            form: Archive = read_payload(
                ARCHIVE, {"session_id": record["session_id"], **orjson.loads(record["payload"])}
            )
            last[form.session_id, form.turn_number] = form.is_archived
        return frozenset(place for place, is_archived in last.items() if is_archived)

    def _said(self) -> Iterator[Record]:
        with self._lock:
            days = self._log.days("feedback")
            for day in self._days.keys() - set(days):
                del self._days[day]
            for day in days:
                digest = self._log.digest("feedback", day)
                if day not in self._days or self._days[day][0] != digest:
                    records = tuple(r for r in self._log.read("feedback", day) if r["type"] == ARCHIVE)
                    self._days[day] = (digest, records)
            return iter([record for _, records in self._days.values() for record in records])


_UNIT = r"(?:day|week|weekend|fortnight|month|year)s?"
_TIME = re.compile(
    r"\b(?:yesterday|tomorrow|tmrw?\b|day (?:before|after)|ago\b|" + _UNIT + r" (?:back|from|after|today)"
    r"|in [\w ]{1,20}?" + _UNIT + r"\b|(?:next|last|past|previous|(?:up)?coming|following|this) \w"
    r"|(?:on|by|until|till|before|after|since) (?:mon|tue|wed|thu|fri|sat|sun))",
    re.IGNORECASE,
)
"""What may be a relative date: texts without it are not read for one."""


def with_dates(text: str, said_on: date) -> str:
    """The text with what `yesterday` and the like meant on the day on which it was said behind them."""
    if not _TIME.search(text):
        return text
    from em_pipelines.retrieval.said_dates import dated  # noqa: PLC0415  (of few texts, and it brings the word lists)

    return dated(text, said_on)


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn beside one that was found."""

    session_id: str
    turn_number: int
    speaker: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found.

    `components` are the weighed shares of its score by name; `conflicts_with` the facts that cannot hold beside it;
    `neighbours` the turns before and after it; `path` how expansion came to it: documents and names, from what the
    question found to this. `sources` are the turns (conversation, number) that state a fact.
    """

    kind: str
    session_id: str | None
    turn_number: int | None
    edge_id: str | None
    text: str
    score: float
    said_on: date
    speaker: str | None
    components: dict[str, float]
    conflicts_with: tuple[str, ...] = ()
    neighbours: tuple[Turn, ...] = ()
    sources: tuple[tuple[str, int], ...] = ()
    path: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The text as people read it, with what its relative dates meant, `yesterday (2026-07-12)`; of a fact that was
        said more than once it is not known on which day."""
        is_dated = self.edge_id is None or len(self.sources) == 1
        return with_dates(self.text, self.said_on) if is_dated else self.text


@dataclass(frozen=True, slots=True)
class Scores:
    """What documents are worth by number; the components by name, before they are weighed, and their weights."""

    total: Floats | Mapping[int, float]
    components: Mapping[str, Floats] = field(default_factory=dict)
    weights: Weights | None = None

    def shares(self, number: int) -> dict[str, float]:
        """What each component adds to the score of a document, where it adds anything."""
        return {
            name: round(getattr(self.weights, name, 1.0) * float(values[number]), 6)
            for name, values in self.components.items()
            if values[number]
        }


def hits_of(pack: Pack, numbers: Sequence[int], scores: Scores, n_neighbours: int = 0) -> list[Hit]:
    """The documents of these numbers as hits, in that order."""
    rows = pack.documents.take(list(numbers)).to_pylist() if numbers else []
    return [
        Hit(
            kind=row["kind"],
            session_id=row["session_id"],
            turn_number=row["turn_number"],
            edge_id=row["edge_id"],
            text=row["text"],
            score=round(float(scores.total[n]), 6),
            said_on=row["said_at"].date(),
            speaker=row["speaker"],
            components=scores.shares(n),
            conflicts_with=pack.conflicts.get(n, ()),
            neighbours=_around(pack, n, n_neighbours) if row["kind"] == MESSAGE else (),
            sources=tuple((source["session_id"], source["turn_number"]) for source in row["sources"] or ()),
        )
        for n, row in zip(numbers, rows, strict=True)
    ]


def _around(pack: Pack, number: int, n_neighbours: int) -> tuple[Turn, ...]:
    own = pack.sessions[number]
    near = [
        n
        for n in range(max(0, number - n_neighbours), min(len(pack.days), number + n_neighbours + 1))
        if n != number and pack.sessions[n] == own
    ]
    rows = pack.documents.take(near).to_pylist() if near else []
    return tuple(Turn(row["session_id"], row["turn_number"], row["speaker"], row["text"]) for row in rows)


Unsaid = Mapping[Place, Sequence[Span]]
"""What is not quoted any more: characters of turns, whose whole sentences go."""


def unsaid(pack: Pack, standing: Mapping[str, float] | None, *, is_waiting: bool) -> Unsaid:
    """Where facts were said that were withdrawn; with feedback that waits, also those that stand by it no more."""
    found: dict[Place, list[Span]] = defaultdict(list)
    gone = pack.withdrawn
    if is_waiting:
        is_standing = standing or {}
        shown = (row for row in pack.facts if row["status"] in (Status.ACTIVE, Status.CONTRADICTED))
        gone = [*gone, *(row for row in shown if row["edge_id"] not in is_standing)]
    for row in gone:
        for source in row["sources"] or ():
            place = source["session_id"], source["turn_number"]
            found[place].append(Span(source["span_start"], source["span_end"]))
    return found


def without_unsaid(hit: Hit, gone: Unsaid) -> Hit | None:
    """The hit without the sentences that said what was withdrawn; None where nothing is left of it."""
    if hit.kind != MESSAGE or not gone:
        return hit
    left = _left_of(hit, gone)
    if not left.strip(f"{MARKER} "):
        return None
    near = (replace(turn, text=_left_of(turn, gone)) for turn in hit.neighbours)
    return replace(hit, text=left, neighbours=tuple(turn for turn in near if turn.text.strip(f"{MARKER} ")))


def _left_of(said: Hit | Turn, gone: Unsaid) -> str:
    spans = gone.get((said.session_id or "", -1 if said.turn_number is None else said.turn_number))
    return cut(said.text, spans) if spans else said.text
