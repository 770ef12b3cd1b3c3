"""Stored text and confidence in words for Markdown: nothing that was said can break out of the line it stands in."""

import re
import unicodedata

import orjson

BANDS = ((0.85, "sure"), (0.60, "likely"), (0.40, "perhaps"), (0.0, "faint"))
"""From which effective confidence a fact is told in which word; the bands are those by which agents are to read it."""
JOINERS = "\u200c\u200d"
"""They shape emoji and the letters of some scripts, and hide nothing."""
_MARKS = re.compile(r"[\\`*_{}\[\]#|~$=^%!]|:(?=[:/])|(?<=www)\.", re.IGNORECASE)
_REFERENCES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def confidence_word(confidence: float) -> str:
    """The word for an effective confidence, 0 to 1."""
    return next(word for least, word in BANDS if confidence >= least)


def plain(text: str) -> str:
    """Text as Markdown that shows just this text, on one line: no link, image, tag, comment, code or HTML."""
    escaped = _MARKS.sub(lambda match: f"\\{match.group()}", one_line(text))
    return re.sub("[&<>]", lambda match: _REFERENCES[match.group()], escaped)


def quoted(value: object) -> str:
    """A value for the head of a note, in JSON, which YAML reads as well; texts on one line and without controls."""
    if isinstance(value, list):
        return f"[{', '.join(map(quoted, value))}]"
    return orjson.dumps(one_line(value) if isinstance(value, str) else value).decode()


def one_line(text: str) -> str:
    """Text without line breaks and controls, nor format characters that turn around or hide what is read; runs of
    blanks are one."""
    return " ".join("".join(" " if c.isspace() else "" if _is_unseen(c) else c for c in text).split())


def _is_unseen(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cf", "Cs"} and character not in JOINERS
