"""Asking the pack of one user of a home: what every door goes through, so that none can forget what is to be erased."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa

from em_pipelines.errors import NotMadeError
from em_pipelines.language.cleaning import CODE_MARK
from em_pipelines.language.name_matching import MARKER, marked
from em_pipelines.redaction.veils import Place, Veil, hidden, hiding
from em_pipelines.retrieval.documents import (
    EXPERIENCE,
    FACT,
    MESSAGE,
    OBSERVATION,
    Hit,
    Scores,
    Turn,
    Unsaid,
    hits_of,
    places_of,
    without_sentences,
)
from em_pipelines.retrieval.domain_view import DomainView
from em_pipelines.retrieval.expansion import NOTHING, Consolidating, expanded
from em_pipelines.retrieval.experiences import Experience, about, at_turns, tellable
from em_pipelines.retrieval.pack import Pack
from em_pipelines.retrieval.packs import folder_of, is_to_come
from em_pipelines.retrieval.search import Search, held, narrowed, search, search_experiences
from em_pipelines.retrieval.searchable_home import SearchableHome
from em_pipelines.retrieval.terms import stems
from em_pipelines.schema.rows import EdgeRow
from em_pipelines.schema.table import Table, rows_of
from em_pipelines.schema.tables.graph import EDGES, ENTITIES
from em_pipelines.schema.vocabulary import Status
from em_pipelines.serving.facts import SHOWN, FactQuery, FactRow, KeptAs, check_made, facts, standing

KEPT_OPEN = 16
"""Packs that a process keeps open; another's opening takes the place of the one that was opened first."""

_open: dict[Path, tuple[tuple[int, int], Pack]] = {}


def opened(home: SearchableHome, user_id: str) -> Pack | None:
    """The user's pack, opened once for as long as it is not made anew; None where nothing of them is indexed."""
    if not (home.path / "packs").is_dir():  # whoever asks a home that is not there makes none, nor a salt for it
        return None
    folder = folder_of(home, user_id)
    try:
        stat = (folder / "pack.json").stat()
    except FileNotFoundError:
        _open.pop(folder, None)
        return None
    version = (stat.st_ino, stat.st_mtime_ns)
    known = _open.get(folder)
    if known and known[0] == version:
        return known[1]
    while len(_open) >= KEPT_OPEN:
        _open.pop(next(iter(_open)), None)
    _open[folder] = (version, Pack(folder))
    return _open[folder][1]


def ask(home: SearchableHome, user_id: str, wanted: Search, n_hops: int = 0) -> list[Hit]:
    """The hits in the memory of one user (`search.search`), then what is up to two hops away from them in the graph.

    What is archived and what pending requests to forget cover is left out. Facts of an earlier day are those that held
    then. Facts that were corrected since the pack was made are told no more; the correction is found once it is folded.

    Where a domain is asked for, nothing of another is told, nor counts (`domain_view`).

    Nothing is written, and no model is asked. Somebody who has said nothing has no hits, nor has an empty question.
    Raises NotMadeError for a user who has, and of whom nothing is indexed yet.
    """
    if not wanted.text.strip():
        return []
    if OBSERVATION in wanted.kinds:
        return _observations(home, user_id, wanted)
    pack = opened(home, user_id)
    if pack is None:
        _check_indexed(home, user_id)
        return []
    is_waiting = home.waiting(user_id, wanted.until or date.max) is not None
    wanted = replace(wanted, standing=_standing(home, user_id, wanted.until))
    gone = unsaid(pack, wanted.standing, is_waiting=is_waiting and wanted.until is None)
    view = seen_from(home, user_id, wanted.domain)
    rows = _seen(home, user_id, wanted.until, view) if view else {}
    if view:
        held_here = {edge_id: row["effective_confidence"] for edge_id, row in rows.items()}
        wanted = replace(wanted, standing=held_here)
    withheld = _Withheld(hidden(home, user_id), home.archived.of(user_id), gone)
    spare = len(withheld.archived) if MESSAGE in wanted.kinds else 0
    hits = search(pack, replace(wanted, n_hits=wanted.n_hits + spare), home.settings.retrieval, home.embedder)
    told = withheld.left_of(hits)
    spared = [hit for hit in told if hit.kind == MESSAGE][wanted.n_hits :]
    best = [hit for hit in told if hit not in spared]
    recurring = _experiences(home, user_id, pack, wanted)
    if n_hops and FACT in wanted.kinds:
        beyond = _consolidating(home, user_id, wanted, recurring)
        best += _along_the_graph(pack, best, wanted, withheld, n_hops, beyond)
    told = [*(view.hits(best, rows) if view else best), *recurring]
    return told[: wanted.n_hits] if wanted.is_capped and not n_hops else told


def _observations(home: SearchableHome, user_id: str, wanted: Search) -> list[Hit]:
    """The observations that stand in the messages a question finds, best message first; of one message first those that
    have more of the question's words."""
    as_of = wanted.until or home.store.lake.latest(EDGES, date.max) or datetime.now(UTC).date()
    query = FactQuery(user_id, as_of, kept_as=KeptAs.OBSERVATIONS)
    waiting = home.waiting(user_id, wanted.until or date.max)
    rows = facts(home.store, query, home.settings.decay, waiting, hiding(home, user_id))
    said_in: dict[tuple[str | None, int | None], list[dict[str, Any]]] = defaultdict(list)
    for row in (row for row in rows if row["confidence"] >= wanted.min_confidence):
        for place in row["provenance"]:
            said_in[place["session_id"], place["turn_number"]].append(row)
    messages = ask(home, user_id, replace(wanted, kinds=frozenset({MESSAGE}), n_hits=max(len(said_in), 1)))
    words = set(stems(wanted.text))
    found: dict[str, Hit] = {}
    for hit in messages:
        own = said_in[hit.session_id, hit.turn_number]
        for row in sorted(own, key=lambda row: -len(words.intersection(stems(row["text"])))):
            told = replace(hit, kind=OBSERVATION, edge_id=row["edge_id"], text=row["text"], neighbours=())
            found.setdefault(row["edge_id"], told)
    return [*found.values()][: wanted.n_hits]


def tellable_in(
    home: SearchableHome, user_id: str, until: date | None = None, domain: str | None = None
) -> list[Experience]:
    """The experiences of one user that may be told (`experiences.tellable`); in a domain, what may be told there."""
    view = seen_from(home, user_id, domain)
    return tellable(home, user_id, until, view.elsewhere if view else frozenset())


def _experiences(home: SearchableHome, user_id: str, pack: Pack, wanted: Search) -> list[Hit]:
    """Experiences: beside what was said and is known those few that the question is about; else whatever it finds,
    what is cold as well."""
    if pack.experiences is None or EXPERIENCE not in wanted.kinds:
        return []
    known = [one for one in tellable_in(home, user_id, wanted.until, wanted.domain) if _counts(one, wanted)]
    chosen = home.settings.retrieval
    if wanted.kinds != {EXPERIENCE}:
        known = about(known, wanted.text)
        wanted = replace(wanted, n_hits=min(chosen.n_experiences, wanted.n_hits))
    told = {one.experience_id for one in known}
    return search_experiences(pack.experiences, wanted, chosen, home.embedder, told) if told and wanted.n_hits else []


def _consolidating(home: SearchableHome, user_id: str, wanted: Search, found: Iterable[Hit]) -> Consolidating:
    """What the graph leads to from turns: experiences that were not found yet."""
    if EXPERIENCE not in wanted.kinds:
        return NOTHING
    known = tellable_in(home, user_id, wanted.until, wanted.domain)
    counting = at_turns(one for one in known if not one.is_cold and one.row["confidence"] >= wanted.min_confidence)
    return Consolidating(counting, {hit.experience_id for hit in found if hit.experience_id})


def _counts(one: Experience, wanted: Search) -> bool:
    """Whether an experience is of the conversations and the relations that count."""
    is_of_sessions = not wanted.sessions or bool(one.sessions & wanted.sessions)
    return is_of_sessions and (not wanted.relations or one.row["component"] in wanted.relations)


def seen_from(home: SearchableHome, user_id: str, domain: str | None) -> DomainView | None:
    """The person's memory as it may be told in a domain, made once for as long as nothing changes that it hangs on;
    None where no domain bounds it."""
    if not domain:
        return None
    pack, log, lake = opened(home, user_id), home.store.log, home.store.lake
    feedback = [(day, log.digest("feedback", day)) for day in log.days("feedback")]
    days = [(table, lake.latest(table, date.max)) for table in (EDGES, ENTITIES)]
    infos = [(day, info.content_digest) for table, day in days if day and (info := lake.info(table, day))]
    key, stamp = (home.path.resolve(), user_id, domain), (pack, feedback, infos)
    kept = _views.get(key)
    if kept is None or kept[0][0] is not pack or kept[0][1:] != stamp[1:]:
        said = [record for day, _ in feedback for record in log.read("feedback", day) if record["user_id"] == user_id]
        edges, entities = (_rows_of(home, table, day, user_id) for table, day in days)
        kept = (stamp, DomainView(domain, pack, cast("dict[str, EdgeRow]", edges), entities, said))
        _views.pop(key, None)
        while len(_views) >= KEPT_OPEN:
            _views.pop(next(iter(_views)), None)
        _views[key] = kept
    return kept[1]


_views: dict[tuple[Path, str, str], tuple[tuple[Any, ...], DomainView]] = {}


def _rows_of(home: SearchableHome, table: Table, day: date | None, user_id: str) -> dict[str, dict[str, Any]]:
    """A person's rows of a state, by their key."""
    found = rows_of(home.store.lake.find(table, day, "user_id", [user_id])) if day else ()
    return {row[table.key[0]]: row for row in found}


def _seen(home: SearchableHome, user_id: str, until: date | None, view: DomainView) -> dict[str, FactRow]:
    """The facts that hold and may be told in a domain, as they may be, by id."""
    as_of = until or home.store.lake.latest(EDGES, date.max) or datetime.now(UTC).date()
    waiting, is_hidden = home.waiting(user_id, until or date.max), hiding(home, user_id)
    rows = standing(home.store, FactQuery(user_id, as_of), home.settings.decay, waiting).to_pylist()
    held_then = [row for row in cast("list[FactRow]", rows) if row["status"] in SHOWN and not is_hidden(row)]
    return {row["edge_id"]: row for row in view.all_told(held_then)}


def _check_indexed(home: SearchableHome, user_id: str) -> None:
    check_made(home.store, user_id, "searching")
    if is_to_come(home, user_id):
        raise NotMadeError(f"searching: the index of {user_id!r:.80} is not made yet; `em run` makes it, ask then")


def unsaid(pack: Pack, standing: Mapping[str, float] | None, *, is_waiting: bool) -> Unsaid:
    """Where facts were said that hold no more by feedback that waits; where others were withdrawn is blank already."""
    if not is_waiting:
        return {}
    is_standing = standing or {}
    shown = (row for row in pack.facts if row["status"] in (Status.ACTIVE, Status.CONTRADICTED))
    gone = [row for row in shown if row["edge_id"] not in is_standing]
    return places_of(gone, pack.documents.slice(0, pack.n_messages)) if gone else {}


def _left_of(hit: Hit, gone: Unsaid) -> Hit | None:
    """The hit without the sentences that said what holds no more, and without blanks; None where nothing is left."""
    if hit.kind != MESSAGE:
        return hit
    left = _told(hit, gone)
    if not left.strip(f"{MARKER} "):
        return None
    near = (replace(turn, text=_told(turn, gone)) for turn in hit.neighbours)
    return replace(hit, text=left, neighbours=tuple(turn for turn in near if turn.text.strip(f"{MARKER} ")))


def _told(said: Hit | Turn, gone: Unsaid) -> str:
    spans = gone.get((said.session_id or "", -1 if said.turn_number is None else said.turn_number), ())
    left = without_sentences(said.text, spans) if spans else said.text
    return marked(left) if CODE_MARK in left else left


def quotable_texts(home: SearchableHome, user_id: str, places: Iterable[Place]) -> dict[Place, str]:
    """What may be quoted of the user's turns, blanked and as long as they are; turns without a place in the pack are
    left out."""
    pack = opened(home, user_id)
    if pack is None:
        return {}
    is_waiting = home.waiting(user_id, date.max) is not None
    gone = unsaid(pack, _standing(home, user_id, None), is_waiting=is_waiting)
    numbers = {place: n for place in places if (n := pack.turn(*place)) is not None}
    texts = pack.documents["text"].take(pa.array(numbers.values(), pa.int64())).to_pylist()
    return {
        place: without_sentences(text, gone[place]) if place in gone else text
        for place, text in zip(numbers, texts, strict=True)
    }


@dataclass(frozen=True, slots=True)
class _Withheld:
    """What of a user's memory is not told: what pending requests to forget cover, turns that are archived, and where
    facts were said that were taken back."""

    veils: Sequence[Veil]
    archived: frozenset[Place]
    unsaid: Unsaid

    def left_of(self, hits: Iterable[Hit]) -> list[Hit]:
        """The hits that may be told, without sentences that said what was taken back."""
        may_tell = (hit for hit in hits if not self.is_covered(hit) and not self.is_archived(hit))
        return [left for hit in may_tell if (left := _left_of(hit, self.unsaid)) is not None]

    def is_covered(self, hit: Hit) -> bool:
        """Whether a request to forget covers it."""
        return any(
            veil.hides_document(session_id=hit.session_id, edge_id=hit.edge_id, text=hit.text, said_on=_utc_day(hit))
            for veil in self.veils
        )

    def is_archived(self, hit: Hit) -> bool:
        """Whether it is a turn that was archived."""
        return hit.kind == MESSAGE and (hit.session_id, hit.turn_number) in self.archived


def _along_the_graph(  # noqa: PLR0913  (where from, along what, and what counts)
    pack: Pack, hits: list[Hit], wanted: Search, withheld: _Withheld, n_hops: int, consolidating: Consolidating
) -> list[Hit]:
    """What lies around the hits and may be told. No way leads over a fact that is about to be forgotten."""
    confidence = held(pack, wanted.standing)
    for hit in hits_of(pack, list(pack.numbers.values()), Scores(confidence)) if withheld.veils else []:
        if withheld.is_covered(hit):
            confidence[pack.numbers[hit.edge_id or ""]] = 0
    bounds = replace(wanted, entities=frozenset(), relations=frozenset())
    is_in = np.logical_or(*(narrowed(pack, bounds, kind, confidence) for kind in (MESSAGE, FACT)))
    return withheld.left_of(expanded(pack, hits, confidence, is_in, n_hops, consolidating))


def _standing(home: SearchableHome, user_id: str, until: date | None) -> dict[str, float] | None:
    """The facts that hold, with their confidence, where the pack cannot know: on an earlier day, or after feedback."""
    waiting = home.waiting(user_id, until or date.max)
    if until is None and waiting is None:
        return None
    as_of = until or home.store.lake.latest(EDGES, date.max) or datetime.now(UTC).date()
    rows = facts(home.store, FactQuery(user_id, as_of), home.settings.decay, waiting, hiding(home, user_id))
    return {row["edge_id"]: row["confidence"] for row in rows}


def _utc_day(hit: Hit) -> date:
    """The day by which requests to forget count."""
    return hit.said_at.date() if hit.said_at is not None else hit.said_on
