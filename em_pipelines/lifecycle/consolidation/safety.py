"""Five gates between what recurs and what an agent is told, in order: injection, secrets, privilege, scope,
contradiction. What fails one is quarantined with the gate's name and a reason that repeats nothing of it.

A rule is followed, where a quote is only read; so behind the guard of all text stands a rule file that is stricter
(safety_rules.yaml, or the user's own).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import re2
import yaml

from em_pipelines.errors import RuleFileError
from em_pipelines.guard.contact import personal_spans
from em_pipelines.guard.injection import is_quarantined, privilege_spans, strip_instructions
from em_pipelines.guard.screening import CITED, UNQUOTED, withheld_in
from em_pipelines.language.counting import counted
from em_pipelines.language.masking import mask_text
from em_pipelines.lifecycle.consolidation.evidence import ANOMALY, FAILURE, OF_SKILLS, Cluster, incidents
from em_pipelines.lifecycle.consolidation.settings import ConsolidationSettings
from em_pipelines.lifecycle.consolidation.wording import is_telling

INJECTION, SECRETS, PRIVILEGE, SCOPE, CONTRADICTION = GATES = (
    "injection", "secrets", "privilege", "scope", "contradiction",
)  # fmt: skip
OWN_RULES = Path(__file__).with_name("safety_rules.yaml")
MAX_NAME_CHARACTERS = 80
MAX_NAME_WORDS = 8
MAX_SPACED_WORDS = 6
"""Of a name with blanks in it, as a category has: more is a sentence."""
MIN_SENTENCE_WORDS = 4
"""Words from which a name can be a sentence: of one with blanks half have to be words of tools then."""
DEFIANT = frozenset(["disregard", "bypass", "obey", "pretend", "jailbreak", "overrule", "unrestricted", "unfiltered"])
SWEEPING = frozenset(
    ["always", "never", "must", "shall", "should", "every", "everything", "any", "anyone", "anything", "nobody",
     "without", "ask", "asking", "previous", "prior", "earlier", "unless", "henceforth", "whoever", "please", "i", "we",
     "my", "our", "me"]
)  # fmt: skip
_NAME = re.compile(r"[\w .:/@#+()-]+")
_PERSON = re.compile(r"(?i)\b(?:i(?![/-])|me|my|mine|myself|we|us(?!-)|our|ours|he|him|his|she|hers?)\b")
_MERELY_UNQUOTED = frozenset([CITED, UNQUOTED])
"""What tools say of tokens, locks and files is not quoted of people, and does no harm in a word or two."""
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SEPARATORS = re.compile(r"[_\W]+")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Which gate refused, and why, in a sentence without anything of what was refused."""

    gate: str
    reason: str


class SafetyRules:
    """The patterns of a rule file by gate. Raises RuleFileError where it is none."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or OWN_RULES
        self.patterns: Mapping[str, tuple[str, ...]] = self._read()

    def _read(self) -> dict[str, tuple[str, ...]]:
        try:
            found: Any = yaml.safe_load(self._path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            said = " ".join(str(error).split())
            raise RuleFileError(
                f"reading safety rules of {self._path}: {said}; write a list of patterns a gate"
            ) from error
        if not isinstance(found, dict) or not set(found) <= set(GATES[:4]):
            raise RuleFileError(f"reading safety rules of {self._path}: its entries are not {', '.join(GATES[:4])}")
        return {gate: tuple(map(str, found.get(gate) or ())) for gate in GATES[:4]}

    @cached_property
    def _compiled(self) -> dict[str, list[Any]]:
        options = re2.Options()
        options.case_sensitive = False
        try:
            return {gate: [re2.compile(one, options) for one in some] for gate, some in self.patterns.items()}
        except re2.error as error:
            raise RuleFileError(f"reading safety rules of {self._path}: a pattern is none: {error}") from error

    def gate_of(self, prose: str) -> str | None:
        """The first gate of which a pattern is found in a text; None where none is."""
        return next((g for g, some in self._compiled.items() if any(one.search(prose) for one in some)), None)


def sanitised(cluster: Cluster) -> Cluster:
    """The cluster without the messages of its evidence in which the guard finds anything to do."""
    if cluster.kind not in OF_SKILLS:
        return cluster
    unsafe = {text for text in {one.message for one in cluster.evidence} if _is_unsafe(text)}
    if not unsafe:
        return cluster
    evidence = (replace(one, message="") if one.message in unsafe else one for one in cluster.evidence)
    return replace(cluster, evidence=tuple(evidence))


def _is_unsafe(text: str) -> bool:
    """Whether a message may lend no word: the guard takes something out of it, or it is of people and not of a tool."""
    is_of_people = _PERSON.search(text) is not None or bool(personal_spans(text))
    is_withheld = any(one.issue not in _MERELY_UNQUOTED for one in withheld_in(text))
    return is_of_people or is_withheld or is_directive(text) or mask_text(text) != text


def refusal(
    cluster: Cluster, names: Sequence[str], prose: Sequence[str], rules: SafetyRules, settings: ConsolidationSettings
) -> Refusal | None:
    """The first gate that a cluster does not pass; None where it passes all.

    `names` are what the rule would call things, `prose` what it would say in words of the evidence. What the messages
    of tools say beside that is no reason, for a rule repeats nothing of it.
    """
    checks: tuple[tuple[str, Callable[[], str | None]], ...] = (
        (INJECTION, lambda: _directs(names, prose, rules)),
        (SECRETS, lambda: _holds_secret(names, prose, rules)),
        (PRIVILEGE, lambda: _claims_rank(names, prose, rules)),
        (SCOPE, lambda: _out_of_scope(cluster, names, prose, rules)),
        (CONTRADICTION, lambda: _spoken_against(cluster, settings)),
    )
    for gate, check in checks:
        reason = check()
        if reason is not None:
            return Refusal(gate, reason)
    return None


def unsafe_prose(text: str, rules: SafetyRules) -> str | None:
    """The gate that a sentence of a model does not pass, contradiction aside; None where it passes."""
    if is_directive(text):
        return INJECTION
    if mask_text(text) != text:
        return SECRETS
    return PRIVILEGE if privilege_spans(text) else rules.gate_of(text)


@lru_cache(maxsize=4096)
def _orders(text: str) -> bool:
    """Whether the guard finds an order in a text: what is merely a command, a path or an address is none."""
    return bool(strip_instructions(text).kinds)


def is_directive(text: str) -> bool:
    """Whether the guard of all text finds an instruction in it."""
    return is_quarantined(text) or bool(strip_instructions(text).kinds)


def _directs(names: Sequence[str], prose: Sequence[str], rules: SafetyRules) -> str | None:
    if any(_orders(_spoken(name)) or _commands(name) for name in names):
        return "a name in it is an instruction"
    return "its words direct whoever reads them" if any(_directs_reader(text, rules) for text in prose) else None


def _directs_reader(text: str, rules: SafetyRules) -> bool:
    return is_directive(text) or _orders(_spoken(text)) or rules.gate_of(text) == INJECTION


def _holds_secret(names: Sequence[str], prose: Sequence[str], rules: SafetyRules) -> str | None:
    is_masked = any("[masked:" in text or mask_text(text) != text for text in (*names, *prose))
    if is_masked or any(rules.gate_of(text) == SECRETS for text in prose):
        return "it holds what looks like a secret"
    return None


def _claims_rank(names: Sequence[str], prose: Sequence[str], rules: SafetyRules) -> str | None:
    is_claimed = any(privilege_spans(text) for text in (*map(_spoken, names), *prose))
    if is_claimed or any(rules.gate_of(text) == PRIVILEGE for text in prose):
        return "it speaks of rights, ranks or guards"
    return None


def _out_of_scope(cluster: Cluster, names: Sequence[str], prose: Sequence[str], rules: SafetyRules) -> str | None:
    if any(one.user_id != cluster.user_id or not one.session_id or not one.evidence_id for one in cluster.evidence):
        return "some of its evidence has no source, or is another user's"
    if not all(map(_is_name, names)):
        return "a name in it is none: too long, empty, or with characters that names do not have"
    if any(rules.gate_of(text) == SCOPE for text in prose):
        return "it holds what identifies somebody"
    if cluster.kind in OF_SKILLS and any(map(_is_private, (*map(_spoken, names), *prose))):
        return "it speaks of what is nobody else's business"
    return None


def _spoken_against(cluster: Cluster, settings: ConsolidationSettings) -> str | None:
    if cluster.objection is not None:
        return f"what it says does not stand any more ({cluster.objection})"
    if cluster.kind in {FAILURE, ANOMALY} and is_over(cluster, settings):
        return f"it has not come back in {counted(cluster.n_calls_since, 'call')} since"
    return None


def is_over(cluster: Cluster, settings: ConsolidationSettings) -> bool:
    """Whether a failure, or slowness, has stayed away so long, while its skill was used, that it is past."""
    usual_hours = cluster.span_hours / max(1, incidents(cluster.evidence, settings.burst_hours) - 1)
    wanted_hours = max(settings.quiet_factor * usual_hours, 24 * settings.quiet_days)
    return cluster.quiet_hours >= wanted_hours and cluster.n_calls_since >= settings.n_quiet_calls


def may_be_shown(names: Sequence[str], rules: SafetyRules) -> bool:
    """Whether names may stand where no gate is asked any more: in verdicts, and in how skills have fared."""
    spoken = [_spoken(name) for name in names]
    return all(map(_is_name, names)) and not (
        any(map(_orders, spoken))
        or any(map(_commands, names))
        or any(map(_is_private, spoken))
        or _holds_secret(names, (), rules)
        or _claims_rank(names, (), rules)
    )


@lru_cache(maxsize=4096)
def _is_private(text: str) -> bool:
    """Whether a text speaks of health, money or documents of somebody, or says how to reach them."""
    return any(one.issue.endswith("_withheld") for one in withheld_in(text)) or bool(personal_spans(text))


def _commands(name: str) -> bool:
    """Whether a name has words that tools are not named by: those that put down guards, and in a whole sentence those
    that say how far an order goes."""
    words = _spoken(name).lower().split()
    is_sentence = len(words) >= MIN_SENTENCE_WORDS
    return not DEFIANT.isdisjoint(words) or (is_sentence and not SWEEPING.isdisjoint(words))


def _spoken(name: str) -> str:
    """A name as the words that it is made of, whether by marks or by capitals."""
    return _SEPARATORS.sub(" ", _HUMP.sub(" ", name)).strip()


def _is_name(name: str) -> bool:
    words, is_spaced = _SEPARATORS.sub(" ", name).split(), " " in name.strip()
    is_short = len(name) <= MAX_NAME_CHARACTERS and 0 < len(words) <= (
        MAX_SPACED_WORDS if is_spaced else MAX_NAME_WORDS
    )
    is_prose = is_spaced and len(words) >= MIN_SENTENCE_WORDS and not is_telling(" ".join(words))
    return is_short and not is_prose and _NAME.fullmatch(name) is not None
