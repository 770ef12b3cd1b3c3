"""What may be told of one person's memory to whoever asks from one domain: what was said in it, and what was said in
none. Every reader that is given a domain goes through here.

A message is of the domain that it landed with. A fact may be told where one of its sources may: a turn; or feedback, by
the domain that it names, else by its session; feedback of neither counts for what it revised. Of a fact that was said
elsewhere as well only what was said here is told: its sources, no wording, and things by names that fell here. What
cannot be placed is of another domain.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import orjson

from em_pipelines.language.name_keys import name_key
from em_pipelines.redaction.veils import Place
from em_pipelines.retrieval.documents import EXPERIENCE, Hit, says_more, sentence
from em_pipelines.retrieval.pack import Encoded, Pack
from em_pipelines.retrieval.terms import stem, stems
from em_pipelines.schema.rows import EdgeRow, ProvenanceItem
from em_pipelines.schema.table import Record
from em_pipelines.schema.vocabulary import USER
from em_pipelines.serving.facts import FactRow

FEEDBACK_ID = "fbk_"
"""How the extraction id of a source begins that is no turn."""
OWN = "domain"
"""The field of feedback that names its domain."""
Row = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class DomainView:
    """One person's memory from one domain. `edges` and `entities` are rows of these tables as they last stood,
    `feedback` landed records of the person; without a pack no turn can be placed."""

    domain: str
    pack: Pack | None
    edges: Mapping[str, EdgeRow]
    entities: Mapping[str, Row]
    feedback: Collection[Record]

    def shows_turn(self, session_id: str | None, turn_number: int | None) -> bool:
        """Whether a turn was said here, or in no domain."""
        return self._turns.get((session_id or "", -1 if turn_number is None else turn_number), False)

    def shows(self, row: EdgeRow) -> bool:
        """Whether a fact may be told."""
        seen = {row["edge_id"]}
        while not (placed := [found for source in row["provenance"] if (found := self._placed(source)) is not None]):
            if row["supersedes"] is None:
                return True
            if row["supersedes"] in seen or row["supersedes"] not in self.edges:
                return False
            seen.add(row["supersedes"])
            row = self.edges[row["supersedes"]]
        return any(placed)

    def shows_source(self, source: ProvenanceItem) -> bool:
        """Whether one source of a fact that may be told may be told, too."""
        return self._placed(source) is not False

    def tells_feedback(self, feedback_id: str) -> bool:
        """Whether feedback names this domain."""
        return self._told_in.get(feedback_id) == self.domain

    def tells_whole(self, row: Any) -> bool:
        """Whether a fact, as a row of `edges`, may be told with all its sources and the names that everybody reads."""
        ends = [self.entities.get(self._thing(end)) for end in (row["subject_id"], row["object_id"]) if end]
        is_named = all(
            end and self.name(end["entity_id"], end["canonical_name"]) == end["canonical_name"] for end in ends
        )
        return self.shows(row) and all(map(self.shows_source, row["provenance"])) and is_named

    def told(self, row: FactRow) -> FactRow | None:
        """A fact as it may be told; None where it may not."""
        if not self.shows(row):
            return None
        subject = self._end(row["subject_id"], row["subject"])
        object_ = self._end(row["object_id"], row["object"]) if row["object_id"] else row["object"]
        if subject is None or object_ is None:
            return None
        sources = [source for source in row["provenance"] if self.shows_source(source)]
        is_whole = len(sources) == len(row["provenance"]) and (subject, object_) == (row["subject"], row["object"])
        subject_keys = [name_key(name) for name in self.names(row["subject_id"], subject)]
        object_keys = row["object_keys"]
        if row["object_id"]:
            object_keys = [name_key(name) for name in self.names(row["object_id"], object_)]
        changed = {
            "subject": subject, "object": object_, "provenance": sources, "subject_keys": subject_keys,
            "object_keys": object_keys, "end_keys": [*subject_keys, *object_keys],
            "statement": row["statement"] if is_whole else None, "over": row["over"] if is_whole else None,
        }  # fmt: skip
        return cast("FactRow", {**row, **changed})

    def all_told(self, rows: Iterable[FactRow]) -> list[FactRow]:
        """The facts that may be told, as they may be."""
        return [told for row in rows if (told := self.told(row)) is not None]

    def name(self, entity_id: str, canonical: str) -> str | None:
        """The name by which a thing is told here; None where only other domains have one for it.

        The one that everybody reads where it fell here; else the longest that did, of those that share a word with it
        first: a role is a name, too. A thing of which no name stands as
        such in a message is told by the one that everybody reads, if facts were told of it here and none elsewhere.
        """
        if canonical == USER or self.says(canonical):
            return canonical
        said = [name for name in self._names.get(self._thing(entity_id), ()) if self.says(name)]
        if said:
            words = set(stems(canonical))
            return max(said, key=lambda name: (not words.isdisjoint(stems(name)), len(name), name))
        here, elsewhere = self._ends
        return canonical if self._thing(entity_id) in here - elsewhere else None

    def names(self, entity_id: str, shown: str) -> list[str]:
        """The names of a thing that fell here, the shown one first."""
        every = self._names.get(self._thing(entity_id), ())
        return list(dict.fromkeys([shown, *(name for name in every if self.says(name))]))

    def says(self, name: str) -> bool:
        """Whether one of the messages that may be told has all words of a name, in whatever form."""
        words = stems(name)
        found = self._said.texts_with(words[0]) if words else frozenset()
        for word in words[1:]:
            found &= self._said.texts_with(word)
        return bool(found)

    def hits(self, hits: Iterable[Hit], rows: Mapping[str, FactRow]) -> list[Hit]:
        """What search found as it may be told; `rows` are the facts that may be, by id."""
        return [told for hit in hits if (told := self._hit(hit, rows)) is not None]

    def _end(self, entity_id: str, canonical: str) -> str | None:
        """The name of an end of a fact that may be told, which may have been given a moment ago."""
        is_elsewhere = self._thing(entity_id) in self._ends[1]
        return self.name(entity_id, canonical) or (None if is_elsewhere else canonical)

    def _hit(self, hit: Hit, rows: Mapping[str, FactRow]) -> Hit | None:
        beside = tuple(edge_id for edge_id in hit.conflicts_with if edge_id in rows)
        path = tuple(step for step in hit.path if step in rows)
        if hit.kind == EXPERIENCE:
            return replace(hit, path=path)
        if hit.edge_id is None:
            near = tuple(turn for turn in hit.neighbours if self.shows_turn(turn.session_id, turn.turn_number))
            shown = replace(hit, conflicts_with=beside, neighbours=near, path=path)
            return shown if self.shows_turn(hit.session_id, hit.turn_number) else None
        row = rows.get(hit.edge_id)
        if row is None:
            return None
        places = tuple((source["session_id"], source["turn_number"]) for source in row["provenance"])
        session_id, turn_number = places[0] if places else (None, None)
        text = ": ".join(filter(None, (sentence(row), says_more(row))))
        return replace(
            hit, text=text, session_id=session_id, turn_number=turn_number, sources=places, conflicts_with=beside,
            path=path,
        )  # fmt: skip

    def _placed(self, source: ProvenanceItem) -> bool | None:
        """Whether a source may be told; None of feedback that nothing places."""
        if not source["extraction_id"].startswith(FEEDBACK_ID):
            return self.shows_turn(source["session_id"], source["turn_number"])
        named = self._told_in.get(source["extraction_id"])
        if named is not None:
            return named == self.domain
        return self._sessions.get(source["session_id"])

    @cached_property
    def _turns(self) -> dict[Place, bool]:
        """Whether each turn may be told."""
        if self.pack is None:
            return {}
        said = self.pack.documents.slice(0, self.pack.n_messages).select(["session_id", "turn_number", "domain"])
        return {
            (row["session_id"], row["turn_number"]): row["domain"] in (None, self.domain) for row in said.to_pylist()
        }

    @cached_property
    def _sessions(self) -> dict[str, bool]:
        """Whether each session may be told as a whole."""
        found: dict[str, bool] = {}
        for (session_id, _), is_shown in self._turns.items():
            found[session_id] = is_shown and found.get(session_id, True)
        return found

    @cached_property
    def elsewhere(self) -> frozenset[str]:
        """The conversations in which something was said in another domain."""
        return frozenset(session_id for session_id, is_shown in self._sessions.items() if not is_shown)

    @cached_property
    def _told_in(self) -> dict[str, str]:
        """Feedback to the domain that it names."""
        payloads = ((record["feedback_id"], orjson.loads(record["payload"])) for record in self.feedback)
        return {feedback_id: payload[OWN] for feedback_id, payload in payloads if payload.get(OWN)}

    def _thing(self, entity_id: str) -> str:
        """The entity by which a name is read."""
        found = self.entities.get(entity_id)
        return (found["merged_into"] or entity_id) if found else entity_id

    @cached_property
    def _names(self) -> dict[str, list[str]]:
        """Every name of every thing, sorted."""
        found: dict[str, set[str]] = defaultdict(set)
        for entity_id, row in self.entities.items():
            found[self._thing(entity_id)].update((row["canonical_name"], *row["aliases"]))
        return {thing: sorted(names) for thing, names in found.items()}

    @cached_property
    def _ends(self) -> tuple[frozenset[str], frozenset[str]]:
        """The things of which a source speaks that may be told, and those of which one does that may not."""
        found: tuple[set[str], set[str]] = (set(), set())
        for row in self.edges.values():
            ends = {self._thing(end) for end in (row["subject_id"], row["object_id"]) if end}
            is_shown = self.shows(row)
            for side in {not (is_shown and self.shows_source(source)) for source in row["provenance"]}:
                found[side].update(ends)
        return frozenset(found[0]), frozenset(found[1])

    @cached_property
    def _said(self) -> "_Words":
        if self.pack is None:
            return _Words(Encoded([], np.empty(0, np.int32), np.zeros(1, np.int64)), np.empty(0, np.int64))
        said = self.pack.documents.slice(0, self.pack.n_messages)["domain"].to_pylist()
        return _Words(
            self.pack.encoded, np.flatnonzero([domain in (None, self.domain) for domain in said]).astype(np.int64)
        )


class _Words:
    """Which of some texts have a word, by its stem."""

    def __init__(self, encoded: Encoded, texts: "np.ndarray[Any, np.dtype[np.int64]]") -> None:
        numbers: dict[str, int] = {}
        stem_of = np.array([numbers.setdefault(stem(word), len(numbers)) for word in encoded.words], np.int64)
        of_text = np.repeat(np.arange(encoded.n_texts), np.diff(encoded.starts))
        counted = np.isin(of_text, texts)
        stemmed = stem_of[np.asarray(encoded.tokens)[counted]]
        order = np.argsort(stemmed, kind="stable")
        self._numbers, self._stems, self._texts = numbers, stemmed[order], of_text[counted][order]
        self._known: dict[str, frozenset[int]] = {}

    def texts_with(self, word: str) -> frozenset[int]:
        """The texts that have a stem."""
        if word not in self._known:
            number = self._numbers.get(word, -1)
            first, last = np.searchsorted(self._stems, [number, number + 1])
            self._known[word] = frozenset(self._texts[first:last].tolist())
        return self._known[word]
