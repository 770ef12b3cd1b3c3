"""Answers to the questionnaire, in YAML: what the person says of themselves, so nothing of it waits for a review.

    questionnaire: 1
    answered_at: 2026-11-22T10:00:00Z
    answers:
      home: Porto
      likes: [cycling, oat milk]
      has_attribute: {shoe size: 42}

Keys are the questions of questions.yaml or relations of the vocabulary. A value is a text, a list of texts or, of
has_attribute, a mapping; every text is taken as it is written, so that `no` and 1988-04-12 stay what they are.
"""

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from em_pipelines.landing.formats.base import Fields, Format, Ignored, Item, Rejected, Sample, Source, instant_of
from em_pipelines.landing.formats.seeds import Fact, Place, check_user, one_line, seed
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import Reason, RuleError
from em_pipelines.schema.vocabulary import RELATIONS, USER

QUESTIONNAIRE = "questionnaire"
CONFIDENCE = 0.90
"""Of the questionnaire (specification, 1.3)."""
QUESTIONS = "questions.yaml"
_SECTIONS = ("answers", "preferences")
_HEADER = (QUESTIONNAIRE, "answered_at", "user", "user_id")
_HAS_ATTRIBUTE = "has_attribute"


@dataclass(frozen=True, slots=True)
class Question:
    """One question: its key in files, its words, and what an answer says; `several` answers may be given."""

    id: str
    ask: str
    relation: str
    attribute: str | None = None
    object_type: str | None = None
    polarity: int = 1
    several: bool = False


@cache
def questions() -> tuple[Question, ...]:
    """Every question, in the order in which they are asked: questions.yaml."""
    text = (Path(__file__).parent / QUESTIONS).read_text(encoding="utf-8")
    return tuple(Question(**entry) for entry in yaml.safe_load(text)["questions"])


def question_of(key: str) -> Question | None:
    """The question that a key of a file answers: one of ours by its id, or a relation by its name."""
    wanted = key.strip().casefold().replace(" ", "_").replace("-", "_")
    known = next((question for question in questions() if question.id == wanted), None)
    if known is not None or wanted not in RELATIONS:
        return known
    return Question(wanted, "", wanted, several=True)


def fact_of(question: Question, said: str, attribute: str | None = None) -> Fact:
    """What an answer says."""
    more: Fields = {
        "question": question.id,
        "confidence": CONFIDENCE,
        "attribute": attribute or question.attribute,
        "object_type": question.object_type,
        "polarity": question.polarity,
    }
    return Fact(
        USER, question.relation, one_line(said), {name: value for name, value in more.items() if value is not None}
    )


def sniff(sample: Sample) -> bool:
    """Whether the first key of a YAML file is that of the questionnaire."""
    lines = [line for line in sample.text.splitlines() if line.strip() and line[0] not in "#-%"]
    return bool(lines) and lines[0].startswith(f"{QUESTIONNAIRE}:")


def convert(file: InputFile, source: Source) -> Iterator[Item]:
    """Yields a record for each answer. Raises RuleError where the file is no YAML of this form."""
    data = file.document()
    root = _root(data, file)
    header = {str(key.value): value.value for key, value in root.value if isinstance(value, yaml.ScalarNode)}
    if source.user() is None and (named := header.get("user") or header.get("user_id")):
        source = replace(source, user_id=named)
    check_user(file, source)
    dated = instant_of(header.get("answered_at"))
    for key, value in _answers(root):
        yield from _items(key, value, source, dated)


def _root(data: bytes, file: InputFile) -> yaml.MappingNode:
    raw = data[: file.settings.max_line_bytes]
    try:
        root = yaml.compose(data.decode(), Loader=yaml.SafeLoader)
    except UnicodeDecodeError as error:
        raise RuleError(
            Reason.NOT_UTF8, f"byte {error.start} is not UTF-8; convert the file to UTF-8", raw=raw
        ) from error
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        problem = getattr(error, "problem", None) or type(error).__name__
        raise RuleError(Reason.INVALID_YAML, f"no valid YAML: {problem}", raw=raw, line_number=line) from error
    if not isinstance(root, yaml.MappingNode):
        detail = "expected keys with answers, as `home: Porto`; see docs/seeds.md"
        raise RuleError(Reason.INVALID_YAML, detail, raw=raw)
    return root


def _answers(root: yaml.MappingNode) -> Iterator[tuple[Any, Any]]:
    """Keys and values of the answers, in their section or without one."""
    for key, value in root.value:
        if key.value in _SECTIONS and isinstance(value, yaml.MappingNode):
            yield from value.value
        elif key.value not in _HEADER:
            yield key, value


def _items(key: Any, value: Any, source: Source, dated: datetime | None) -> Iterator[Item]:
    line = key.start_mark.line + 1
    question = question_of(str(key.value)) if isinstance(key, yaml.ScalarNode) else None
    if question is None:
        yield _unknown(str(key.value), key, value)
        return
    place = Place(line, QUESTIONNAIRE, dated)
    try:
        said = list(_said(question, value))
    except ValueError as error:
        yield Rejected(line, Reason.UNKNOWN_ANSWER, f"{question.id}: {error}", _written(key, value))
        return
    for attribute, text in said:
        yield seed(source, place, fact_of(question, text, attribute), "answer")
    if not said:
        yield Ignored(line)


def _unknown(name: str, key: Any, value: Any) -> Rejected:
    names = [*(question.id for question in questions()), *RELATIONS]
    near = difflib.get_close_matches(name.casefold(), names, 1)
    hint = f"; did you mean {near[0]}?" if near else "; `em questionnaire --list` has the questions"
    detail = f"nothing asks for {name!r:.60}{hint}"
    return Rejected(key.start_mark.line + 1, Reason.UNKNOWN_ANSWER, detail, _written(key, value))


def _said(question: Question, node: Any) -> Iterator[tuple[str | None, str]]:
    """Attribute and text of each answer. Raises ValueError for a value of another form."""
    names_attributes = question.relation == _HAS_ATTRIBUTE and question.attribute is None
    for key, value in _keyed(node) if names_attributes else _listed(node):
        if not _is_empty(value):
            yield key and key.value, value.value


def _keyed(node: Any) -> list[tuple[Any, Any]]:
    """The attributes that a value names, each with its text."""
    if not isinstance(node, yaml.MappingNode) or not _are_texts(part for pair in node.value for part in pair):
        raise ValueError("expected keys with texts, as {shoe size: 42}")
    return list(node.value)


def _listed(node: Any) -> list[tuple[Any, Any]]:
    """The texts of a value, of no attribute."""
    members = node.value if isinstance(node, yaml.SequenceNode) else [node]
    if not _are_texts(members):
        raise ValueError("expected a text or a list of texts")
    return [(None, member) for member in members]


def _are_texts(nodes: Iterable[Any]) -> bool:
    return all(isinstance(node, yaml.ScalarNode) for node in nodes)


def _is_empty(node: Any) -> bool:
    return not node.value.strip() or node.tag == "tag:yaml.org,2002:null"


def _written(key: Any, value: Any) -> bytes:
    """The answer as a file of its own, to be read again."""
    mapping = yaml.MappingNode("tag:yaml.org,2002:map", [(key, value)])
    return str(yaml.serialize(mapping, Dumper=yaml.SafeDumper, allow_unicode=True)).encode()


FORMAT = Format(QUESTIONNAIRE, sniff, convert)
