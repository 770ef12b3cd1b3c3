"""What of a model's answer may stand as a rule. It is held against the question: what is not plain words or was not in
the question keeps the whole answer out, and the template stands. Pure functions."""

import json
import re
from collections.abc import Callable, Collection

from em_pipelines.errors import UnusableAnswerError
from em_pipelines.language.sentences import sentences
from em_pipelines.lifecycle.consolidation.evidence import ANOMALY, FAILURE
from em_pipelines.lifecycle.consolidation.llm.question import WORD, Question
from em_pipelines.lifecycle.consolidation.safety import SafetyRules, unsafe_prose
from em_pipelines.lifecycle.consolidation.settings import ConsolidationSettings
from em_pipelines.lifecycle.consolidation.wording import is_one_line, is_plain

FORM, LENGTH, CHARACTERS, NAMES, WORDS, ADVICE = "form", "length", "characters", "names", "words", "advice"
MAX_SENTENCES = 2
WHOLE = "stop"
_MARKS = frozenset(" .,:;'’\"()-?")
_NEGATION = re.compile(
    r"\b(not|no|never|nor|neither|none|nothing|without|avoid\w*|skip\w*|stop\w*|instead of|rather than|cannot|unless"
    r"|against|\w+n['’]t)\b",
    re.IGNORECASE,
)
_NOT_AGAIN = re.compile(
    r"\b(do not|don['’]t|not|without|avoid|stop|instead of|rather than)( (just|simply|blindly|immediately))?"
    r" (retry|retrying|repeat|repeating|try|trying|start|starting|launch|launching)\b"
    r"( (the |this |that )?(very )?same\b)?",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"\b(chang|adjust|alter|modif|vary|vari|reduc|shorten|split|narrow|simplif|differ|ask|check|clarif|review|inspect"
    r"|confirm|verif|fix|stop|wait)",
    re.IGNORECASE,
)
_SAME_AGAIN = re.compile(r"\b(repeat\w*|same|as it (is|was))\b", re.IGNORECASE)
_TAKES_TIME = re.compile(r"\b(time|wait\w*|longer|slow\w*|patien\w+|delay\w*|room|slack)\b", re.IGNORECASE)


class Reader:
    """Reads answers by the settings and safety rules of a home."""

    def __init__(self, settings: ConsolidationSettings) -> None:
        self._settings = settings
        self._safety = SafetyRules(settings.rules_file)

    def rule(self, text: str, finish_reason: str, question: Question, others: Collection[str]) -> str:
        """The rule that an answer gives; raises UnusableAnswerError with a word for what keeps it out, and nothing of
        it. `others` are names of skills, those of the question among them or not."""
        rule = _unquoted(_rule_of(text), question.names) if finish_reason == WHOLE else None
        reason = FORM if rule is None else self._objection(rule, question, others)
        if rule is None or reason is not None:
            raise UnusableAnswerError(f"reading a wording: it is kept out ({reason}), and the template stands")
        return rule

    def _objection(self, rule: str, question: Question, others: Collection[str]) -> str | None:
        n_sentences = len(sentences(rule))
        if not is_one_line(rule, self._settings.max_output_tokens) or n_sentences > MAX_SENTENCES:
            return LENGTH
        return _departure(rule, question, others) or unsafe_prose(rule, self._safety)


def reason_of(error: UnusableAnswerError) -> str:
    """The word that `read` gave for what keeps an answer out."""
    return str(error).partition("(")[2].partition(")")[0]


def _rule_of(text: str) -> str | None:
    """The one string of an answer that is the one object asked for; None of anything else."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    is_asked_for = isinstance(document, dict) and set(document) == {"rule"} and isinstance(document["rule"], str)
    return document["rule"].strip() if is_asked_for else None


def _unquoted(rule: str | None, names: Collection[str]) -> str | None:
    """A rule without the marks of code around names."""
    for name in names:
        rule = rule and rule.replace(f"`{name}`", name)
    return rule


def _departure(rule: str, question: Question, others: Collection[str]) -> str | None:
    """How a rule departs from its question; None where it does not."""
    rest, is_whole = rule, True
    for name in sorted(set(question.names), key=len, reverse=True):
        rest, n_found = _named(name).subn(" ; ", rest)
        is_whole = is_whole and n_found > 0
    strangers = set(others) - set(question.names)
    words, given = WORD.findall(rest), question.words
    checks: tuple[tuple[str, Callable[[], bool]], ...] = (
        (NAMES, lambda: is_whole and not any(_named(name, re.IGNORECASE).search(rest) for name in strangers)),
        (CHARACTERS, lambda: set(WORD.sub("", rest)) <= _MARKS),
        (WORDS, lambda: all(word.lower() in given or is_plain(word) for word in words)),
        (NAMES, lambda: not question.topic or _tells(rest, question.topic)),
        (ADVICE, lambda: _advises(rule, rest, question)),
    )
    return next((reason for reason, holds in checks if not holds()), None)


def _named(name: str, flags: int = 0) -> re.Pattern[str]:
    """A name that stands by itself."""
    return re.compile(rf"(?<![\w]){re.escape(name)}(?![\w])", flags)


def _tells(text: str, topic: str) -> bool:
    """Whether one of the words of a category is said."""
    said = {word.lower() for word in WORD.findall(text)}
    return any(word.lower() in said for word in WORD.findall(topic))


def _advises(rule: str, rest: str, question: Question) -> bool:
    """Whether a rule says what the template says, and does not turn it round. `rest` is the rule without the names."""
    left = _NOT_AGAIN.sub("", rest)
    if _NEGATION.search(left):
        return False
    if question.kind == FAILURE:
        is_change = (left != rest or _CHANGES.search(left) is not None) and not _SAME_AGAIN.search(left)
        return question.helped is not None or is_change
    if question.kind == ANOMALY:
        return _TAKES_TIME.search(left) is not None
    places = [found.start() for name in question.names if (found := _named(name).search(rule))]
    return places == sorted(places)
