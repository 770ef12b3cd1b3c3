"""How well lessons are told from coincidences: of the patterns that people planted in a telemetry and labelled, which
does consolidation promote?

FILE.jsonl holds skill invocations in this project's own format, FILE.labels.json beside it a list of
`{"id", "is_real", "skill_name", "error_category", "kind"}`: the category as it is logged, a list of its spellings, or
null where the kind is `slow`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from em_pipelines.errors import UsageError
from em_pipelines.landing.reasons import RuleError
from em_pipelines.landing.records import land_record
from em_pipelines.language.values import parse_instant
from em_pipelines.lifecycle.consolidation.consolidate import PROMOTED, consolidate
from em_pipelines.lifecycle.consolidation.evidence import ANOMALY, FAILURE, category_key
from em_pipelines.lifecycle.consolidation.nights import History, Line, Said
from em_pipelines.lifecycle.consolidation.safety import SafetyRules
from em_pipelines.lifecycle.consolidation.settings import ConsolidationSettings
from em_pipelines.lifecycle.consolidation.skills import clusters_of_skills
from em_pipelines.lifecycle.consolidation.slowness import SLOW
from em_pipelines.schema.table import Record

Key = tuple[str, str, str]
"""Kind, skill and category of what could be promoted."""


class Label(BaseModel):
    """One planted pattern. Other keys are for people and not read."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str = Field(min_length=1)
    is_real: bool
    skill_name: str = Field(min_length=1)
    error_category: str | list[str] | None = None
    kind: Literal["failure", "slow"] = "failure"

    @property
    def keys(self) -> set[Key]:
        """What may be promoted of it, in any spelling."""
        if self.kind == "slow" or self.error_category is None:
            return {(ANOMALY, self.skill_name, SLOW)}
        spelled = [self.error_category] if isinstance(self.error_category, str) else self.error_category
        return {(FAILURE, self.skill_name, category_key(one)) for one in spelled}


@dataclass(frozen=True, slots=True)
class Told:
    """What was told of one pattern: whether it was promoted, and else by which gate it was stopped."""

    label: Label
    is_promoted: bool
    gates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lessons:
    """The figures of one or more files; `n_unlabelled` were promoted and planted by nobody."""

    n_entries: int
    told: tuple[Told, ...]
    n_unlabelled: int

    @property
    def found_share(self) -> float:
        """Of the real ones, promoted; 0 to 1."""
        return _share([one.is_promoted for one in self.told if one.label.is_real])

    @property
    def false_share(self) -> float:
        """Of the coincidences, promoted; 0 to 1."""
        return _share([one.is_promoted for one in self.told if not one.label.is_real])

    def as_document(self) -> dict[str, Any]:
        """The figures as JSON-able dict, with what was missed and what was taken for a lesson."""
        return {
            "n_entries": self.n_entries,
            "n_real": sum(one.label.is_real for one in self.told),
            "n_coincidences": sum(not one.label.is_real for one in self.told),
            "found_share": round(self.found_share, 4),
            "false_share": round(self.false_share, 4),
            "n_unlabelled_promoted": self.n_unlabelled,
            "missed": [_row(one) for one in self.told if one.label.is_real and not one.is_promoted],
            "false": [_row(one) for one in self.told if not one.label.is_real and one.is_promoted],
        }


def measure(paths: Iterable[Path], settings: ConsolidationSettings) -> Lessons:
    """The figures over telemetries with labels, a night at the end of each; raises UsageError for what is none."""
    n_entries, told, n_unlabelled = 0, [], 0
    for path in paths:
        rows, labels = _rows(path), _labels(path.with_suffix(".labels.json"))
        verdicts = _verdicts(rows, settings)
        planted = set().union(*(label.keys for label in labels))
        n_entries += len(rows)
        told += [_told(label, verdicts) for label in labels]
        lessons = {
            key for key, (verdict, _) in verdicts.items() if verdict == PROMOTED and key[0] in (FAILURE, ANOMALY)
        }
        n_unlabelled += len(lessons - planted)
    return Lessons(n_entries, tuple(told), n_unlabelled)


def _verdicts(rows: list[Record], settings: ConsolidationSettings) -> dict[Key, tuple[str, str | None]]:
    night = Line(Said.NIGHT, "con_evaluation", "", max(row["timestamp"] for row in rows), len(rows))
    found = clusters_of_skills(rows, settings)
    keys = {cluster.experience_id: (cluster.kind, cluster.component, cluster.key) for cluster in found}
    made = consolidate(found, History((night,)), settings, SafetyRules(settings.rules_file))
    return {keys[row["experience_id"]]: (row["verdict"], row["gate"]) for row in made.promotions}


def _told(label: Label, verdicts: dict[Key, tuple[str, str | None]]) -> Told:
    found = [verdicts[key] for key in sorted(label.keys) if key in verdicts]
    return Told(label, any(v == PROMOTED for v, _ in found), tuple(gate for _, gate in found if gate))


def _rows(path: Path) -> list[Record]:
    rows = []
    for number, line in enumerate(_read(path).splitlines(), start=1):
        try:
            fields = orjson.loads(line)
            fields.pop("kind", None)
            record = land_record("skill_invocations", fields, "native")
        except (orjson.JSONDecodeError, AttributeError, TypeError, RuleError) as error:
            raise UsageError(
                f"evaluating consolidation: {path}, line {number}: no skill invocation: {error}"
            ) from error
        at: datetime = parse_instant(record["timestamp"])
        rows.append({**record, "timestamp": at})
    if not rows:
        raise UsageError(f"evaluating consolidation: {path} is empty; give JSON Lines of skill invocations")
    return rows


def _labels(path: Path) -> list[Label]:
    try:
        return TypeAdapter(list[Label]).validate_json(_read(path))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise UsageError(f"evaluating consolidation: {path}: {where}: {first['msg']}") from error


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"evaluating consolidation: reading {path}: {error.strerror}; check the path") from error


def _share(values: list[bool]) -> float:
    return sum(values) / len(values) if values else 0.0


def _row(one: Told) -> dict[str, Any]:
    return {"id": one.label.id, "skill_name": one.label.skill_name, "stopped_by": list(one.gates)}
