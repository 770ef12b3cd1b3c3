"""Statements that stand inside others, put back as they were made: `Lena liking eels` was `Lena likes eels`."""

import re

from em_pipelines.extraction.rules.tokens import Token, tokenise
from em_pipelines.extraction.rules.verb_forms import lemmas_of
from em_pipelines.extraction.rules.word_classes import ING, PAST

_NEGATION = (
    (re.compile(r"(?i)\b(?:do|does|did)(?:n't| not) (?:actually |really |even )?"), ""),
    (re.compile(r"(?i)\b(am|is|are|was|were|have|has|'m|'re|'s)(?:n't| not)\b(?: actually| really)?"), r"\1"),
    (re.compile(r"(?i)\b(?:never|no longer) (?:actually |really )?"), ""),
)
_SUBJECTS = {
    "me": "I",
    "my": "I",
    "us": "we",
    "our": "we",
    "him": "he",
    "his": "he",
    "her": "she",
    "them": "they",
    "their": "they",
}
_PLURAL = frozenset({"i", "we", "they", "you"})
_IRREGULAR = {"be": "is", "have": "has", "do": "does", "go": "goes"}


def affirmed(sentence: str) -> str | None:
    """What a sentence denies (`I don't have a sister`: `I have a sister`); None where it denies nothing."""
    for pattern, instead in _NEGATION:
        found, n = pattern.subn(instead, sentence, count=1)
        if n:
            return found
    return None


def in_present(clause: str) -> str | None:
    """What reported speech puts back in time: `I liked eels` of `I said I liked eels`; None where nothing is past."""
    tokens = tokenise(clause)
    for n, token in enumerate(tokens[1:], start=1):
        is_be = token.low in {"was", "were"}
        past = lemmas_of(token, PAST)
        if (past or is_be) and n <= 4:
            verb = _present(past[0] if past else "be", [t.low for t in tokens[:n]])
            return clause[: token.start] + verb + clause[token.end :]
    return None


def finite(topic: str) -> str | None:
    """The statement behind a doing: `Lena liking eels` is `Lena likes eels`; None where there is no doing in it."""
    tokens = tokenise(topic)
    for n, token in enumerate(tokens):
        lemma = _doing(token)
        if lemma is None or n > 5 or n + 1 >= len(tokens):
            continue
        subject = _subject(topic[: token.start].strip())
        return f"{subject} {_present(lemma, subject.lower().split())} {topic[token.end :].strip()}."
    return None


def _doing(token: Token) -> str | None:
    if token.low == "being":
        return "be"
    found = lemmas_of(token, ING)
    return found[0] if found and token.low.endswith("ing") else None


def _subject(text: str) -> str:
    if not text:
        return "I"
    known = _SUBJECTS.get(text.lower())
    return known or (text[:-2] if text.endswith("'s") else text)


def _present(lemma: str, subject: list[str]) -> str:
    last = subject[-1] if subject else "i"
    if last in _PLURAL:
        return ("am" if last == "i" else "are") if lemma == "be" else lemma
    if lemma in _IRREGULAR:
        return _IRREGULAR[lemma]
    if lemma.endswith(("s", "sh", "ch", "x", "o", "z")):
        return lemma + "es"
    return lemma[:-1] + "ies" if lemma.endswith("y") and lemma[-2:-1] not in "aeiou" else lemma + "s"
