"""The notes of a vault, as texts by file name: an index, one of the person, one of each thing that is known.

Notes link to each other as [[path|name]]; what was said stands in them escaped. Pure: nothing is written here.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from em_pipelines.language.filenames import safe_stem, stems
from em_pipelines.serving.export.exported_facts import Memory, Row
from em_pipelines.serving.export.sentences import confidence_word, one_line, plain, quoted

INDEX, PERSON, FOLDER = "Index.md", "Person.md", "entities"
EARLIER = "superseded"
DISPUTED = "contradicted"


@dataclass(frozen=True)
class _Links:
    """How each thing is linked to."""

    stems: dict[str, str]
    names: dict[str, str]
    person: str | None

    def to(self, entity_id: str) -> str:
        """A link; behind it the name in full where a link cannot hold it."""
        name = self.names[entity_id]
        shown = safe_stem(name)
        target = PERSON.removesuffix(".md") if entity_id == self.person else f"{FOLDER}/{self.stems[entity_id]}"
        return f"[[{target}|{shown}]]" + ("" if shown == one_line(name) else f" ({plain(name)})")


def notes_of(memory: Memory) -> dict[str, str]:
    """Every note by its path in the vault, with / between parts. Equal memory gives equal notes."""
    things = [entity for entity in memory.entities if entity["entity_id"] != memory.person]
    names = {entity["entity_id"]: entity["name"] for entity in memory.entities}
    if memory.person:
        names[memory.person] = memory.user_id
    links = _Links(stems({thing["entity_id"]: thing["name"] for thing in things}), names, memory.person)
    about: dict[str, list[Row]] = defaultdict(list)
    for fact in memory.facts:
        for entity_id in {fact["subject_id"], fact["object_id"]} - {None}:
            about[entity_id].append(fact)
    notes = {INDEX: _index(memory, things, about, links), PERSON: _person(memory, about, links)}
    for thing in things:
        path = f"{FOLDER}/{links.stems[thing['entity_id']]}.md"
        notes[path] = _text(_thing(thing, about[thing["entity_id"]], links, memory))
    return notes


def _index(memory: Memory, things: list[Row], about: dict[str, list[Row]], links: _Links) -> str:
    lines = [
        *_head({"user": memory.user_id, "as_of": memory.as_of.isoformat()}),
        f"# Memory of {plain(memory.user_id)}",
    ]
    current = {fact["edge_id"] for fact in memory.current}
    person = f"[[{PERSON.removesuffix('.md')}|{safe_stem(memory.user_id)}]]"
    lines += [
        "",
        f"{person}: {_many(len(current), 'fact')}, {_many(len(things), 'thing')}, at the end of {memory.as_of}",
    ]
    by_type: dict[str, list[Row]] = defaultdict(list)
    for thing in things:
        by_type[thing["entity_type"]].append(thing)
    for entity_type, of_type in sorted(by_type.items()):
        lines += ["", f"## {plain(entity_type)}", ""]
        for thing in of_type:
            n_facts = sum(fact["edge_id"] in current for fact in about[thing["entity_id"]])
            lines.append(f"- {links.to(thing['entity_id'])}: {_many(n_facts, 'fact')}, {_mentions(thing)}")
    return _text(lines)


def _person(memory: Memory, about: dict[str, list[Row]], links: _Links) -> str:
    lines = [*_head({"user": memory.user_id, "as_of": memory.as_of.isoformat()}), f"# {plain(memory.user_id)}"]
    own = next((entity for entity in memory.entities if entity["entity_id"] == memory.person), None)
    if own and own["aliases"]:
        lines += ["", f"Also called: {', '.join(map(plain, own['aliases']))}"]
    return _text([*lines, *_sections(memory.person, about[memory.person] if memory.person else [], links)])


def _thing(thing: Row, facts: list[Row], links: _Links, memory: Memory) -> list[str]:
    head = {
        "id": thing["entity_id"],
        "type": thing["entity_type"],
        "aliases": thing["aliases"],
        "first_seen": thing["first_seen"][:10],
        "last_seen": thing["last_referenced"][:10],
        "as_of": memory.as_of.isoformat(),
    }
    lines = [*_head(head), f"# {plain(thing['name'])}", ""]
    if thing["aliases"]:
        lines += [f"Also called: {', '.join(map(plain, thing['aliases']))}", ""]
    seen = f"first {thing['first_seen'][:10]}, last {thing['last_referenced'][:10]}"
    lines.append(f"{plain(thing['entity_type'])}, {_mentions(thing)}: {seen}")
    return [*lines, *_sections(thing["entity_id"], facts, links)]


def _sections(entity_id: str | None, facts: list[Row], links: _Links) -> Iterator[str]:
    sections: dict[str, list[Row]] = {"Facts": [], "In facts about others": [], "Earlier": []}
    for fact in facts:
        if fact["status"] == EARLIER:
            sections["Earlier"].append(fact)
        elif fact["status"] in {"active", DISPUTED}:
            sections["Facts" if fact["subject_id"] == entity_id else "In facts about others"].append(fact)
    for title, told in sections.items():
        if told:
            yield from ("", f"## {title}", "", *(_line(fact, entity_id, links) for fact in told))


def _line(fact: Row, entity_id: str | None, links: _Links) -> str:
    """A fact in words: what it says, how sure it is, since when and until when it holds, and where it was said."""
    relation = fact["relation"].replace("_", " ")
    subject = "" if fact["subject_id"] == entity_id else f"{links.to(fact['subject_id'])} "
    target = links.to(fact["object_id"]) if fact["object_id"] else plain(fact["object"])
    over = f" over {plain(fact['over'])}" if fact["over"] else ""
    told = [f"{confidence_word(fact['confidence'])} ({fact['confidence']:.2f})"]
    told += ["disputed"] if fact["status"] == DISPUTED else []
    told += [f"{word} {fact[field]}" for word, field in (("since", "valid_from"), ("until", "valid_to")) if fact[field]]
    negated = "not: " if fact["polarity"] < 0 else ""
    return f"- {subject}**{negated}{relation}** {target}{over}: {', '.join(told)}; said {_sources(fact)}{_worded(fact)}"


def _worded(fact: Row) -> str:
    return f": “{plain(fact['statement'])}”" if fact["statement"] else ""


def _sources(fact: Row) -> str:
    """Sessions in which it was said, each with the first of the days."""
    days: dict[str, str] = {}
    for source in fact["provenance"]:
        days.setdefault(source["session_id"], source["said_on"] or "")
    return ", ".join(f"{day} in {plain(session)}" if day else f"in {plain(session)}" for session, day in days.items())


def _head(fields: dict[str, object]) -> Iterable[str]:
    return ["---", *(f"{name}: {quoted(value)}" for name, value in fields.items()), "---", ""]


def _mentions(thing: Row) -> str:
    return _many(thing["mention_count"], "mention")


def _many(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"
