"""What can be found, and what is found: messages, facts as short sentences, and experiences (`experiences.py`); hits
with their score, why they have it, and what stands around them.

What may not be told of a message is blanked here, character by character, before anything is indexed: what the guard
took out of it, and sentences that said what was taken back since. So no index knows its words, and places hold.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.guard.passages import blanked
from em_pipelines.language.dates.words import NAMES_OF_TIME
from em_pipelines.language.name_matching import Span, sentences
from em_pipelines.language.values import local_instant
from em_pipelines.redaction.veils import Place
from em_pipelines.retrieval.pack import Pack
from em_pipelines.retrieval.settings import Weights
from em_pipelines.retrieval.terms import STOP_WORDS, Floats, stems
from em_pipelines.schema.readings import Withheld
from em_pipelines.schema.rows import ContradictionRow
from em_pipelines.schema.tables.clean import SENTENCES
from em_pipelines.schema.vocabulary import ASSISTANT, OBSERVATIONS, QUOTED_ROLES, USER
from em_pipelines.serving.facts import withdrawn

MESSAGE, FACT, EXPERIENCE, OBSERVATION = "message", "fact", "experience", "observation"
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
        ("utc_offset_minutes", pa.int64()),
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
        ("labels", SENTENCES),
    ]
)
"""One row a document; from `status` on, columns are of facts alone, but for `user_id`, whose it is, and `labels`, the
sentences of a message with how probably each is worth keeping. `turn_number` and `session_id` of a fact are those of
its first provenance; `confidence` is the effective one of a fact, 1 of a message, and 0 of one of which nothing may be
told; `names` are keys of all names of both ends (`name_keys.name_key`); `sources` are where it was said; `conflicts`
are the facts that cannot hold beside it; `polarity` is 1, or -1 of what is not so. What `is_withdrawn` was taken back
or corrected by people: where it was said it is not quoted any more."""


def messages(table: pa.Table, user_id: str) -> pa.Table:
    """The user's messages as documents, in order of time and turn; those of tools and the system are left out.

    Their text is what may be quoted. Of a message that nobody has guarded that is nothing.
    """
    own = table.filter(pc.and_(pc.equal(table["user_id"], user_id), pc.is_in(table["role"], pa.array(QUOTED_ROLES))))
    columns = {
        "kind": pa.repeat(MESSAGE, len(own)), "session_id": own["session_id"], "turn_number": own["turn_number"],
        "text": own["content"], "speaker": pc.coalesce(own["speaker"], own["role"]), "role": own["role"],
        "said_at": own["timestamp"], "utc_offset_minutes": own["utc_offset_minutes"],
        "confidence": pa.repeat(1.0, len(own)), "tags": own["tags"],
        "domain": own["domain"], "user_id": own["user_id"], "subject": own["subject"],
        "labels": own["sentences"],
    }  # fmt: skip
    said = pa.table(
        [columns.get(field.name, pa.nulls(len(own), field.type)) for field in SCHEMA],
        names=SCHEMA.names,
    ).cast(SCHEMA)
    lengths = pc.fill_null(pc.list_value_length(own["withheld"]), -1).to_numpy()
    places = np.flatnonzero(lengths).tolist()
    found = own.select(["content", "withheld"]).take(pa.array(places, pa.int64())).to_pylist()
    return ordered(_saying(said, {place: _quotable(row) for place, row in zip(places, found, strict=True)}))


def _quotable(row: Mapping[str, Any]) -> str:
    from em_pipelines.guard.screening import quotable  # noqa: PLC0415  (all rules; who reads facts needs none)

    text: str = row["content"]
    if row["withheld"] is None:
        return blanked(text, [(0, len(text))])
    return quotable(text, [Withheld(**found) for found in row["withheld"]])


def _saying(said: pa.Table, texts: Mapping[int, str]) -> pa.Table:
    """Messages with other texts, by their places; those of which no word is left count for nothing."""
    if not texts:
        return said
    columns = {name: said[name].to_pylist() for name in ("text", "confidence")}
    for place, text in texts.items():
        columns["text"][place] = text
        columns["confidence"][place] = float(any(map(str.isalnum, text)))
    for name, values in columns.items():
        said = said.set_column(
            SCHEMA.get_field_index(name), SCHEMA.field(name), pa.array(values, SCHEMA.field(name).type)
        )
    return said


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
    columns = ("session_id", "turn_number", "domain", "utc_offset_minutes")
    turns = [*zip(*(said[name].to_pylist() for name in columns), strict=True)]
    domains = {(session, turn): domain for session, turn, domain, _ in turns if domain}
    offsets = {(session, turn): offset for session, turn, _, offset in turns if offset}
    taken_back = withdrawn(rows)
    made = [
        _fact(row, against, domains, is_withdrawn=row["edge_id"] in taken_back)
        | {"utc_offset_minutes": offset_of(row["provenance"], offsets)}
        for row in rows
    ]
    _note_retractions(made, {row["edge_id"]: row["unlearned_at"] for row in rows}, said)
    return pa.Table.from_pylist(made, schema=SCHEMA)


def sessions_of_withdrawn(rows: Sequence[Mapping[str, Any]], said: pa.Table) -> set[str]:
    """The conversations in which facts were stated or taken back that people withdrew."""
    taken_back = withdrawn(rows)
    gone = [row for row in rows if row["edge_id"] in taken_back]
    stated = {source["session_id"] for row in gone for source in row["provenance"]}
    return stated | {row["session_id"] for row in _said_at({row["unlearned_at"] for row in gone}, said)}


def _said_at(times: set[datetime | None], said: pa.Table) -> list[Row]:
    """The messages that were said just then."""
    known = pa.array(sorted(filter(None, times)), said["said_at"].type)
    found: list[Row] = said.filter(pc.is_in(said["said_at"], value_set=known)).to_pylist() if len(known) else []
    return found


def _note_retractions(made: Sequence[Row], unlearned_at: Mapping[str, datetime | None], said: pa.Table) -> None:
    """Adds to the sources of what was taken back in a message the place where that message names it."""
    gone = {unlearned_at[row["edge_id"]] for row in made if row["is_withdrawn"]}
    messages_at = {row["said_at"]: row for row in _said_at(gone, said)}
    for row in made:
        message = messages_at.get(unlearned_at[row["edge_id"]]) if row["is_withdrawn"] else None
        start = (message["text"] or "").casefold().find(row["object"].casefold()) if message else -1
        if message is not None and start >= 0:
            place = {name: message[name] for name in ("session_id", "turn_number")}
            row["sources"].append({**place, "span_start": start, "span_end": start + len(row["object"])})


def sentence(row: Mapping[str, Any]) -> str:
    """A fact in words."""
    if row["relation"] in OBSERVATIONS:
        return f"{row['subject']}: {row['object']}"
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


Unsaid = Mapping[Place, Sequence[Span]]
"""What is not quoted any more: characters of turns, whose whole sentences go."""


def offset_of(provenance: Sequence[Mapping[str, Any]], offsets: Mapping[tuple[str, int], int]) -> int | None:
    """How far the clock of who stated a fact first was ahead of UTC, by the offsets of turns; None: it is not known."""
    first = provenance[0] if provenance else None
    return offsets.get((first["session_id"], first["turn_number"])) if first is not None else None


def without_withdrawn(said: pa.Table, known: pa.Table) -> pa.Table:
    """Messages, blanked where they state what was withdrawn of the facts `known`, both as documents."""
    gone = known.filter(known["is_withdrawn"]).to_pylist()
    if not gone:
        return said
    spans = places_of(gone, said)
    near = said.filter(pc.is_in(said["session_id"], pa.array(sorted({session for session, _ in spans}), pa.string())))
    if not len(near):
        return said
    is_near = pc.is_in(said["session_id"], value_set=pc.unique(near["session_id"])).to_numpy()
    texts = {}
    for place, row in zip(np.flatnonzero(is_near).tolist(), near.to_pylist(), strict=True):
        stated = spans.get((row["session_id"], row["turn_number"]), ())
        if stated:
            texts[place] = without_sentences(row["text"], stated)
    return _saying(said, texts)


def without_sentences(text: str, spans: Sequence[Span]) -> str:
    """The text, blanked where a sentence meets a span; of the same length."""
    return blanked(text, [(one.start, one.end) for one in sentences(text) if one.meets_any(spans)])


def places_of(gone: Iterable[Row], said: pa.Table) -> Unsaid:
    """Where facts were stated: in their sources, and where an assistant says their object again in the same talk."""
    found: dict[Place, list[Span]] = defaultdict(list)
    objects: dict[str, set[frozenset[str]]] = defaultdict(set)
    for row in gone:
        for source in row["sources"] or ():
            found[source["session_id"], source["turn_number"]].append(Span(source["span_start"], source["span_end"]))
            objects[source["session_id"]].add(frozenset(stems(row["object"])) - _LITTLE_STEMS)
    of_sessions = pc.is_in(said["session_id"], pa.array(sorted(objects), pa.string()))
    replies = said.filter(pc.and_(of_sessions, pc.equal(said["role"], "assistant")))
    for row in replies.select(["session_id", "turn_number", "text"]).to_pylist():
        for sentence in sentences(row["text"]):
            words = set(stems(row["text"][sentence.start : sentence.end]))
            if any(thing and thing <= words for thing in objects[row["session_id"]]):
                found[row["session_id"], row["turn_number"]].append(sentence)
    return found


def with_dates(text: str, said_on: date) -> str:
    """The text with what `yesterday` and the like meant on the day on which it was said behind them."""
    if not NAMES_OF_TIME.search(text):
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
    is_own: bool = False
    """Whether the remembered person said it."""
    is_of_assistant: bool = False
    labels: tuple[tuple[int, int, float], ...] = ()
    """Sentences of a message: where they begin and end, and how probably each is worth keeping."""
    experience_id: str | None = None
    said_at: datetime | None = None
    """When it was said; `said_on` is the day by the clock of who said it."""

    @property
    def by(self) -> str | None:
        """Who said it: the remembered person is `user`, as in facts, and behind it the name that the log has."""
        named = self.speaker if self.speaker and self.speaker.casefold() != USER else None
        return (f"{USER} ({named})" if named else USER) if self.is_own else self.speaker

    @property
    def shown(self) -> str:
        """The text as people read it, with what its relative dates meant, `yesterday (2026-07-12)`; of a fact that was
        said more than once it is not known on which day."""
        is_dated = self.kind in {MESSAGE, OBSERVATION} or (self.kind == FACT and len(self.sources) == 1)
        return with_dates(self.text, self.said_on) if is_dated else self.text


@dataclass(frozen=True, slots=True)
class Scores:
    """What documents are worth by number; the components by name, before they are weighed, and their weights."""

    total: Floats | Mapping[int, float]
    components: Mapping[str, Floats] = field(default_factory=dict)
    weights: Weights | None = None

    def shares(self, number: int) -> dict[str, float]:
        """What each component adds to the score of a document, where it adds anything. They add up to the score: what
        confidence takes away of them, or a thread adds to them, is taken from all alike."""
        parts = {name: getattr(self.weights, name, 1.0) * float(one[number]) for name, one in self.components.items()}
        factor = float(self.total[number]) / (sum(parts.values()) or 1.0)
        return {name: round(part * factor, 6) for name, part in parts.items() if part}


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
            said_on=local_instant(row["said_at"], row["utc_offset_minutes"]).date(),
            speaker=row["speaker"],
            components=scores.shares(n),
            conflicts_with=pack.conflicts.get(n, ()),
            neighbours=_around(pack, n, n_neighbours) if row["kind"] == MESSAGE else (),
            sources=tuple((source["session_id"], source["turn_number"]) for source in row["sources"] or ()),
            is_own=row["kind"] == MESSAGE and row["subject"] == USER,
            is_of_assistant=row["role"] == ASSISTANT,
            labels=tuple((one["span_start"], one["span_end"], one["confidence"]) for one in row.get("labels") or ()),
            said_at=row["said_at"],
            experience_id=row.get("experience_id"),
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
