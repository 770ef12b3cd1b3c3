"""What is left of a record when what it names is erased: messages are cut, feedback loses what it says of it.

Pure functions of the record and of what is erased, so that the same record always becomes the same.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from em_pipelines.landing.records import KNOWN_BY_FACT, canonical_json
from em_pipelines.language.cleaning import clean_text
from em_pipelines.language.fact_keys import strings_in
from em_pipelines.language.name_matching import MARKER, NameIndex, Span, cut, gone
from em_pipelines.schema.ids import content_id
from em_pipelines.schema.table import Record

ESSENTIAL = frozenset(
    {
        "relation", "subject", "object", "value", "attribute", "edge_id", "fact_id", "id", "new_object",
        "new_value", "new", "corrected", "to", "entity", "entities", "from", "source", "name", "into", "with",
        "target", "other", "outcome", "polarity",
    }
)  # fmt: skip
"""Fields without which a feedback says something else; any other goes alone where it names what is erased."""
OLD = frozenset({"old_object", "old_value", "old", "was", "instead_of"})
NEW = ("new_object", "new_value", "new", "corrected", "to")
"""Of a correction what was wrong, and what is right; beside the latter `object` and `value` are what was wrong."""
DOMAIN = "domain"
LISTS = {"facts": 1, "edge_ids": 1, "fact_ids": 1, "entities": 2}
"""Lists in payloads, and how many entries they need to mean anything."""
IsGone = Callable[[object], bool]


def cut_message(record: Record, names: NameIndex) -> Record:
    """A message without the sentences that hold one of the names; itself where it holds none."""
    return cut_content(record, names, Spans())


@dataclass(frozen=True, slots=True)
class Spans:
    """What to cut of one message beside the names, in characters of its cleaned content.

    The sentences of `hits` go but for `keeps`, none of which meets a name or, where something is `barred`, that; else a
    hit. Those behind go as well that may mean the same person by a pronoun, until one of `others` is named, unless the
    message is cut for a fact. `is_meant`: so may those at the beginning.
    """

    hits: tuple[Span, ...] = ()
    keeps: tuple[Span, ...] = ()
    barred: tuple[Span, ...] | None = None
    others: tuple[Span, ...] = ()
    is_meant: bool = False

    @property
    def is_of_fact(self) -> bool:
        """Whether a fact goes, and nobody."""
        return self.barred is not None


def cut_content(record: Record, names: NameIndex, spans: Spans) -> Record:
    """A message without the sentences of the names and of the spans. What somebody erased has said goes whole."""
    said_by = [record.get(field) for field in ("speaker", "subject")]
    if any(isinstance(name, str) and names.is_in(name) for name in said_by):
        return _without_names({**record, "content": MARKER, "speaker": MARKER, "subject": None}, names)
    text = clean_text(record["content"])
    named = list(names.spans(text))
    hits = [*spans.hits, *named] if spans.is_of_fact else gone_with(text, names, spans)[0]
    barred = [*spans.barred, *named] if spans.barred is not None else [*spans.hits, *named]
    changed = _without_names(record, names)
    return {**changed, "content": cut(text, hits, spans.keeps, barred)} if hits else changed


def gone_with(text: str, names: NameIndex, spans: Spans) -> tuple[list[Span], bool]:
    """The sentences of a text that go with somebody, and whether a pronoun in what follows may mean them."""
    return gone(text, [*spans.hits, *names.spans(text)], spans.others, is_meant=spans.is_meant)


def _without_names(record: Record, names: NameIndex) -> Record:
    """People present keep their number, so that a group stays one; a domain stays one without its name: what was said
    in it is not for all the others."""
    present, hints, tags = (record.get(field) or [] for field in ("participants", "entities_mentioned", "tags"))
    domain = record.get(DOMAIN)
    if not any(names.is_in(name) for name in (*present, *hints, *tags, domain or "")):
        return record
    left_tags = _without(tags, names)
    return {
        **{name: value for name, value in record.items() if name != "tags"},
        **({DOMAIN: MARKER} if domain and names.is_in(domain) else {}),
        "participants": [MARKER if names.is_in(name) else name for name in present],
        "entities_mentioned": _without(hints, names),
        **({"tags": left_tags} if left_tags else {}),
    }


def _without(texts: Iterable[str], names: NameIndex) -> list[str]:
    return [text for text in texts if not names.is_in(text)]


def cut_feedback(record: Record, is_gone: IsGone) -> Record | None:
    """A feedback without what it says of erased things; None where nothing is left that could be acted upon."""
    payload = orjson.loads(record["payload"])
    left = cut_payload(payload, is_gone)
    if left is None:
        return None
    if left == payload:
        return record
    content = {k: v for k, v in record.items() if k != "feedback_id"} | {"payload": canonical_json(left)}
    if record["type"] in KNOWN_BY_FACT:  # by its fact, which is left
        return {"feedback_id": record["feedback_id"], **content}
    return {"feedback_id": content_id("fbk", canonical_json(content)), **content}


def cut_payload(payload: Mapping[str, Any], is_gone: IsGone) -> dict[str, Any] | None:
    """What is left of a payload; None where what it is about is gone.

    `is_gone` judges texts and facts given as objects, and the payload itself, which names a fact as well.
    """
    right = next((payload[name] for name in NEW if name in payload), None)
    old = OLD if right is None else OLD | {"object", "value"}
    left = _left_fields(payload, old, is_gone)
    if left is None:
        return None
    said = {name: value for name, value in left.items() if name not in old}
    return None if is_gone(said if right is None else {**said, "object": right}) else left


def _left_fields(payload: Mapping[str, Any], old: frozenset[str], is_gone: IsGone) -> dict[str, Any] | None:
    """The fields that name nothing erased; None where one goes without which the feedback says something else."""
    left: dict[str, Any] = {}
    for name, value in payload.items():
        if name in LISTS and isinstance(value, list):
            kept = _left_entries(value, is_gone)
            if len(kept) < min(LISTS[name], len(value)):
                return None
            left[name] = kept
        elif not _is_any_gone(value, is_gone):
            left[name] = value
        elif name == DOMAIN:
            left[name] = MARKER
        elif name in ESSENTIAL and name not in old:
            return None
    return left


def _left_entries(entries: list[Any], is_gone: IsGone) -> list[Any]:
    return [entry for entry in entries if not _is_any_gone(entry, is_gone)]


def _is_any_gone(value: object, is_gone: IsGone) -> bool:
    return is_gone(value) or any(is_gone(text) for text in strings_in(value))
