"""Patterns of how one works (patterns/working/rules.yaml), and the claims that a piece of a sentence that fits states.

What is ordered is told as what one does: `run ruff before committing` as `running ruff before committing`, in the name
and in the statement, for no stored text may be an instruction. Where a piece comes from, and whether it may be
believed, is for `working_rules` to know.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from em_pipelines.errors import PatternError
from em_pipelines.extraction.working_words import Piece, compiled, freed, read
from em_pipelines.guard.passages import Span
from em_pipelines.schema.readings import MAX_STATEMENT_CHARACTERS, Claim, initial_confidence
from em_pipelines.schema.vocabulary import (
    LITERAL_OBJECT,
    RELATIONS,
    USER,
    USUAL_TEMPORAL_TYPE,
    EntityType,
    HedgeLevel,
    Mechanism,
    TemporalType,
)

MAX_THING_WORDS, MAX_RULE_WORDS = 4, 18
NOUN_OF = {
    "release": "releases",
    "deploy": "deploys",
    "ship": "releases",
    "publish": "releases",
    "cut releases": "releases",
}
"""The key of an attribute that is told by its verb."""
_RULE_END = r"(?:,? (?:because|since|so|but)\b|, (?!(?:[\w./-]+, )*(?:[\w./-]+,? )?(?:and|or) [\w./-]+)).*$"
"""Where a reason or another clause begins; a comma within a list goes on."""
_TOOLS = frozenset({"uses", "depends_on", "decided"})
_VOWELS = "aeiou"
_STRESSED = frozenset(
    {"commit", "submit", "prefer", "omit", "refer", "defer", "permit", "begin", "forget", "rerun", "reset", "reformat"}
)
"""Verbs of two syllables that double their last letter before -ing."""


class WorkingRule(BaseModel):
    """One pattern of rules.yaml; the file explains its keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[a-z_]+$")
    about: Literal["project", "user"]
    relation: str
    form: Literal["thing", "when", "rule", "bound", "whole", "turned"]
    pattern: str
    attribute: str | None = None
    polarity: Literal[1, -1] = 1
    needs: Literal["standing", "kind", "norm"] | None = None
    mechanism: Literal["explicit", "observational"] = "explicit"
    is_long: bool = False
    is_order: bool = False
    examples: tuple[dict[str, str | list[str]], ...] = Field(min_length=2)

    def asks(self, polarity: int) -> tuple[str, ...]:
        """What a fit asks for, in the words of refused.yaml."""
        if polarity < 0:
            return ("dont",)
        return ("do", "order") if self.is_order or self.form in {"rule", "bound", "whole"} else ("do",)


@cache
def working_rules() -> tuple[tuple[WorkingRule, re.Pattern[str]], ...]:
    """The patterns in their order. Raises PatternError when the file breaks the grammar."""
    try:
        rules = [WorkingRule.model_validate(entry) for entry in read("rules")["rules"]]
        unknown = {rule.relation for rule in rules} - RELATIONS
        if unknown:
            raise PatternError(f"reading rules.yaml: unknown relations {sorted(unknown)}; take one of the vocabulary")
        return tuple((rule, compiled(rule.pattern)) for rule in rules)
    except (ValidationError, KeyError, re.error) as error:
        raise PatternError(f"reading rules.yaml: {error}; mend the entry or restore the file") from error


@dataclass(frozen=True, slots=True)
class Fit:
    """A pattern that fits a piece, which stands at `span` of its turn."""

    rule: WorkingRule
    match: re.Match[str]
    piece: Piece
    span: Span

    @property
    def said(self) -> str:
        """What the pattern takes for the other end."""
        found = self.match.groupdict()
        return found["object"] or found.get("kept") or found.get("always") or ""

    @property
    def bound(self) -> str:
        """What a rule is bound to, as it is said behind it: `before every commit`."""
        found = self.match.groupdict()
        when = found.get("when") or found.get("when2") or ""
        return when[:1].lower() + when[1:]

    @property
    def polarity(self) -> int:
        """1 for what is so or shall be, −1 for what is not."""
        return -self.rule.polarity if self.match.groupdict().get("no") else self.rule.polarity

    def lasts(self) -> bool:
        """Whether what is said holds for longer than now, by its words or its kind."""
        rule, text = self.rule, self.piece.text
        if self._is_no_rule():
            return False
        if rule.needs is None or self.piece.lasts or self.match.groupdict().get("over"):
            return True
        if rule.needs == "norm":
            return _is_norm(text)
        return " unless " in text if rule.needs == "standing" else _is_general(self.said, is_verb=rule.form == "rule")

    def _is_no_rule(self) -> bool:
        """Whether what has the form of a rule is none: code, or an order of nothing that can be ordered."""
        rule = self.rule
        if rule.form in {"rule", "bound", "whole"} and compiled("{code}").search(self.piece.text):
            return True
        return rule.form in {"rule", "bound"} and rule.is_order and not is_ordered(self.said, self.polarity)

    def claims(self, project: str) -> list[Claim]:
        """What the piece states, without the number of its turn."""
        named = [(name, self.polarity) for name in _objects(self)]
        contrasted = self.rule.form == "thing" and self.rule.relation == "uses"
        others = [self.match.groupdict().get("old"), *(_other().findall(self.said) if contrasted else ())]
        named += [(other, -self.polarity) for other in others if other and named]
        return [_claim(self, name, polarity, project) for name, polarity in named]


def fits(piece: Piece, span: Span) -> Iterator[Fit]:
    """The patterns that fit a piece and say what lasts, in their order."""
    for rule, pattern in working_rules():
        match = pattern.fullmatch(piece.text)
        if match is not None and (fit := Fit(rule, match, piece, span)).lasts():
            yield fit


def is_ordered(said: str, polarity: int = -1) -> bool:
    """Whether words begin with a verb that a rule may order, or may rule out where the polarity is −1."""
    verbs = r"{order}\b" if polarity > 0 else r"(?:{order}|{forbidden})\b"
    return compiled(verbs).match(said) is not None


@cache
def _other() -> re.Pattern[str]:
    """`X, not Y`, `X rather than Y`: the Y."""
    return compiled(
        r"(?:,? (?:and |but )?(?<!\bdo )(?<!\bis )(?<!\bare )(?<!\bcan )(?:not|never)|,? (?:rather than|instead of))"
        r"(?: the)? ([\w.+#/-]+)(?: directly)?(?=$| for\b| in\b|,)"
    )


def _is_general(said: str, *, is_verb: bool) -> bool:
    """Whether no single thing is meant: `add comments that repeat the code`, and not `change the signature`."""
    head = said.partition(" ")[2] if is_verb else said
    if compiled(r"{unnamed}(?![\w-])").match(head) or compiled(r"\b{pointing}\b").search(said):
        return False
    return _names_many(compiled(r" {preposition}\b").split(head)[0])


def _names_many(phrase: str) -> bool:
    return compiled(r"(?:[a-z-]{2,}[^su\W]s|{masses})\b").search(phrase) is not None


def _is_norm(text: str) -> bool:
    """Whether all of a kind are meant: `every PR`, `commit messages should`; not `the test should`."""
    if compiled(r"{general} ").match(text):
        return True
    return (
        not text.lower().startswith("the ") and compiled(r"(?:[a-z-]+ ){0,2}[a-z]+s {norm}\b").match(text) is not None
    )


def _objects(fit: Fit) -> list[str]:
    """The other ends of the claims that a fit states."""
    rule, said = fit.rule, fit.said
    if rule.form == "thing" and not rule.is_long:
        return list(_listed(_other().sub("", said)))
    told = {
        "thing": lambda: compiled(r"(?:, (?!and\b)| {reason}\b|\().*$").sub("", said).strip(),
        "when": lambda: said,
        "rule": lambda: as_done(freed(compiled(_RULE_END).sub("", said)).text),
        "bound": lambda: f"{as_done(freed(compiled(_RULE_END).sub('', said)).text)} {fit.bound}",
        "whole": lambda: _small(fit.piece.text),
        "turned": lambda: f"{fit.match['how'].lower()} {said}",
    }[rule.form]()
    n_words = len(told.split())
    if rule.form == "thing" and not _is_name(told, MAX_RULE_WORDS):
        return []
    return [told] if (2 if rule.form in {"rule", "bound"} else 1) <= n_words <= MAX_RULE_WORDS else []


def _listed(said: str) -> Iterator[str]:
    """The names that a list begins with; a comma alone goes on with proper names only."""
    joint = re.compile(r",? (?:and|&|plus) |, ")
    for between, item in zip(["", *joint.findall(said)], joint.split(said), strict=True):
        whole = item.strip(" .,:;")
        name = compiled(r"(?:,| {name_end}\b|\().*$").sub("", re.sub(r"^(?:the|our) (?=[A-Z])", "", whole))
        name = name.strip(" .,:;")
        is_proper = compiled("{proper}").fullmatch(name) is not None
        is_next = not between or is_proper or (between.strip() != "," and len(name.split()) < MAX_THING_WORDS - 1)
        if not is_next or not _is_name(name, MAX_THING_WORDS):
            return
        yield name
        if name != whole:
            return


def _is_name(name: str, most: int) -> bool:
    """Whether words name a thing, and no state of the moment."""
    if not name or len(name.split()) > most or compiled(r"(?:{unnamed}|{clause})(?![\w-])").match(name):
        return False
    is_state = compiled(r"{states}(?![\w-])|(?-i:[a-z]+(?:ing|ly)|(?:not|un)[a-z]+ed)$").match(name)
    return not is_state or compiled("{tools}").fullmatch(name) is not None


def _small(text: str) -> str:
    """A piece as it stands within a sentence."""
    first = text.partition(" ")[0]
    return text if first[1:] != first[1:].lower() else text[0].lower() + text[1:]


def as_done(said: str) -> str:
    """What is ordered as what one does: `run ruff and push` as `running ruff and pushing`."""
    verb, _, rest = said.partition(" ")
    told = f"{_gerund(verb.lower())} {rest}".strip()
    return re.sub(
        r"(?<= and )[a-z-]+(?= )", lambda match: _gerund(match[0]) if is_ordered(match[0]) else match[0], told
    )


def _gerund(verb: str) -> str:
    """`run` to `running`, `write` to `writing`."""
    head, hyphen, last = verb.rpartition("-")
    if last.endswith("e") and not last.endswith(("ee", "oe", "ye")) and last != "be":
        last = last[:-1]
    elif _doubles(last):
        last += last[-1]
    return f"{head}{hyphen}{last}ing"


def _doubles(verb: str) -> bool:
    if len(verb) < 3 or verb[-1] in _VOWELS + "wxy" or verb[-2] not in _VOWELS or verb[-3] in _VOWELS:
        return False
    return verb in _STRESSED or sum(letter in _VOWELS for letter in verb) == 1


def _claim(fit: Fit, name: str, polarity: int, project: str) -> Claim:
    rule, is_own = fit.rule, fit.rule.about == "user"
    is_literal = rule.relation in LITERAL_OBJECT
    is_inferred = rule.mechanism == "observational" and not fit.piece.lasts
    mechanism = Mechanism.OBSERVATIONAL if is_inferred else Mechanism.EXPLICIT
    return Claim(
        turn_number=0,
        subject=USER if is_own else project,
        subject_type=EntityType.PERSON if is_own else EntityType.PROJECT,
        relation=rule.relation,
        object=None if is_literal else name,
        object_type=None if is_literal else _type_of(rule),
        value=re.sub(r"^https?://", "", name) if is_literal else None,
        confidence=initial_confidence(mechanism, HedgeLevel.NONE),
        start=fit.span[0],
        end=fit.span[1],
        temporal_type=USUAL_TEMPORAL_TYPE.get(rule.relation, TemporalType.STATE),
        polarity=polarity,
        attribute=_attribute(fit, name),
        over=fit.match.groupdict().get("over"),
        source_mechanism=mechanism,
        pattern_id=f"working.{rule.id}",
        statement=_statement(fit, name, polarity)[:MAX_STATEMENT_CHARACTERS],
    )


def _attribute(fit: Fit, name: str) -> str | None:
    """The key of an attribute; what is kept in a service has no location."""
    key = fit.rule.attribute
    if key is None:
        return None
    if key.startswith("location of") and "/" not in name:
        key = "=key kept in"
    said = (fit.match.groupdict().get("key") or "").lower()
    return key.replace("=key", NOUN_OF.get(said, said))


def _type_of(rule: WorkingRule) -> EntityType:
    if rule.relation in _TOOLS:
        return EntityType.TOOL
    return EntityType.ACTIVITY if rule.form in {"rule", "bound"} else EntityType.CONCEPT


def _statement(fit: Fit, name: str, polarity: int) -> str:
    """The fact in a short sentence that orders nobody about."""
    if fit.rule.form in {"rule", "bound"}:
        return f"{name[0].upper()}{name[1:]} is {'the rule' if polarity > 0 else 'ruled out'}"
    if fit.rule.is_order:
        return f"{'Preferred' if polarity > 0 else 'Not wanted'}: {name}"
    return fit.piece.text
