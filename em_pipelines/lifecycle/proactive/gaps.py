"""The kinds of gaps and their wordings, as gaps.yaml and templates.yaml have them."""

from functools import cache
from pathlib import Path
from typing import Literal

import pyarrow as pa
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from em_pipelines.errors import PatternError
from em_pipelines.language.document import english
from em_pipelines.language.values import read_yaml
from em_pipelines.schema.table import TEXTS
from em_pipelines.schema.vocabulary import FUNCTIONAL, INVERSES, RELATIONS, SYMMETRIC, EntityType

GAPS = Path(__file__).with_name("gaps.yaml")
TEMPLATES = Path(__file__).with_name("templates.yaml")
MAX_WORDINGS = 16
"""The wording is chosen by one hexadecimal digit."""

Form = Literal[
    "cold", "near", "thing", "unvalued", "person", "stale", "either", "whether", "retracted", "namesakes", "broad",
    "alone", "hedged", "uncertain",
]  # fmt: skip


class Gap(BaseModel):
    """One kind of gap: how it is found, what it is worth beside the others (0 to 1), and how it is asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["discovery", "verification", "refinement", "clarification"]
    form: Form
    premise: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    answer_types: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    shape: str | None = None
    worth: float = Field(gt=0, le=1)
    is_undated: bool = False
    unless_said: str | None = None
    wordings: tuple[str, ...] = Field(min_length=1, max_length=MAX_WORDINGS)
    gap: str = Field(min_length=1)
    benefit: str = Field(min_length=1)
    topics: tuple[str, ...] = Field(min_length=1)

    @field_validator("premise", "types", "missing", "answer_types", "words", "topics", mode="before")
    @classmethod
    def _split(cls, given: object) -> object:
        return tuple(given.split()) if isinstance(given, str) else given

    @field_validator("unless_said")
    @classmethod
    def _with_pets(cls, given: str | None) -> str | None:
        return given and given.replace("PETS", "|".join(sorted(english.words("people", "pets"))))

    @model_validator(mode="after")
    def _is_whole(self) -> "Gap":
        unknown = {*self.premise, *self.missing} - RELATIONS | set(self.types) - {kind.value for kind in EntityType}
        if unknown:
            raise ValueError(f"unknown relations or types: {', '.join(sorted(unknown))}")
        for wording in self.wordings:
            if ("{object}" in wording or "{whose}" in wording) and self.shape is None:
                raise ValueError(f"a wording names the object, and the gap has no shape: {wording}")
            if ("{other}" in wording) != (self.form in {"either", "namesakes"}):
                raise ValueError(f"a wording names the other where there is none, or leaves it out: {wording}")
        return self


@cache
def load_gaps(gaps: Path = GAPS, templates: Path = TEMPLATES) -> dict[str, Gap]:
    """Every kind of gap by its name. Raises PatternError where a file cannot be read, or they do not fit together."""
    try:
        found, worded = (read_yaml(path.read_text(encoding="utf-8")) for path in (gaps, templates))
        return _fitted(found, worded)
    except (OSError, yaml.YAMLError, ValidationError, ValueError, TypeError) as error:
        raise PatternError(
            f"reading {gaps.name} and {templates.name}: {error}; mend the entry or restore the file"
        ) from error


def _fitted(found: dict[str, dict[str, object]], worded: dict[str, dict[str, object]]) -> dict[str, Gap]:
    if set(found) != set(worded):
        raise ValueError(f"only one of them has {', '.join(sorted(set(found) ^ set(worded)))}")
    return {name: Gap.model_validate({**entry, **worded[name]}) for name, entry in found.items()}


def gap_tables() -> dict[str, pa.Table]:
    """The kinds of gaps as SQL reads them: probe_gaps, probe_premises, probe_missing, and other_ways of relations."""
    gaps = load_gaps()
    rows = [
        {
            "template": name, "kind": gap.kind, "form": gap.form, "shape": gap.shape, "worth": gap.worth,
            "is_undated": gap.is_undated, "unless_said": gap.unless_said, "words": list(gap.words),
            "has_other": gap.form in {"either", "namesakes"}, "wordings": list(gap.wordings), "gap": gap.gap,
            "benefit": gap.benefit, "topics": list(gap.topics),
        }
        for name, gap in gaps.items()
    ]  # fmt: skip
    premises = [
        {"template": name, "relation": relation, "types": list(gap.types)}
        for name, gap in gaps.items()
        for relation in gap.premise
    ]
    missing = [
        {
            "template": name, "relation": relation, "types": list(gap.answer_types),
            "is_functional": relation in FUNCTIONAL,
        }
        for name, gap in gaps.items()
        for relation in gap.missing
    ]  # fmt: skip
    ways = {**INVERSES, **{other: one for one, other in INVERSES.items()}, **{one: one for one in SYMMETRIC}}
    return {
        "probe_gaps": pa.Table.from_pylist(
            rows, schema=pa.schema(
                [("template", pa.string()), ("kind", pa.string()), ("form", pa.string()), ("shape", pa.string()),
                 ("worth", pa.float64()), ("is_undated", pa.bool_()), ("unless_said", pa.string()), ("words", TEXTS),
                 ("has_other", pa.bool_()), ("wordings", TEXTS), ("gap", pa.string()), ("benefit", pa.string()),
                 ("topics", TEXTS)]
            )
        ),
        "probe_premises": pa.Table.from_pylist(
            premises, schema=pa.schema([("template", pa.string()), ("relation", pa.string()), ("types", TEXTS)])
        ),
        "probe_missing": pa.Table.from_pylist(
            missing, schema=pa.schema(
                [("template", pa.string()), ("relation", pa.string()), ("types", TEXTS), ("is_functional", pa.bool_())]
            )
        ),
        "other_ways": pa.Table.from_pylist([{"relation": one, "other_way": other} for one, other in ways.items()]),
    }  # fmt: skip
