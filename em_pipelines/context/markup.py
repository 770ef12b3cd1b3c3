"""Text that was stored by anybody, made harmless to stand in the block.

Every name, fact and quote goes through `element`; nothing else writes a bracket. What XML forbids or a reader cannot
see is gone: control characters, surrogates, marks that turn the direction of writing, invisible letters. Line breaks
are blanks, so that whatever stands on a line of its own is the block's own.
"""

import re
import unicodedata
from collections.abc import Mapping

_PLAIN = re.compile("[ -~‘’“”–—…]*")
_SPACES = re.compile(r"\s+")
_MARKS = re.compile(
    r"([\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{3})[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)
"""Marks that stand on one letter, from the fourth on: no script needs them."""
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co"})
_JOINERS = "\u200c\u200d"
"""Persian and Indic scripts and emoji are written with them; within ASCII they only hide."""
_SELECTORS = re.compile(r"[\ufe00-\ufe0d]|[\U000e0100-\U000e01ef]|(?<=\ufe0f)\ufe0f+|(?<=\ufe0e)\ufe0e+")
_FILLERS = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]")
"""Letters and marks without a shape."""
_LOOKALIKES = str.maketrans({"＜": "<", "＞": ">", "﹤": "<", "﹥": ">", "＆": "&", "﹠": "&", "＂": '"', "＇": "'"})
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def plain(text: str) -> str:
    """The text on one line, of characters that are seen and that XML allows."""
    if _PLAIN.fullmatch(text) and "  " not in text:
        return text.strip()
    folded = _SPACES.sub(" ", text).translate(_LOOKALIKES)
    seen = "".join(c for n, c in enumerate(folded) if _is_seen(c) or (c in _JOINERS and _is_joining(folded, n)))
    return _SPACES.sub(" ", _MARKS.sub(r"\1", _FILLERS.sub("", _SELECTORS.sub("", seen)))).strip()


def escaped(text: str) -> str:
    """Plain text as the content of an element."""
    return plain(text).translate(_ESCAPES)


def element(name: str, text: str, attributes: Mapping[str, str | None] | None = None) -> str:
    """One element on a line of its own. `name` and names of attributes are ours; attributes of None are left out."""
    return f"{opening(name, attributes)}{escaped(text)}</{name}>\n"


def opening(name: str, attributes: Mapping[str, str | None] | None = None) -> str:
    """The opening tag of an element."""
    kept = {key: value for key, value in (attributes or {}).items() if value is not None}
    written = [f' {key}="{_quoted(value)}"' for key, value in kept.items()]
    return f"<{name}{''.join(written)}>"


def _quoted(text: str) -> str:
    return escaped(text).replace('"', "&quot;")


def _is_seen(character: str) -> bool:
    code = ord(character)
    is_noncharacter = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    return unicodedata.category(character) not in _INVISIBLE and not is_noncharacter


def _is_joining(text: str, n: int) -> bool:
    """Whether a joiner stands between two characters that it may join."""
    before, after = text[n - 1 : n], text[n + 1 : n + 2]
    return all(c and not c.isascii() and not c.isspace() and _is_seen(c) for c in (before, after))
