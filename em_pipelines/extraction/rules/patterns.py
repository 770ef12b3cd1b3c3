"""Patterns as data: loading, validation and the small language of frames.

A frame is one verb with what stands around it: `{subject} <work> ... at|for {object:org}`.

    <live|reside>       the main verb; any form, with its auxiliaries, adverbs and negation
    {object:thing|ing}  a slot and the kinds of phrase it takes; `{subject}` before the verb is the clause's subject
    at|for              one of these words
    as?                 may be missing
    !to|for             none of these words may follow
    ...                 up to eight words of the same clause may stand between

To add a pattern, add it to a file of `patterns/` with examples; nothing here changes. New kinds of slots belong to
`slots`, new conditions on a clause to `PatternSpec` and `matching`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from em_pipelines.errors import PatternError
from em_pipelines.extraction.rules.slots import BARE, KINDS, SUBJECT_KINDS
from em_pipelines.language.en.tokens import VERB_FORMS
from em_pipelines.language.values import read_yaml
from em_pipelines.schema.vocabulary import LITERAL_OBJECT, RELATIONS, EntityType, Flag, TemporalType

PATTERNS_DIR = Path(__file__).resolve().parents[1] / "patterns/"
BUILT_IN_SLOTS = frozenset({"speaker", "unnamed", "companion", "value"})
"""Ends of a claim that no slot of the frame gives: who speaks, or does it too, the relative last named by a noun, and
the value that the pattern itself gives."""

KIN_RELATION = "=kin"
"""Instead of a relation: the one that the kin noun of the subject states, between its owner and the object."""

RATHER = "rather"
"""Stands for any verb after `would rather`."""

Need = Literal["modal", "negation", "progressive", "hypothetical", "passive", "rather"]


class Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Example(Strict):
    """A text and everything that must be read in it: `subject relation object`, each ` | ` apart; `-` marks −1."""

    text: str
    claims: tuple[str, ...] = ()


class PatternSpec(Strict):
    """One pattern of a file; the README of the folder explains every key."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    frame: str | tuple[str, ...]
    relation: str
    negated: str = "negate"
    """What a negated clause states: `negate` (polarity −1), `drop`, or another relation."""
    subject: str = "subject"
    object: str = "object"
    """Slots that give the claim's two ends, or one of BUILT_IN_SLOTS."""
    tense: Literal["present", "simple", "past", "any"] = "present"
    modals: tuple[str, ...] = ()
    """Modal verbs it may stand with; without them it may stand with none."""
    needs: tuple[Need, ...] = ()
    may_drop_subject: bool = False
    may_be_timed: bool = False
    yields: bool = False
    """Not tried where an earlier pattern has read the same relation in the clause."""
    dates: Literal["since", "when", "ahead", "none"] = "since"
    attribute: str | None = None
    value: str | None = None
    """What the claim says, where no slot does: `object: value`."""
    ends: bool = False
    """Ends what stands of the relation, whatever its object (Act.END), and states no fact."""
    temporal_type: TemporalType | None = None
    object_type: EntityType | None = None
    subject_type: EntityType | None = None
    polarity: Literal[1, -1] = 1
    flags: tuple[Flag, ...] = ()
    examples: tuple[Example, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _closed_vocabulary(self) -> "PatternSpec":
        for relation, keywords in ((self.relation, {KIN_RELATION}), (self.negated, {"negate", "drop"})):
            if relation not in RELATIONS and relation not in keywords:
                raise ValueError(f"unknown relation {relation!r}")
        if self.relation == "has_attribute" and self.attribute is None:
            raise ValueError("has_attribute needs `attribute`")
        return self


class PatternFile(Strict):
    group: str
    patterns: tuple[PatternSpec, ...]


@dataclass(frozen=True, slots=True)
class Element:
    """One step of a frame. kind: verb, slot, word or gap."""

    kind: str
    words: frozenset[str] = frozenset()
    name: str = ""
    is_optional: bool = False


@dataclass(frozen=True)
class Pattern:
    """A compiled frame: `left` is matched against the subject phrase, `right` after the verb."""

    pattern_id: str
    spec: PatternSpec
    frame: str
    """As it is written."""
    left: tuple[Element, ...]
    lemmas: frozenset[str]
    right: tuple[Element, ...]
    is_literal: bool

    @cached_property
    def lead_words(self) -> frozenset[str]:
        """Words of which one must open the subject phrase; empty when any may."""
        return self.left[0].words if self.left[0].kind == "word" and not self.left[0].is_optional else frozenset()

    @cached_property
    def trigger_words(self) -> frozenset[str]:
        """Words of which one must stand after the verb; empty when none must."""
        return next((e.words for e in self.right if e.kind == "word" and not e.is_optional), frozenset())

    @cached_property
    def needs_words_after(self) -> bool:
        """Whether the verb must have something after it: of slots, only a predicate may be the verb alone."""
        return bool(self.right) and self.right[0].kind == "slot" and self.right[0].words != BARE

    @cached_property
    def verb_conditions(self) -> str:
        """The same for patterns that make the same conditions on the verb."""
        return self.spec.model_dump_json(include={"may_be_timed", "modals", "needs", "tense", "may_drop_subject"})

    @cached_property
    def takes_clause_subject(self) -> bool:
        first = self.left[0]
        return len(self.left) == 1 and first.name == "subject" and bool(first.words & SUBJECT_KINDS)


_LEMMAS = frozenset(lemma for lemmas in VERB_FORMS.values() for lemma in lemmas)
_ELEMENT = re.compile(
    r"(?P<verb><[a-z|-]+>)|\{(?P<name>[a-z_]+)(?::(?P<kinds>[a-z_|]+))?\}|(?P<gap>\.\.\.)|(?P<not>![a-z|]+)|(?P<word>[^\W\d_][\w'|-]*)(?P<opt>\?)?"
)


def compile_frame(frame: str) -> tuple[tuple[Element, ...], frozenset[str], tuple[Element, ...]]:
    """Returns what stands left of the verb, the verb's lemmas, and what stands right of it. Raises ValueError."""
    left: list[Element] = []
    right: list[Element] = []
    lemmas: frozenset[str] = frozenset()
    for part in frame.split():
        match = _ELEMENT.fullmatch(part)
        if match is None:
            raise ValueError(f"cannot read {part!r} in the frame {frame!r}")
        if match["not"]:
            right.append(Element("not", frozenset(match["not"][1:].split("|"))))
            continue
        if match["verb"]:
            if lemmas:
                raise ValueError(f"two verbs in the frame {frame!r}")
            lemmas = frozenset(match["verb"][1:-1].split("|"))
            continue
        (right if lemmas else left).append(_element(match))
    unknown = lemmas - _LEMMAS - {RATHER}
    if unknown:
        raise ValueError(f"{', '.join(sorted(unknown))} is in no list of verbs (lexicon/verbs.yaml)")
    if not lemmas or not left:
        raise ValueError(f"the frame {frame!r} needs a verb in <> and a subject before it")
    return tuple(left), lemmas, tuple(right)


def _element(match: re.Match[str]) -> Element:
    if match["gap"]:
        return Element("gap")
    if match["name"]:
        kinds = (
            frozenset((match["kinds"] or "thing").split("|"))
            if match["name"] != "subject" or match["kinds"]
            else frozenset({"person"})
        )
        unknown = kinds - KINDS
        if unknown:
            raise ValueError(f"unknown kind of slot: {', '.join(sorted(unknown))}")
        return Element("slot", kinds, match["name"])
    return Element("word", frozenset(match["word"].split("|")), is_optional=bool(match["opt"]))


def compile_file(path: Path) -> list[Pattern]:
    """Compiles one pattern file. Raises PatternError that names the file and, where there is one, the pattern."""
    try:
        data = read_yaml(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise PatternError(f"Reading the patterns of {path}: {error}. Mend or remove the file.") from error
    try:
        file = PatternFile.model_validate(data)
    except ValidationError as error:
        raise PatternError(f"Reading the patterns of {path}: {_explained(error, data)}. Mend the pattern.") from error
    compiled: list[Pattern] = []
    for spec in file.patterns:
        pattern_id = f"{file.group}.{spec.id}"
        if any(pattern_id == other.pattern_id for other in compiled if other.spec is not spec):
            raise PatternError(f"Reading the patterns of {path}: {pattern_id} is there twice. Rename one.")
        for frame in (spec.frame,) if isinstance(spec.frame, str) else spec.frame:
            try:
                left, lemmas, right = compile_frame(frame)
                _check_slots(spec, left + right)
            except ValueError as error:
                raise PatternError(f"Reading the patterns of {path}: {pattern_id}: {error}. Mend the frame.") from error
            compiled.append(Pattern(pattern_id, spec, frame, left, lemmas, right, spec.relation in LITERAL_OBJECT))
    return compiled


def _check_slots(spec: PatternSpec, elements: tuple[Element, ...]) -> None:
    names = {element.name for element in elements if element.kind == "slot"} | BUILT_IN_SLOTS
    for wanted in (spec.subject, spec.object):
        if wanted not in names and not wanted.startswith("="):
            raise ValueError(f"no slot named {wanted!r}")


def _explained(error: ValidationError, data: object) -> str:
    first = error.errors()[0]
    place = first["loc"]
    name = ""
    if isinstance(data, dict) and len(place) > 1 and place[0] == "patterns" and isinstance(place[1], int):
        pattern = data["patterns"][place[1]]
        name = (
            f"{pattern.get('id', f'pattern {place[1] + 1}')}: "
            if isinstance(pattern, dict)
            else f"pattern {place[1] + 1}: "
        )
    return f"{name}{'.'.join(str(p) for p in place)}: {first['msg']}"


@lru_cache(maxsize=4)
def load_patterns(folder: Path = PATTERNS_DIR) -> tuple[Pattern, ...]:
    """Compiles every pattern file of a folder, in name order. Raises PatternError."""
    paths = sorted(folder.glob("*.yaml"))
    if not paths:
        raise PatternError(f"Reading the patterns of {folder}: found no .yaml file. Restore the folder.")
    return tuple(pattern for path in paths for pattern in compile_file(path))


class PatternIndex:
    """Patterns by lemma; `candidates` gives those whose demanded words are there, in the order of the files."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self._by_lemma: dict[str, _OfLemma] = {}
        for n, pattern in enumerate(patterns):
            for lemma in pattern.lemmas:
                self._by_lemma.setdefault(lemma, _OfLemma()).add(n, pattern)

    def has(self, lemmas: Iterable[str]) -> bool:
        """Whether any pattern starts with one of these verbs."""
        return not self._by_lemma.keys().isdisjoint(lemmas)

    def candidates(self, lemmas: Iterable[str], first: str, after: set[str], at_once: set[str]) -> list[Pattern]:
        """The patterns worth trying; `first` opens the subject phrase, `after` are the words after the verb.

        `at_once` are those of them with nothing but adverbs before.
        """
        worth_trying: dict[int, Pattern] = {}
        for lemma in lemmas:
            of_lemma = self._by_lemma.get(lemma)
            if of_lemma is not None:
                of_lemma.collect(first, after, at_once, worth_trying)
        return [worth_trying[n] for n in sorted(worth_trying)]


class _OfLemma:
    def __init__(self) -> None:
        self.open: dict[int, Pattern] = {}
        self.led: dict[str, dict[int, Pattern]] = {}
        self.triggered: dict[str, dict[int, Pattern]] = {}
        self.triggered_at_once: dict[str, dict[int, Pattern]] = {}

    def add(self, n: int, pattern: Pattern) -> None:
        if pattern.lead_words:
            for word in pattern.lead_words:
                self.led.setdefault(word, {})[n] = pattern
        elif pattern.trigger_words:
            is_at_once = pattern.right[0].kind == "word" and not pattern.right[0].is_optional
            triggered = self.triggered_at_once if is_at_once else self.triggered
            for word in pattern.trigger_words:
                triggered.setdefault(word, {})[n] = pattern
        else:
            self.open[n] = pattern

    def collect(self, first: str, after: set[str], at_once: set[str], into: dict[int, Pattern]) -> None:
        into.update(self.open)
        for n, pattern in self.led.get(first, {}).items():
            if not pattern.trigger_words or not after.isdisjoint(pattern.trigger_words):
                into[n] = pattern
        for word in after & self.triggered.keys():
            into.update(self.triggered[word])
        for word in at_once & self.triggered_at_once.keys():
            into.update(self.triggered_at_once[word])
