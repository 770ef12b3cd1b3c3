"""The forms of feedback: which fields each type needs, under which names they may come.

Agents word the same thing differently, so the usual synonyms are taken; what is stored is the form declared here.
Landing refuses what fits none: feedback that nobody can act upon would be lost in silence.
"""

from collections.abc import Mapping
from datetime import date
from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from em_pipelines.schema.near_names import hint
from em_pipelines.schema.vocabulary import RELATIONS, USER, EntityType, Flag, PrivacyLevel, TemporalType

Named = Field(default=None, min_length=1, max_length=500)


class _Payload(BaseModel):
    # Built when the first one is read: all who open a home import this, and few of them read feedback.
    model_config = ConfigDict(
        frozen=True, extra="allow", populate_by_name=True, str_strip_whitespace=True, defer_build=True
    )


def _key_and_value(fields: Mapping[str, Any]) -> dict[str, str]:
    """The attribute and the object of a `has_attribute` that came as "key: value"; nothing where it did not."""
    said = fields.get("object")
    if fields.get("relation") != "has_attribute" or fields.get("attribute") or not isinstance(said, str):
        return {}
    key, colon, value = said.partition(":")
    return {"attribute": key.strip(), "object": value.strip()} if colon else {}


class FactNamed(_Payload):
    """A fact by id, or by what it says: `relation`, and `object` unless all of the subject's are meant."""

    edge_id: str | None = Field(default=None, validation_alias=AliasChoices("edge_id", "fact_id", "fact", "id"))
    subject: str = Field(default=USER, min_length=1, max_length=500)
    relation: str | None = None
    object: str | None = Field(
        default=None, validation_alias=AliasChoices("object", "value"), min_length=1, max_length=500
    )
    attribute: str | None = Named
    polarity: Literal[1, -1] = 1

    @field_validator("relation")
    @classmethod
    def _known_relation(cls, relation: str | None) -> str | None:
        if relation is not None and relation not in RELATIONS:
            meant = hint(relation, RELATIONS)
            raise ValueError(f"{relation!r:.80} is no relation of the vocabulary{f'; {meant}' if meant else ''}")
        return relation

    @model_validator(mode="before")
    @classmethod
    def _as_named(cls, given: Any) -> Any:
        """A fact may come as an object of its own; `has_attribute` as "key: value"; the object as text."""
        if not isinstance(given, dict):
            return given
        fields = dict(given)
        for name in ("fact", "edge"):
            if isinstance(fields.get(name), dict):
                fields = {**fields.pop(name), **fields}
        for name in ("object", "value", "new_object", "old_object"):
            if isinstance(fields.get(name), int | float) and not isinstance(fields[name], bool):
                fields[name] = str(fields[name])
        return fields | _key_and_value(fields)

    @model_validator(mode="after")
    def _names_a_fact(self) -> "FactNamed":
        if self.edge_id is None and self.relation is None:
            raise ValueError("name the fact: edge_id, or relation and object")
        if self.relation == "has_attribute" and self.attribute is None:
            raise ValueError("has_attribute needs attribute, the key of the value")
        return self


class Retract(FactNamed):
    """The fact is wrong or not to be used. Without `object` every value of the relation is meant."""


class Confirm(FactNamed):
    """The fact is right."""

    @model_validator(mode="after")
    def _names_one_fact(self) -> "Confirm":
        if self.edge_id is None and self.object is None:
            raise ValueError("confirming needs edge_id, or relation and object")
        return self


class Correct(FactNamed):
    """`object` is what is right; `old_object`, or the fact with `edge_id`, is what was wrong."""

    object: str | None = Field(
        default=None,
        validation_alias=AliasChoices("new_object", "new_value", "new", "corrected", "object", "value", "to"),
        min_length=1,
        max_length=500,
    )
    old_object: str | None = Field(
        default=None,
        validation_alias=AliasChoices("old_object", "old_value", "old", "was", "from", "instead_of"),
        max_length=500,
    )
    object_type: EntityType | None = None

    @model_validator(mode="before")
    @classmethod
    def _old_and_new(cls, given: Any) -> Any:
        """Beside a new one, a plain `object` is the old one."""
        if not isinstance(given, dict):
            return given
        fields = dict(given)
        new = {"new_object", "new_value", "new", "corrected", "to"} & fields.keys()
        for name in ("object", "value"):
            if new and name in fields:
                fields.setdefault("old_object", fields.pop(name))
        return fields

    @model_validator(mode="after")
    def _says_what_is_right(self) -> "Correct":
        if self.object is None:
            raise ValueError("correcting needs object, the value that is right")
        return self


class Recalled(_Payload):
    """Facts that were surfaced in a session: one, named as ever, or several."""

    facts: tuple[FactNamed, ...] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _one_or_many(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        many = next((given[n] for n in ("facts", "edge_ids", "fact_ids") if n in given), None)
        if many is None:
            return {"facts": [given]}
        return {"facts": [{"edge_id": fact} if isinstance(fact, str) else fact for fact in many]}


class Merge(_Payload):
    """Two or more names are one thing; it is read by the last of them."""

    entities: tuple[str, ...] = Field(min_length=2)

    @model_validator(mode="before")
    @classmethod
    def _from_and_into(cls, given: Any) -> Any:
        if not isinstance(given, dict) or "entities" in given:
            return given
        first = next((given[n] for n in ("entity", "from", "source", "name") if n in given), None)
        last = next((given[n] for n in ("into", "with", "to", "target", "other") if n in given), None)
        return {**given, "entities": [e for e in (first, last) if e is not None]}


class Split(_Payload):
    """A name is a thing of its own: apart from `other`, or from everything it was one with."""

    entity: str = Field(min_length=1, validation_alias=AliasChoices("entity", "name"))
    other: str | None = Field(default=None, validation_alias=AliasChoices("other", "from", "apart_from"))
    into: str | None = Named
    """The name of a new entity that the `facts` are about; they were taken to be about `entity`."""
    facts: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _two_entities(cls, given: Any) -> Any:
        pair = given.get("entities") if isinstance(given, dict) else None
        if isinstance(pair, list | tuple) and len(pair) == 2:
            return {**given, "entity": pair[0], "other": pair[1]}
        return given

    @model_validator(mode="after")
    def _facts_have_a_home(self) -> "Split":
        if bool(self.into) != bool(self.facts):
            raise ValueError("splitting facts off needs both: into, the new name, and facts, their edge ids")
        return self


class Forget(_Payload):
    """What to erase; `session_id` of the feedback itself is the scope where nothing else is named."""

    edge_id: str | None = Field(default=None, validation_alias=AliasChoices("edge_id", "fact", "fact_id"))
    entity: str | None = Named
    session: str | None = Named
    all: bool = False


class AddedFact(FactNamed):
    """A fact that an agent has extracted itself."""

    temporal_type: TemporalType | None = None
    subject_type: EntityType | None = None
    object_type: EntityType | None = None
    confidence: float | None = Field(default=None, ge=0, le=1)
    statement: str | None = Field(default=None, validation_alias=AliasChoices("statement", "text"))

    @model_validator(mode="after")
    def _says_something(self) -> "AddedFact":
        if self.relation is None or self.object is None:
            raise ValueError("a fact needs relation and object")
        return self


class AddFacts(_Payload):
    """Facts that an agent has already extracted."""

    facts: tuple[AddedFact, ...] = Field(min_length=1)


class Seed(AddedFact):
    """A fact of an imported file. It waits until somebody has looked at it; nothing is made of it before.

    `source_kind` is what the file holds, `file` and `line` (from 1) are where it stands there. `dated` is when the file
    says that it was written down, in ISO 8601. The fact is told as of `privacy_floor` at least, whatever it says.
    """

    source_kind: str = Field(default="contacts", min_length=1, max_length=40)
    file: str | None = None
    line: int | None = Field(default=None, ge=1)
    dated: str | None = None
    privacy_floor: PrivacyLevel | None = None
    valid_from: date | None = None
    valid_to: date | None = None
    valid_precision: Literal["day", "month", "year"] | None = None
    flags: tuple[Flag, ...] = ()


class Accept(Seed):
    """An imported fact that somebody has looked at and lets count; says all of it, so that it needs no other record."""

    seed_id: str = Field(min_length=1)


class Reject(_Payload):
    """An imported fact that is not to count, however often it is imported."""

    seed_id: str = Field(min_length=1)


class Answer(Seed):
    """What the person answered to a question of the questionnaire: their own word, which waits for nobody."""

    question: str | None = None


class Skip(_Payload):
    """A question of the questionnaire that the person did not want to answer."""

    question: str = Field(min_length=1)


class Import(_Payload):
    """A note that was imported: its messages stand on `day`, and what is read in them waits, unless `is_accepted`."""

    session_id: str = Field(min_length=1)
    day: date
    file: str | None = None
    is_accepted: bool = False


class Revision(FactNamed):
    """What a verifier found about a fact. `object` is what the fact says, `new_object` what holds instead."""

    outcome: Literal["verified", "changed", "unknown"]
    new_object: str | None = Named
    source: str | None = None

    @model_validator(mode="after")
    def _change_says_to_what(self) -> "Revision":
        if self.outcome == "changed" and self.new_object is None:
            raise ValueError("a changed fact needs new_object")
        return self


class Archive(_Payload):
    """A message is not to be found any more; or, archived no longer, it is to be found again."""

    session_id: str = Field(min_length=1)
    turn_number: int = Field(ge=0)
    is_archived: bool = True


FORMS: dict[str, type[_Payload]] = {
    "correct": Correct, "confirm": Confirm, "retract": Retract, "recalled": Recalled, "merge": Merge, "split": Split,
    "forget": Forget, "add_facts": AddFacts, "revision": Revision, "archive": Archive, "seed": Seed,
    "accept": Accept, "reject": Reject, "answer": Answer, "skip": Skip,
    "import": Import,
}  # fmt: skip
"""Types whose payload has a form. What a probe or starter was is left open."""


def check_payload(type_: str, payload: Mapping[str, Any]) -> None:
    """Raises ValueError, naming the field, where the payload does not fit its type."""
    if type_ in FORMS:
        read_payload(type_, payload)


def read_payload(type_: str, payload: Mapping[str, Any]) -> Any:
    """The payload in its form; raises ValueError where it does not fit, KeyError for a type without a form."""
    try:
        return FORMS[type_].model_validate(dict(payload))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(
            f"{type_}{'.' if where else ''}{where}: {first['msg'].removeprefix('Value error, ')}"
        ) from error
