"""From the text of an answer to its sections: repaired where it is broken, validated item by item.

A section stands or falls by itself: it is missing when it is not there, is no list, was cut off, or when most of its
items are invalid. Single invalid items are dropped and counted. Nothing here knows what an item means.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

import json_repair
from pydantic import ValidationError

from em_pipelines.extraction.llm.answer import ALL_SECTIONS, ITEMS, Item, Section, TimeItem, ToneItem

MAX_ITEMS = 400
"""Of one section; a model that goes round in circles writes more, and is not believed."""


@dataclass(slots=True)
class Parsed:
    """Valid items by section; `missing` names sections to be asked for again. What a missing section has in `items`
    was salvaged: the first part of a list that was cut off. `r` of tone and times is a place in the relations."""

    items: dict[Section, list[Item]] = field(default_factory=dict)
    missing: tuple[Section, ...] = ()
    is_repaired: bool = False
    n_invalid: int = 0


def parse(text: str, *, is_truncated: bool, wanted: tuple[Section, ...] = ALL_SECTIONS) -> Parsed:
    """Reads the sections `wanted` out of the text of an answer; never raises."""
    document, is_repaired = _load(text)
    found = Parsed(is_repaired=is_repaired)
    present = [s for s in Section if isinstance(document.get(s.value), list)]
    is_cut = is_repaired and (is_truncated or not _is_closed(text))
    last = max(present, key=lambda s: text.rfind(f"{s.value}"), default=None) if is_cut else None
    missing = []
    for section in wanted:
        if section not in present:
            missing.append(section)
            continue
        raw = document[section.value]
        if section is last:  # its last item was being written when the answer ended
            raw = raw[:-1]
        is_sound = _validate(found, section, raw)
        if section is last or not is_sound:
            missing.append(section)
    found.missing = tuple(missing)
    _renumber(found, document)
    return found


def merged(first: Parsed, again: Parsed) -> Parsed:
    """The sections of a first answer, those of a follow-up in the place of what was missing."""
    return Parsed(
        items={**first.items, **again.items},
        missing=tuple(section for section in first.missing if section not in again.items or section in again.missing),
        is_repaired=first.is_repaired or again.is_repaired,
        n_invalid=first.n_invalid + again.n_invalid,
    )


def _load(text: str) -> tuple[dict[str, Any], bool]:
    """The document and whether it had to be repaired; an answer without any JSON is an empty document."""
    try:
        document = json.loads(text)
        is_repaired = False
    except ValueError:
        is_repaired = True
        try:
            document = json_repair.loads(text)
        except (ValueError, RecursionError):
            document = {}
    if isinstance(document, list):  # several objects one after the other, or the object in a list
        merged: dict[str, Any] = {}
        for part in document:
            merged.update(part if isinstance(part, dict) else {})
        document, is_repaired = merged, True
    return (document, is_repaired) if isinstance(document, dict) else ({}, True)


def _is_closed(text: str) -> bool:
    """Whether the text ends an object, give or take a fence or a closing remark."""
    tail = re.sub(r"\s+", "", text[-2000:])
    return tail.endswith("}") or "]}" in tail[-400:]


def _validate(found: Parsed, section: Section, raw: list[Any]) -> bool:
    """Keeps the valid items of a section; returns whether the section can be relied on."""
    valid = [item for item in (_valid(section, item) for item in raw[:MAX_ITEMS]) if item is not None]
    n_invalid = len(raw) - len(valid)
    found.n_invalid += n_invalid
    found.items[section] = valid
    return n_invalid * 2 <= len(raw)


def _valid(section: Section, item: Any) -> Item | None:
    try:
        return ITEMS[section].model_validate(item)
    except ValidationError:
        return None


def _renumber(found: Parsed, document: dict[str, Any]) -> None:
    """Dropping an invalid relation moves those behind it; tone and times follow, and lose what they say of it."""
    if Section.RELATIONS not in found.items:
        return
    is_valid = [_valid(Section.RELATIONS, item) is not None for item in document[Section.RELATIONS.value][:MAX_ITEMS]]
    places = {number: sum(is_valid[:number]) for number, valid in enumerate(is_valid) if valid}
    for section in (Section.TONE, Section.TIMES):
        items = [item for item in found.items.get(section, []) if isinstance(item, ToneItem | TimeItem)]
        if items:
            found.items[section] = [i.model_copy(update={"r": places[i.r]}) for i in items if i.r in places]
