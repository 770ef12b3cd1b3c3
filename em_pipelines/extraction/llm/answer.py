"""What the model is asked to answer: four sections, each valid or not by itself, and the JSON schema of them.

Names in the schema are short because the schema is paid for with every call. The closed vocabulary stands in it, so
that an endpoint with structured outputs cannot leave it; an answer that does all the same is judged item by item.
"""

import math
import re
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from em_pipelines.extraction.llm.settings import Profile
from em_pipelines.schema.vocabulary import (
    OFFERED_BY_GROUP,
    RELATIONS_BY_GROUP,
    EntityType,
    Flag,
    HedgeLevel,
    TemporalType,
)

FENCE = "====="
"""The line before and after a conversation in a prompt."""


class Section(StrEnum):
    """Stages 2 to 5, in the order in which they are answered."""

    ENTITIES = "entities"
    RELATIONS = "relations"
    TONE = "tone"
    TIMES = "times"


ALL_SECTIONS = tuple(Section)


def _word(value: Any) -> Any:
    return value.strip().casefold().replace(" ", "_") if isinstance(value, str) else value


def _storable(value: str) -> str:
    """Refuses half of a surrogate pair, which no file can hold."""
    value.encode("utf-8")  # UnicodeEncodeError is a ValueError
    return value


def _number(value: Any) -> Any:
    return int(value) if isinstance(value, str) and re.fullmatch(r"\s*-?\d{1,3}\s*", value, re.ASCII) else value


def _polarity(value: Any) -> Any:
    """A polarity; what is none (null, NaN) is as good as left out."""
    is_absent = value is None or (isinstance(value, float) and math.isnan(value))
    return 1 if is_absent else _number(value)


Words = Annotated[str, AfterValidator(_storable)]


class Item(BaseModel):
    """One item of a section. Unknown keys are ignored: they cost the item nothing."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class EntityItem(Item):
    """A thing named in turn `t`."""

    t: int
    name: Words
    type: Annotated[EntityType, BeforeValidator(_word)]


class RelationItem(Item):
    """A fact stated in turn `t`. `relation` is checked later: one outside the vocabulary is an issue of its own."""

    t: int
    subject: Words
    relation: Annotated[Words, BeforeValidator(_word)]
    object: Words
    attribute: Words | None = None
    polarity: Annotated[Literal[1, -1], BeforeValidator(_polarity)] = 1
    statement: Words | None = None


RETRACTED = "retracted"
"""Among the flags of an answer: the turn says that the fact was wrong, or is to be forgotten."""


class ToneItem(Item):
    """How relation number `r` is meant, where it is not plainly said."""

    r: int
    hedge: Annotated[HedgeLevel, BeforeValidator(_word)] = HedgeLevel.NONE
    flags: tuple[Annotated[Flag | Literal["retracted"], BeforeValidator(_word)], ...] = ()

    @property
    def is_retraction(self) -> bool:
        """Whether the relation is retracted rather than stated."""
        return RETRACTED in self.flags

    @property
    def stated_flags(self) -> tuple[Flag, ...]:
        """The flags of what is stated."""
        return tuple(flag for flag in self.flags if isinstance(flag, Flag))


class TimeItem(Item):
    """When relation number `r` holds: `when` is the date as worded."""

    r: int
    kind: Annotated[TemporalType, BeforeValidator(_word)]
    when: Words | None = None


ITEMS: dict[Section, type[Item]] = {
    Section.ENTITIES: EntityItem,
    Section.RELATIONS: RelationItem,
    Section.TONE: ToneItem,
    Section.TIMES: TimeItem,
}

_TEXT = {"type": "string"}
_TEXT_OR_NULL = {"type": ["string", "null"]}
_INT = {"type": "integer"}
_OFFERED = [relation for names in OFFERED_BY_GROUP.values() for relation in names]


def _one_of(values: list[str]) -> dict[str, Any]:
    return {"type": "string", "enum": values}


def _properties(section: Section, profile: Profile, *, is_health_asked: bool) -> dict[str, Any]:
    if section is Section.ENTITIES:
        return {"t": _INT, "name": _TEXT, "type": _one_of([t.value for t in EntityType])}
    if section is Section.RELATIONS:
        relations = [*_OFFERED, *(RELATIONS_BY_GROUP["health"] if is_health_asked else ())]
        triple = {
            "subject": _TEXT, "relation": _one_of(relations), "object": _TEXT,
            "attribute": _TEXT_OR_NULL, "polarity": {"type": "integer", "enum": [1, -1]},
        }  # fmt: skip
        if profile is Profile.FULL:  # what is worded first is split up more exactly
            return {"t": _INT, "statement": _TEXT, **triple}
        return {"t": _INT, **triple, "statement": _TEXT_OR_NULL}
    if section is Section.TONE:
        flags = {"type": "array", "items": _one_of([*(f.value for f in Flag), RETRACTED])}
        return {"r": _INT, "hedge": _one_of([h.value for h in HedgeLevel]), "flags": flags}
    return {"r": _INT, "kind": _one_of([t.value for t in TemporalType]), "when": _TEXT_OR_NULL}


def answer_schema(
    sections: tuple[Section, ...] = ALL_SECTIONS,
    *,
    profile: Profile = Profile.FULL,
    is_health_asked: bool = False,
) -> dict[str, Any]:
    """The JSON schema of an answer with these sections, in the strict subset of structured outputs: every property
    required, none besides. Of the profile `lean` a statement may be null."""
    return _object({s.value: _array(_properties(s, profile, is_health_asked=is_health_asked)) for s in sections})


def _array(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": _object(properties)}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
