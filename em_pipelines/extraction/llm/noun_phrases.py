"""The names that an answer has for the ends of its relations: of a sentence, whom it begins with."""

import re
from collections.abc import Iterable

from em_pipelines.language.document import english
from em_pipelines.schema.readings import ENGLISH, Mention
from em_pipelines.schema.vocabulary import LITERAL_OBJECT, MAY_BE_PHRASE

_NEEDS_NO_NAME = LITERAL_OBJECT | MAY_BE_PHRASE
_NO_KIND = frozenset().union(
    *(english.words("words", name) for name in (
        "determiners", "possessives", "prepositions", "conjunctions", "be", "have", "do", "modals", "quantifiers",
        "subject_pronouns", "object_pronouns",
    ))
)  # fmt: skip


def named_ends(
    ends: tuple[str, str], relation: str, listed: Iterable[Mention], language: str | None
) -> tuple[str, str] | None:
    """Subject and object by names, each of a sentence by the listed name that it begins with; None where one has no
    name. What a relation may hold as a phrase needs none."""
    names = [mention.name for mention in listed]
    subject = _named(ends[0], names, language)
    stated = ends[1] if relation in _NEEDS_NO_NAME else _named(ends[1], names, language)
    return (subject, stated) if subject and stated else None


def is_no_name(name: str, language: str | None) -> bool:
    """Whether English words are a sentence, or say what is done."""
    return language in {None, ENGLISH} and english.is_clause(name)


def _named(end: str, names: Iterable[str], language: str | None) -> str | None:
    if not is_no_name(end, language):
        return end
    return max((name for name in names if end.casefold().startswith(f"{name.casefold()} ")), key=len, default=None)


def kind_told_of(noun: str, text: str) -> str | None:
    """A noun with the word before it that says of what kind it is, where a text has one."""
    for found in re.finditer(rf"(?i)\b(?P<kind>[^\W\d_][\w'’-]{{2,}}) {re.escape(noun)}\b", text):
        if found["kind"].casefold() not in _NO_KIND:
            return found[0]
    return None
