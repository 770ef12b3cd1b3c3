"""The JSON documents in the text of an answer: models reason before them, explain them and add others behind them.

What is read is the first complete document that fits; nothing behind it changes it. What a document has to hold is the
reader's to say.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

Document = dict[str, Any]
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


def first_document(text: str, fits: Callable[[Document], bool]) -> Document | None:
    """The first complete object of a text that fits, by itself or as a value of one that does not; None without one."""
    for document in documents(text):
        inner = (value for value in document.values() if isinstance(value, dict))
        found = next((one for one in (document, *inner) if fits(one)), None)
        if found is not None:
            return found
    return None


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
