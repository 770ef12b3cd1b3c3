"""Why memory holds something, told to the one user whose memory it is: another's ids are as unknown as made-up ones.

An agent reads it, so it is told what it would be told by a search: no claim of rank, no sentence that the guard takes
out, and none that states what was taken back.
"""

from datetime import date
from typing import Any

import orjson

from em_pipelines.governance.audit.rows import World, rows_where, sentence_at, state_where
from em_pipelines.governance.audit.why import BY_FEEDBACK, Document, why
from em_pipelines.language.name_matching import MARKER, marked
from em_pipelines.pipeline import Pipeline
from em_pipelines.redaction.veils import Veil, hidden
from em_pipelines.retrieval.domain_view import FEEDBACK_ID, OWN, DomainView
from em_pipelines.retrieval.user_search import quotable_texts
from em_pipelines.schema.tables.derived import INFERRED_EDGES
from em_pipelines.schema.tables.graph import EDGES, ENTITIES, GRAPH_OPS


def provenance(
    home: Pipeline, user_id: str, wanted: str, as_of: date, view: DomainView | None = None
) -> Document | None:
    """What `why` tells of a fact, an inferred fact or an entity of this user; None where the user has none of that id.

    What a pending request to forget covers is left out, and so is a fact that it covers whole. A `view` tells of a fact
    what was said in its domain: an id of another is as unknown as a made-up one.
    """
    lake = home.store.lake
    rows = [
        row for table in (EDGES, INFERRED_EDGES, ENTITIES) for row in state_where(lake, table, table.key[0], [wanted])
    ]
    if {row["user_id"] for row in rows or rows_where(lake, GRAPH_OPS, "edge_id", [wanted])} != {user_id}:
        return None
    unverified = {
        row["edge_id"] for row in state_where(lake, EDGES, "user_id", [user_id]) if row["requires_verification"]
    }
    found = why(lake, wanted, as_of, home.settings.decay) if wanted not in unverified else None
    if found and view is not None:
        found = _within(found, view, World(lake, user_id, view))
    if found is None:
        return None
    veils = hidden(home, user_id)
    quoted = _quoted(home, _without(found, unverified), user_id)
    return _veiled(quoted, veils) if veils else quoted


def _without(found: Document, edge_ids: set[str]) -> Document:
    """The document without these facts where it lists facts."""
    return {
        name: [entry for entry in value if not (isinstance(entry, dict) and entry.get("edge_id") in edge_ids)]
        if isinstance(value, list)
        else value
        for name, value in found.items()
    }


def _quoted(home: Pipeline, found: Document, user_id: str) -> Document:
    """The document with the sentences of its sources as they may be quoted."""
    sources = found.get("sources") or ()
    texts = quotable_texts(home, user_id, {(source["session_id"], source["turn_number"]) for source in sources})
    told = []
    for source in sources:
        text = texts.get((source["session_id"], source["turn_number"]), "")
        sentence = marked(sentence_at(text, source["span_start"], source["span_end"])).strip(f"{MARKER} ")
        told.append({**source, "sentence": None if source["by"] == BY_FEEDBACK else sentence or None})
    return {**found, "sources": told} if told else found


def _veiled(found: Document, veils: tuple[Veil, ...]) -> Document | None:
    """The document without what the veils cover; None where they cover what it is about.

    Nobody asks here when something was said: until the request is carried out, too much is hidden rather than too
    little.
    """

    def is_covered(entry: Any) -> bool:
        said = entry if isinstance(entry, dict) else {"text": entry}
        text = "\n".join(str(part) for part in said.values() if isinstance(part, str))
        session_id, edge_id = said.get("session_id"), said.get("edge_id")
        return any(
            veil.hides_document(session_id=session_id, edge_id=edge_id, text=text, said_on=date.min) for veil in veils
        )

    left = {
        name: [entry for entry in value if not is_covered(entry)] if isinstance(value, list) else value
        for name, value in found.items()
    }
    about = found.get("fact") or found.get("entity") or {"edge_id": found.get("edge_id")}
    is_groundless = bool(found.get("sources")) and not left["sources"]
    return None if is_covered(about) or is_groundless else left


def _within(found: Document, view: DomainView, world: World) -> Document | None:
    """What a view tells of a document; None where it tells nothing of what the document is about. `world` is its own.

    Parts are named one by one, so that one that is new is not told before somebody has decided how much of it.
    """
    tell = {"fact": _fact_within, "inferred_fact": _inferred_within, "entity": _entity_within}.get(found["kind"])
    return tell(found, view, world) if tell else None


def _fact_within(found: Document, view: DomainView, world: World) -> Document | None:
    edge = world.edges.get(found["fact"]["edge_id"])
    if edge is None:
        return None
    places = zip(found["sources"], edge["provenance"], strict=True)
    return {
        "kind": "fact",
        "user_id": found["user_id"],
        "fact": _said(edge, view, world),
        "sources": [_source_within(told, view) for told, source in places if view.shows_source(source)],
        "operations": [op for op in found["operations"] if _is_of_view(op, view)],
        **{
            name: [
                _said(world.edges[one["edge_id"]], view, world) for one in found[name] if one["edge_id"] in world.edges
            ]
            for name in ("revises", "revised_by", "contradictions")
        },
        "today": found["today"],
        "entities": [_names_within(one["entity_id"], world) for one in found["entities"]],
    }


def _inferred_within(found: Document, view: DomainView, world: World) -> Document | None:
    premises = [{**_said(world.edges[one["edge_id"]], view, world), "today": one["today"]} for one in found["premises"]
                if one["edge_id"] in world.edges]  # fmt: skip
    names = {row["canonical_name"] for row in world.entities.values()}
    is_named = {found["fact"]["subject"], found["fact"]["object"]} <= names
    return {**found, "premises": premises} if is_named and len(premises) == len(found["premises"]) else None


def _entity_within(found: Document, view: DomainView, world: World) -> Document | None:
    own = world.entities.get(found["entity"]["entity_id"])
    if own is None:
        return None
    facts = [one for one in found["facts"] if one["edge_id"] in world.edges]
    return {
        "kind": "entity",
        "user_id": found["user_id"],
        "entity": {name: own[name] for name in ("entity_id", "canonical_name", "aliases", "entity_type")},
        "names": _names_within(own["entity_id"], world),
        "facts": [
            {**_said(world.edges[one["edge_id"]], view, world), "confidence": one["confidence"]} for one in facts
        ],
    }


def _said(edge: dict[str, Any], view: DomainView, world: World) -> Document:
    """A fact in short, without a wording that may be of elsewhere."""
    said = world.said(edge)
    return said if view.tells_whole(edge) else {**said, "statement": None}


def _source_within(source: Document, view: DomainView) -> Document:
    """A source without the words of feedback that may be of elsewhere."""
    told = [
        one
        if orjson.loads(one["payload"]).get(OWN) == view.domain
        else {name: one[name] for name in ("type", "timestamp")}
        for one in source["feedback"]
    ]
    return {**source, "feedback": told}


def _is_of_view(operation: Document, view: DomainView) -> bool:
    if operation["claim_id"].startswith(FEEDBACK_ID):
        return view.tells_feedback(operation["claim_id"])
    return view.shows_turn(operation["session_id"], operation["turn_number"])


def _names_within(entity_id: str, world: World) -> Document:
    return {"entity_id": entity_id, "name": world.name(entity_id), "names": world.names(entity_id)}
