"""A person's graph, drawn: around a name, through time, as far as it is sure."""

from datetime import date, timedelta
from typing import Any

import networkx as nx

from em_pipelines.governance.corrections import Fact
from em_pipelines.interfaces.agents.graph_page import Part, graph_page
from em_pipelines.interfaces.ui.asked import Asked, Page
from em_pipelines.interfaces.ui.drawing import Drawing, drawn
from em_pipelines.interfaces.ui.pages.facts import came, check_known, known
from em_pipelines.language.name_keys import name_key
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.vocabulary import USER

MOST_EDGES = 60
"""Of a drawing that can still be read."""
MOST_APART = 12
COLOURED = ("person", "place", "organization", "event", "value")
"""Types of names with a colour of their own, as in static/em.css."""
MOST_NAMES = 500
"""That are offered while somebody types one."""


def show_graph(asked: Asked) -> Page:
    """The facts nearest to a name, as edges; those that are surest where there are too many."""
    days = asked.home.store.lake.days(MESSAGES)
    first, last = (days[0], max(days[-1], asked.today)) if days else (asked.today, asked.today)
    as_of = _moment(asked, first, last)
    least = asked.number("sure", 0.4, 0.0, 1.0)
    facts = known(_at(asked, as_of))
    if not facts:
        check_known(asked)
    about, relation, kind = asked.text("about") or USER, asked.text("relation"), asked.text("kind")
    chosen = [fact for fact in facts if fact["confidence"] >= least and relation in ("", fact["relation"])]
    whole = graph_page(asked.home, asked.user, chosen, Part(0, max(1, len(chosen))))
    kinds = {node["name"]: node["entity_type"] or "other" for node in whole.nodes}
    if kind:
        chosen = [f for f in chosen if kind in (kinds.get(f["subject"]), kinds.get(str(f["object"])))]
    near = _near(chosen, about)
    n_less_sure = sum(fact["confidence"] < least and relation in ("", fact["relation"]) for fact in facts)
    return Page(
        "graph.html",
        {
            "user": asked.user,
            "about": about,
            "as_of": as_of,
            "first": first,
            "n_days": (last - first).days,
            "n_of_day": (as_of - first).days,
            "sure": least,
            "relation": relation,
            "relations": sorted({fact["relation"] for fact in facts}),
            "kind": kind,
            "kinds": sorted({*kinds.values()}),
            "names": sorted({name for fact in facts for name in (fact["subject"], str(fact["object"]))})[:MOST_NAMES],
            "facts": near,
            "came": came(asked, near),
            "is_known": any(name_key(about) in {name_key(f["subject"]), name_key(str(f["object"]))} for f in facts),
            "n_fitting": len(chosen),
            "n_less_sure": n_less_sure,
            **_told(chosen, near, about, drawn(near, kinds, about)),
        },
    )


def _told(chosen: list[Fact], near: list[Fact], about: str, drawing: Drawing) -> dict[str, Any]:
    """The drawing, what its colours mean, and what it leaves out."""
    return {
        "drawing": drawing,
        "apart": _apart(chosen, about) if len(near) < len(chosen) else [],
        "legend": [kind for kind in COLOURED if any(kind == node.kind for node in drawing.nodes)],
        "has_denied": any(arc.is_denied for arc in drawing.arcs),
    }


def _moment(asked: Asked, first: date, last: date) -> date:
    """The day that is looked at: by date, or by its place on the slider."""
    if (day := asked.day("as_of")) is not None:
        return day
    n_days = int(asked.number("day", (last - first).days, 0, (last - first).days))
    return first + timedelta(days=n_days)


def _at(asked: Asked, as_of: date) -> Asked:
    """What was known at the end of that day, as it held then: what was learned later is not there yet."""
    said = {"user": asked.user, "as_of": as_of.isoformat()}
    if as_of < asked.today:
        said["known_at"] = as_of.isoformat()
    return Asked(asked.home, asked.visitor, said)


def _apart(facts: list[Fact], about: str) -> list[str]:
    """Names from which no fact leads to the one that is drawn around: whole groups by one name each, that with most
    facts."""
    graph = nx.Graph((fact["subject"], str(fact["object"])) for fact in facts)
    told = {fact["subject"] for fact in facts}
    groups = [
        group & told for group in nx.connected_components(graph) if name_key(about) not in {name_key(n) for n in group}
    ]
    return sorted(max(sorted(group), key=graph.degree) for group in groups)[:MOST_APART]


def _near(facts: list[Fact], about: str) -> list[Fact]:
    """The facts nearest to a name, each step outwards by confidence, until there are enough."""
    ends = {fact["edge_id"]: {name_key(fact["subject"]), name_key(str(fact["object"]))} for fact in facts}
    reached, left, found = {name_key(about)}, list(facts), list[Fact]()
    while left and len(found) < MOST_EDGES:
        step = [fact for fact in left if reached & ends[fact["edge_id"]]]
        if not step:
            break
        step.sort(key=lambda fact: (-fact["confidence"], fact["edge_id"]))
        found += step[: MOST_EDGES - len(found)]
        left = [fact for fact in left if not reached & ends[fact["edge_id"]]]
        reached = reached.union(*(ends[fact["edge_id"]] for fact in step))
    return found
