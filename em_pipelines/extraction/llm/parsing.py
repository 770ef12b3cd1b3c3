"""From the text of an answer to its sections: the last complete document that fits, or else what can be repaired,
validated item by item. Other documents that fit are kept beside it: which one the turns support is judged later.

A section stands or falls by itself: it is missing when it is not there, is no list, was cut off, or when most of its
items are invalid. Tone and times count relations, and are missing with them. Single invalid items are dropped and
counted. Nothing here knows what an item means.
"""

import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import json_repair
from pydantic import ValidationError

from em_pipelines.extraction.llm.answer import ALL_SECTIONS, ITEMS, Item, Section, TimeItem, ToneItem
from em_pipelines.extraction.llm.closing import closed_lists
from em_pipelines.llm.documents import Document, fitting_documents, whole_document

MAX_DOCUMENTS = 3
"""Of one text: the last ones."""
MAX_ITEMS = 400
"""Of one section; a model that goes round in circles writes more, and is not believed."""
_OPENING = re.compile(rf"\{{\s*[\"']?(?:{'|'.join(ALL_SECTIONS)})\b")
"""Where a document begins that may be broken further on."""


@dataclass(slots=True)
class Parsed:
    """Valid items by section; `missing` names sections to be asked for again. What a missing section has in `items`
    was salvaged: the first part of a list that was cut off. `r` of tone and times is a place in the relations."""

    items: dict[Section, list[Item]] = field(default_factory=dict)
    missing: tuple[Section, ...] = ()
    is_repaired: bool = False
    n_invalid: int = 0
    alternatives: tuple["Parsed", ...] = ()
    """What other whole documents of the text say: drafts, or what would have been answered to something else."""

    @property
    def is_empty(self) -> bool:
        """Whether no section holds anything."""
        return not any(self.items.values())


def parse(text: str, *, wanted: tuple[Section, ...] = ALL_SECTIONS) -> Parsed:
    """Reads the sections `wanted` out of the text of an answer; never raises."""
    whole = whole_document(text)
    documents = [whole] if whole is not None and not whole.keys().isdisjoint(wanted) else _fitting(text, wanted)
    if documents:
        found = [
            _of_document(one, frozenset(one), wanted, is_repaired=one != whole) for one in documents[-MAX_DOCUMENTS:]
        ]
        telling = [one for one in found if not one.is_empty] or found[-1:]
        return replace(telling[-1], alternatives=tuple(telling[:-1]))
    opening = _OPENING.search(text)
    rest = text[opening.start() :] if opening else text
    return _of_document(_repaired(rest), closed_lists(rest), wanted, is_repaired=True)


def _fitting(text: str, wanted: tuple[Section, ...]) -> list[Document]:
    return fitting_documents(text, lambda one: all(_is_sound(section, one.get(section)) for section in wanted))


def _of_document(
    document: Document, closed: frozenset[str], wanted: tuple[Section, ...], *, is_repaired: bool
) -> Parsed:
    """The sections of a document; `closed` are those of its lists that were written to their end."""
    parsed = Parsed(is_repaired=is_repaired)
    missing: set[Section] = set()
    for section in wanted:
        if not _take(parsed, section, document.get(section.value), is_closed=section.value in closed):
            missing.add(section)
    if Section.RELATIONS in missing:
        missing |= {Section.TONE, Section.TIMES}
    parsed.missing = tuple(section for section in wanted if section in missing)
    _renumber(parsed, document)
    return parsed


def merged(first: Parsed, again: Parsed) -> Parsed:
    """The sections of a first answer, those of a follow-up in the place of what was missing."""
    return Parsed(
        items={**first.items, **again.items},
        missing=tuple(section for section in first.missing if section not in again.items or section in again.missing),
        is_repaired=first.is_repaired or again.is_repaired,
        n_invalid=first.n_invalid + again.n_invalid,
    )


def _repaired(text: str) -> Document:
    """What can be made of broken JSON. Of several objects one after the other the first that has a section gives it."""
    found: Any = {}
    with suppress(ValueError, RecursionError):
        found = json_repair.loads(text)
    document: Document = {}
    for part in found if isinstance(found, list) else [found]:
        for key, value in part.items() if isinstance(part, dict) else ():
            document.setdefault(key, value)
    return document


def _is_sound(section: Section, raw: Any) -> bool:
    """Whether something is a list of which most items are valid."""
    return isinstance(raw, list) and _n_invalid(section, raw) * 2 <= len(raw)


def _n_invalid(section: Section, raw: list[Any]) -> int:
    return len(raw) - sum(_valid(section, item) is not None for item in raw[:MAX_ITEMS])


def _take(parsed: Parsed, section: Section, raw: Any, *, is_closed: bool) -> bool:
    """Keeps the valid items of a section; returns whether the section is there, whole and to be relied on."""
    if not isinstance(raw, list):
        return False
    is_sound = _validate(parsed, section, raw if is_closed else raw[:-1])  # the last item was being written
    return is_closed and is_sound


def _validate(parsed: Parsed, section: Section, raw: list[Any]) -> bool:
    """Keeps the valid items of a section; returns whether most of them are."""
    valid = [item for item in (_valid(section, item) for item in raw[:MAX_ITEMS]) if item is not None]
    n_invalid = len(raw) - len(valid)
    parsed.n_invalid += n_invalid
    parsed.items[section] = valid
    return n_invalid * 2 <= len(raw)


def _valid(section: Section, item: Any) -> Item | None:
    try:
        return ITEMS[section].model_validate(item)
    except ValidationError:
        return None


def _renumber(parsed: Parsed, document: dict[str, Any]) -> None:
    """Dropping an invalid relation moves those behind it; tone and times follow, and lose what they say of it."""
    if Section.RELATIONS not in parsed.items:
        return
    places = _places_of_valid(document[Section.RELATIONS.value][:MAX_ITEMS])
    for section in (Section.TONE, Section.TIMES):
        items = [item for item in parsed.items.get(section, []) if isinstance(item, ToneItem | TimeItem)]
        if items:
            parsed.items[section] = [i.model_copy(update={"r": places[i.r]}) for i in items if i.r in places]


def _places_of_valid(relations: list[Any]) -> dict[int, int]:
    """The place of each valid relation among the valid ones, by its place among all."""
    valid = (number for number, item in enumerate(relations) if _valid(Section.RELATIONS, item) is not None)
    return {number: place for place, number in enumerate(valid)}
