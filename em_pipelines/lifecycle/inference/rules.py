"""Rules of inference: read from a rule file, checked against the vocabulary, laid out as paths and as tables.

A pattern of a rule is put in the order of a path through its variables: place 0, the edge to place 1, and so on; an
edge may be walked against its direction. What a rule means when it meets facts is SQL (`infer.infer`).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from em_pipelines.errors import RuleFileError
from em_pipelines.lifecycle.inference.settings import MAX_HOPS, InferenceSettings
from em_pipelines.schema.vocabulary import (
    FUNCTIONAL,
    INVERSES,
    RELATIONS,
    STORED_AS_VALUE,
    SYMMETRIC,
    USUAL_TEMPORAL_TYPE,
    EntityType,
    TemporalType,
)

SHIPPED = Path(__file__).with_name("rules.yaml")
SAME, INVERSE = "same", "inverse"
BY_MODEL = "model"
"""The rule id of what a model proposed; no rule may have it."""
BOTH_WAYS: dict[str, str] = {**INVERSES, **{inverse: relation for relation, inverse in INVERSES.items()}}
"""Each relation that has an inverse, and that."""


@dataclass(frozen=True, slots=True)
class Walk:
    """One edge of a path: any of the relations; reversed where it is walked from object to subject."""

    relations: tuple[str, ...]
    is_reversed: bool


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as a path. `subject`, `object` and the ends of `unless` are places on it, counted from 0.

    `conclusion` is a relation, or for a path of one edge `same` or `inverse`. `types` has the entity types allowed at
    each place, None for any.
    """

    rule_id: str
    about: str
    path: tuple[Walk, ...]
    conclusion: str
    subject: int
    object: int
    types: tuple[tuple[str, ...] | None, ...]
    unless: tuple[str, int, int] | None = None
    is_stated_only: bool = False

    def conclusion_of(self, matched: str) -> str:
        """The relation that follows where the first edge has the relation `matched`."""
        if self.conclusion == SAME:
            return matched
        return BOTH_WAYS[matched] if self.conclusion == INVERSE else self.conclusion


class _Written(BaseModel):
    """A rule as it is written in a file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    about: str = Field(min_length=1)
    when: list[str]
    then: str
    unless: str | None = None
    types: dict[str, str | list[str]] = Field(default_factory=dict)
    stated_only: bool = False


@dataclass(frozen=True, slots=True)
class _Pattern:
    subject: str
    relations: tuple[str, ...]
    object: str


class _Broken(ValueError):
    """What is wrong with a rule; `parse_rules` adds where."""


def rules_of(settings: InferenceSettings) -> tuple[Rule, ...]:
    """The rules that the settings name: those of their file, or the shipped ones. Raises RuleFileError."""
    path = settings.rules_file or SHIPPED
    try:
        return _parsed(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise RuleFileError(f"reading the rule file {path}: {error}; set inference.rules_file to a file") from error


@cache
def _parsed(text: str, source: str) -> tuple[Rule, ...]:
    return parse_rules(text, source)


def parse_rules(text: str, source: str = "rules") -> tuple[Rule, ...]:
    """Reads the rules of a YAML text, in order of id; raises RuleFileError naming the rule at fault and the reason."""
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise RuleFileError(f"reading the rule file {source}: no YAML: {' '.join(str(error).split())}") from error
    if not isinstance(document, dict) or document.keys() != {"rules"} or not isinstance(document["rules"], list):
        raise RuleFileError(f"reading the rule file {source}: found no list under `rules`, the only key; write one")
    rules: dict[str, Rule] = {}
    for number, written in enumerate(document["rules"], 1):
        name = written.get("id") if isinstance(written, dict) else None
        try:
            rule = _rule(written, rules.keys())
        except _Broken as error:
            raise RuleFileError(f"reading the rule file {source}: rule {number} ({name}): {error}") from error
        rules[rule.rule_id] = rule
    return tuple(rules[rule_id] for rule_id in sorted(rules))


def _rule(written: Any, known_ids: Collection[str]) -> Rule:
    rule = _validated(written, known_ids)
    if not 1 <= len(rule.when) <= MAX_HOPS:
        raise _Broken(f"when: found {len(rule.when)} patterns; give 1 to {MAX_HOPS}")
    patterns = [_pattern(text) for text in rule.when]
    for pattern in patterns:
        _check_relations(pattern.relations)
    places = _places(patterns)
    steps = zip(patterns, places, strict=False)
    path = tuple(Walk(pattern.relations, is_reversed=pattern.subject != start) for pattern, start in steps)
    then = _conclusion(rule.then, patterns)
    subject, object_ = (_place(places, name, "then") for name in (then.subject, then.object))
    if subject == object_:
        raise _Broken("then: an edge from a thing to itself; name two variables")
    return Rule(
        rule.id, rule.about, path, then.relations[0], subject, object_, _types(rule.types, places),
        _unless(rule.unless, places), rule.stated_only,
    )  # fmt: skip


def _validated(written: Any, known_ids: Collection[str]) -> _Written:
    try:
        rule = _Written.model_validate(written)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise _Broken(f"{'.'.join(map(str, first['loc'])) or 'the rule'}: {first['msg']}") from error
    if rule.id in known_ids:
        raise _Broken("another rule has this id; give it one of its own")
    if rule.id == BY_MODEL:
        raise _Broken(f"the id {BY_MODEL} is that of what a model proposes; choose another")
    return rule


def _pattern(text: str) -> _Pattern:
    words = text.split()
    if len(words) != 3:
        raise _Broken(f"{text!r}: found {len(words)} words; a pattern is variable, relation, variable")
    subject, relations, object_ = words
    if subject == object_:
        raise _Broken(f"{text!r}: an edge from a thing to itself; name two variables")
    return _Pattern(subject, tuple(relations.split("|")), object_)


def _check_relations(relations: tuple[str, ...]) -> None:
    for relation in relations:
        if relation not in RELATIONS:
            raise _Broken(f"{relation!r} is no relation of the vocabulary")
        if relation in STORED_AS_VALUE:
            raise _Broken(f"{relation!r} leads to a literal, and chains run from thing to thing")


def _conclusion(text: str, patterns: list[_Pattern]) -> _Pattern:
    then = _pattern(text)
    if then.relations in {(SAME,), (INVERSE,)}:
        if len(patterns) > 1:
            raise _Broken(f"then: `{then.relations[0]}` is for rules of one pattern; name the relation")
        without = [r for r in patterns[0].relations if r not in BOTH_WAYS] if then.relations == (INVERSE,) else []
        if without:
            raise _Broken(f"then: {without[0]!r} has no inverse in the vocabulary")
        return then
    if len(then.relations) != 1:
        raise _Broken("then: one edge follows; name one relation")
    _check_relations(then.relations)
    return then


def _places(patterns: list[_Pattern]) -> list[str]:
    """The variables in the order in which the path meets them."""
    ends = [{pattern.subject, pattern.object} for pattern in patterns]
    if len(patterns) == 1:
        return [patterns[0].subject, patterns[0].object]
    joints = []
    for number, (left, right) in enumerate(pairwise(ends), 1):
        shared = left & right
        if len(shared) != 1:
            raise _Broken(f"when: patterns {number} and {number + 1} share {len(shared)} variables; a chain shares one")
        joints.append(shared.pop())
    (first,) = ends[0] - {joints[0]}
    (last,) = ends[-1] - {joints[-1]}
    places = [first, *joints, last]
    if len(set(places)) != len(places):
        raise _Broken("when: the patterns are no chain; each goes on from where the one before it ended")
    return places


def _place(places: list[str], name: str, where: str) -> int:
    if name not in places:
        raise _Broken(f"{where}: the variable {name!r} is in no pattern of `when`")
    return places.index(name)


def _unless(text: str | None, places: list[str]) -> tuple[str, int, int] | None:
    if text is None:
        return None
    pattern = _pattern(text)
    if len(pattern.relations) != 1:
        raise _Broken("unless: one edge; name one relation")
    _check_relations(pattern.relations)
    return pattern.relations[0], _place(places, pattern.subject, "unless"), _place(places, pattern.object, "unless")


def _types(written: dict[str, str | list[str]], places: list[str]) -> tuple[tuple[str, ...] | None, ...]:
    allowed: list[tuple[str, ...] | None] = [None] * len(places)
    for name, given in written.items():
        kinds = [given] if isinstance(given, str) else given
        unknown = [kind for kind in kinds if kind not in set(EntityType)]
        if unknown or not kinds:
            raise _Broken(f"types: {unknown[0] if unknown else 'nothing'!r} is no entity type of the vocabulary")
        allowed[_place(places, name, "types")] = tuple(kinds)
    return tuple(allowed)


ACYCLIC = frozenset({"part_of", "parent_of", "located_in", "reports_to"})
"""Relations in which nothing comes round to itself; their inverses come with them."""
_UPRIGHT = {inverse: relation for relation, inverse in INVERSES.items()} | {"manages": "reports_to"}

PATHS = pa.schema(
    [
        ("rule_id", pa.string()),
        ("n_edges", pa.int32()),
        *((f"relation_{n}", pa.string()) for n in range(1, MAX_HOPS + 1)),
        *((f"is_reversed_{n}", pa.bool_()) for n in range(1, MAX_HOPS + 1)),
        *((f"types_{n}", pa.list_(pa.string())) for n in range(MAX_HOPS + 1)),
        ("conclusion", pa.string()),
        ("subject_place", pa.int32()),
        ("object_place", pa.int32()),
        ("unless_relation", pa.string()),
        ("unless_subject_place", pa.int32()),
        ("unless_object_place", pa.int32()),
        ("is_stated_only", pa.bool_()),
    ]
)


def rule_paths(rules: Sequence[Rule]) -> pa.Table:
    """One row a rule and choice of one relation an edge."""
    rows = [_path_row(rule, chosen) for rule in rules for chosen in product(*(walk.relations for walk in rule.path))]
    return pa.Table.from_pylist(rows, schema=PATHS)


def _path_row(rule: Rule, chosen: Sequence[str]) -> dict[str, Any]:
    """The row of a rule with one relation `chosen` for each edge of its path."""
    unless_relation, unless_subject, unless_object = rule.unless or (None, None, None)
    return {
        "rule_id": rule.rule_id,
        "n_edges": len(rule.path),
        **{f"relation_{n}": relation for n, relation in enumerate(chosen, 1)},
        **{f"is_reversed_{n}": walk.is_reversed for n, walk in enumerate(rule.path, 1)},
        **{f"types_{n}": None if types is None else list(types) for n, types in enumerate(rule.types)},
        "conclusion": rule.conclusion_of(chosen[0]),
        "subject_place": rule.subject,
        "object_place": rule.object,
        "unless_relation": unless_relation,
        "unless_subject_place": unless_subject,
        "unless_object_place": unless_object,
        "is_stated_only": rule.is_stated_only,
    }


def relation_traits(rules: Sequence[Rule], *, is_all: bool = False) -> pa.Table:
    """One row a relation: how it is read the other way (null: not at all), whether it has one value, the graph in which
    it makes cycles and whether against its direction, its usual temporal type, and whether the rules have to do with
    it at all (with `is_all` each counts as such)."""
    concerned = RELATIONS if is_all else _relations_named(rules)
    return pa.Table.from_pylist(
        [
            {
                "relation": relation,
                "other_way": relation if relation in SYMMETRIC else BOTH_WAYS.get(relation),
                "is_functional": relation in FUNCTIONAL,
                "cycle_graph": _cycle_graph(relation),
                "is_against": relation not in ACYCLIC,
                "temporal_type": USUAL_TEMPORAL_TYPE.get(relation, TemporalType.STATE).value,
                "is_concerned": relation in concerned,
            }
            for relation in sorted(RELATIONS)
        ]
    )


def _relations_named(rules: Sequence[Rule]) -> set[str]:
    """The relations that stand in rules, and their inverses."""
    paths = rule_paths(rules)
    columns = [f"relation_{n}" for n in range(1, MAX_HOPS + 1)] + ["conclusion", "unless_relation"]
    named = {relation for column in columns for relation in paths[column].to_pylist() if relation}
    return named | {BOTH_WAYS[relation] for relation in named if relation in BOTH_WAYS}


def _cycle_graph(relation: str) -> str | None:
    """The acyclic relation that a relation is, or is the other way round; None where it may come round to itself."""
    upright = relation if relation in ACYCLIC else _UPRIGHT.get(relation)
    return upright if upright in ACYCLIC else None
