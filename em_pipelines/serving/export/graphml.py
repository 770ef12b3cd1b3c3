"""Entities and current facts as GraphML: a directed multigraph with typed attributes.

Every thing is a node, every fact an edge from subject to object under its own id. What a fact says in words, an age
say, is a node of its own kind: a graph has edges between nodes alone. Lists are JSON, as GraphML has none.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO
from xml.sax.saxutils import escape, quoteattr

import orjson

from em_pipelines.schema.ids import content_id
from em_pipelines.serving.export.exported_facts import Memory, Row

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 (2.2, Characters) allows in no document, not even escaped."""
_Attributes = dict[str, tuple[str, Callable[[Row], Any]]]

GRAPH: _Attributes = {
    "user_id": ("string", lambda row: row["user_id"]),
    "as_of": ("string", lambda row: row["as_of"]),
}
NODE: _Attributes = {
    "name": ("string", lambda row: row["name"]),
    "kind": ("string", lambda row: row["kind"]),
    "entity_type": ("string", lambda row: row.get("entity_type")),
    "aliases": ("string", lambda row: _json(row.get("aliases"))),
    "is_person_remembered": ("boolean", lambda row: row.get("is_person_remembered")),
    "mention_count": ("long", lambda row: row.get("mention_count")),
    "importance": ("double", lambda row: row.get("importance")),
    "first_seen": ("string", lambda row: row.get("first_seen")),
    "last_referenced": ("string", lambda row: row.get("last_referenced")),
    "privacy_level": ("string", lambda row: row.get("privacy_level")),
}
EDGE: _Attributes = {
    "relation": ("string", lambda row: row["relation"]),
    "polarity": ("int", lambda row: row["polarity"]),
    "status": ("string", lambda row: row["status"]),
    "confidence": ("double", lambda row: row["confidence"]),
    "temporal_type": ("string", lambda row: row["temporal_type"]),
    "valid_from": ("string", lambda row: row["valid_from"]),
    "valid_to": ("string", lambda row: row["valid_to"]),
    "over": ("string", lambda row: row["over"]),
    "statement": ("string", lambda row: row["statement"]),
    "flags": ("string", lambda row: _json(row["flags"])),
    "learned_at": ("string", lambda row: row["learned_at"]),
    "last_reinforced": ("string", lambda row: row["last_reinforced"]),
    "reinforcement_count": ("long", lambda row: row["reinforcement_count"]),
    "privacy_level": ("string", lambda row: row["privacy_level"]),
    "provenance": ("string", lambda row: _json(row["provenance"])),
}
_OF = {"graph": GRAPH, "node": NODE, "edge": EDGE}


def write_graphml(handle: BinaryIO, memory: Memory) -> dict[str, int]:
    """Writes the graph and returns how many entities, values and facts it has. Equal memory gives equal bytes."""
    values = _values(memory)
    handle.writelines(f"{line}\n".encode() for line in _lines(memory, values))
    return {"entities": len(memory.entities), "values": len(values), "facts": len(memory.current)}


def _values(memory: Memory) -> dict[str, str]:
    """The literal objects of current facts by id."""
    said = {fact["object"] for fact in memory.current if fact["object_id"] is None}
    return {_value_id(memory, text): text for text in sorted(said)}


def _value_id(memory: Memory, text: str) -> str:
    return content_id("val", memory.user_id, text)


def _lines(memory: Memory, values: dict[str, str]) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<graphml xmlns="{NAMESPACE}">'
    for element, attributes in _OF.items():
        for name, (type_, _) in attributes.items():
            yield f'<key id="{element}_{name}" for="{element}" attr.name="{name}" attr.type="{type_}"/>'
    yield '<graph id="memory" edgedefault="directed">'
    yield from _data("graph", {"user_id": memory.user_id, "as_of": memory.as_of.isoformat()})
    for entity in memory.entities:
        yield f"<node id={quoteattr(entity['entity_id'])}>"
        yield from _data("node", {**entity, "kind": "entity"})
        yield "</node>"
    for value_id, text in values.items():
        yield f"<node id={quoteattr(value_id)}>"
        yield from _data("node", {"name": text, "kind": "value"})
        yield "</node>"
    for fact in memory.current:
        target = fact["object_id"] or _value_id(memory, fact["object"])
        ends = f"source={quoteattr(fact['subject_id'])} target={quoteattr(target)}"
        yield f"<edge id={quoteattr(fact['edge_id'])} {ends}>"
        yield from _data("edge", fact)
        yield "</edge>"
    yield "</graph>"
    yield "</graphml>"


def _data(element: str, row: Row) -> Iterator[str]:
    for name, (_, value_of) in _OF[element].items():
        value = value_of(row)
        if value is not None:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            yield f'<data key="{element}_{name}">{_escaped(text)}</data>'


def _escaped(text: str) -> str:
    """Text as XML text that reads back as it was, but for characters that XML knows no way to hold."""
    return escape(_FORBIDDEN.sub("", text), {"\r": "&#13;"})


def _json(value: object) -> str | None:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode() if value is not None else None
