"""The JSON documents in the text of an answer: models reason before them, explain them and add others behind them.

What a document has to hold, and which of several is the answer, is the reader's to say.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

Document = dict[str, Any]
MIN_ECHO_CHARACTERS = 60
"""Of a line of the prompt that no answer repeats by chance."""
_REASONING = r"(?:\w+:)?(?:think|thinking|thought|reasoning)"
_BEGIN = re.compile(rf"<{_REASONING}>|\[THINK\]", re.IGNORECASE)
_END = re.compile(rf"</{_REASONING}>|\[/THINK\]|<\|channel\|>final<\|message\|>", re.IGNORECASE)
"""How reasoning models mark what comes before their answer, where the server does not take it out."""


def without_reasoning(text: str) -> str:
    """The text behind what a model marks as its reasoning: a mark without an end hides all that follows it, an end
    without a beginning all before it. A text that is one JSON document has no such marks, only words like them."""
    ends = [match.end() for match in _END.finditer(text)]
    answer = text[ends[-1] :] if ends else text
    begin = _BEGIN.search(answer)
    if (not ends and begin is None) or _loaded(text) is not None:
        return text
    return answer[: begin.start()] if begin else answer


def without_echo(text: str, prompt: str) -> str:
    """The text without the lines of the prompt, where it repeats a long one: a model that gives its prompt back gives
    the prompt's examples back with it. A short line alone (an empty document) may well be an answer."""
    asked = {line.strip() for line in prompt.splitlines()}
    lines = text.splitlines()
    if not any(len(line.strip()) >= MIN_ECHO_CHARACTERS and line.strip() in asked for line in lines):
        return text
    return "\n".join(line for line in lines if line.strip() not in asked)


def documents(text: str) -> Iterator[Document]:
    """Every complete JSON object in a text that is in no other one, in order."""
    at = text.find("{")
    while at >= 0:
        try:
            document, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield document
        at = text.find("{", end)


def fitting_documents(text: str, fits: Callable[[Document], bool]) -> list[Document]:
    """The complete objects of a text that fit, in order: each by itself, or the first value of one that does not."""
    found = []
    for document in documents(text):
        inner = (value for value in document.values() if isinstance(value, dict))
        found += [one for one in (document, *inner) if fits(one)][:1]
    return found


def last_document(text: str, fits: Callable[[Document], bool]) -> Document | None:
    """The last of them; None where none fits."""
    return next(reversed(fitting_documents(text, fits)), None)


def whole_document(text: str) -> Document | None:
    """The object that a text consists of; None where it is anything else."""
    found = _loaded(text)
    return found if isinstance(found, dict) else None


def _loaded(text: str) -> Any:
    try:
        return _DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        return None


def _filled(pairs: list[tuple[str, Any]]) -> Document:
    """An object; of keys that come twice the first value that is not empty."""
    found: Document = {}
    for key, value in pairs:
        if not found.get(key):
            found[key] = value
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_filled)
