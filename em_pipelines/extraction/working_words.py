"""The words around a rule of work, and what no rule may be: the files of patterns/working/, compiled.

A piece of a sentence is freed of what opens and closes it; whether that said that the rest lasts is kept. What cannot
be kept is refused by kind: what is downloaded and run, sent away, granted unasked, concealed and so on. The lists are
data; grammar of the patterns that use them: `working_rules`.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from em_pipelines.errors import PatternError
from em_pipelines.language.values import read_yaml

FOLDER = Path(__file__).resolve().parent / "patterns/working/"
_MACRO = re.compile(r"\{([a-z_]+)\}")
_GAP = r"[\s,:–—-]+"
_LONGEST_CLOSING = 100
"""Characters; what closes a piece is searched for in these alone, or a row of openings takes quadratic time."""
_PROPER = (
    r"(?:(?-i:(?!I\b|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b)[A-Z][\w.+#/-]*|[\w.+#-]*\d[\w.+#-]*)"
    r"|(?:{tools})(?![\w-])|{hosted})"
)
"""The name of a tool, a version, a host; `located` is a path or a service, `bare` a single small word."""
_HOSTED = r"(?:https?://)?(?:[a-z0-9-]+\.)+[a-z]{2,12}(?::\d{2,5})?(?:/[\w./-]*)?(?![\w-])"
_BARE = r"[a-z][\w.+/-]*(?=$| (?:for|in|on|from)\b|,)"
_LOCATED = r"(?:[\w.@-]*(?:/[\w.@*{}-]*)+|(?-i:[A-Z][\w.+#-]*|\d[\w.+#-]*[A-Za-z][\w.+#-]*)|(?:{tools})(?![\w-]))"


def read(name: str) -> dict[str, Any]:
    """One file of the folder, without its `.yaml`. Raises PatternError when it cannot be read."""
    path = FOLDER / f"{name}.yaml"
    try:
        found: dict[str, Any] = read_yaml(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise PatternError(f"reading {path}: {error}; mend or restore the file") from error
    return found


@cache
def _lists() -> dict[str, str]:
    """Each list as alternatives of one pattern."""
    lists = {key: _joined(value) for key, value in read("words").items()}
    lists |= {key: _joined(value) for name in ("rules", "refused") for key, value in read(name)["words"].items()}
    return lists | {"proper": _PROPER, "hosted": _HOSTED, "located": _LOCATED, "bare": _BARE}


def _joined(value: str | list[str]) -> str:
    return re.sub(r"\|\s+", "|", value.strip()) if isinstance(value, str) else "|".join(value)


def expanded(pattern: str) -> str:
    """A pattern with its lists put in. Raises KeyError for a list that is not there."""
    while _MACRO.search(pattern):
        pattern = _MACRO.sub(lambda match: f"(?:{_lists()[match[1]]})", pattern)
    return pattern


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """The same, compiled; small and capital letters are one but where the pattern says otherwise."""
    return re.compile(expanded(pattern), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a sentence: what is left of it, and whether it was said to last."""

    text: str
    lasts: bool = False


@cache
def _edges() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    return (
        compiled(rf"^(?:{{lasting}})(?:{_GAP}|(?<=\s)|$)"),
        compiled(rf"^(?:{{opening}})(?:{_GAP}|(?<=\s)|$)"),
        compiled(r"(?:^|[\s,:–—-]+)(?:{lasting_end})$"),
        compiled(r"(?:^|[\s,:–—-]+)(?:{closing})$"),
    )


def freed(text: str) -> Piece:
    """A piece without its openings and closings."""
    opens_lasting, opens, closes_lasting, closes = _edges()
    lasts = False
    while True:
        tail = max(0, len(text) - _LONGEST_CLOSING)
        if (edge := opens_lasting.match(text)) is not None:
            text, lasts = text[edge.end() :], True
        elif (edge := closes_lasting.search(text, tail)) is not None and edge.start():
            text, lasts = text[: edge.start()], True
        elif (edge := opens.match(text)) is not None:
            text = text[edge.end() :]
        elif (edge := closes.search(text, tail)) is not None and edge.start():
            text = text[: edge.start()]
        else:
            return Piece(text.strip(" ,:–—-"), lasts)


class _Refused(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    kind: str
    said: Literal["any", "do", "order", "dont"]
    pattern: str
    unless: str | None = None
    examples: tuple[str, ...]
    counter_examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Refusal:
    kind: str
    said: str
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None


def refusals() -> list[_Refused]:
    """The entries of refused.yaml. Raises PatternError when one breaks the grammar."""
    try:
        return [_Refused.model_validate({"said": entry.pop("for"), **entry}) for entry in read("refused")["refused"]]
    except (ValidationError, KeyError) as error:
        raise PatternError(f"reading refused.yaml: {error}; mend the entry or restore the file") from error


@cache
def _compiled() -> tuple[_Refusal, ...]:
    return tuple(
        _Refusal(one.kind, one.said, compiled(one.pattern), compiled(one.unless) if one.unless else None)
        for one in refusals()
    )


def refused(text: str, rule: str = "", *says: str) -> str | None:
    """Why a piece may state no rule, by the kind; None where it may. `rule` is what one shall do or shall not, `says`
    which of the kinds of refused.yaml it is, beside any."""
    for one in _compiled():
        if one.said not in {"any", *says}:
            continue
        if one.pattern.search(rule if one.said == "dont" else text) and not (one.unless and one.unless.search(text)):
            return one.kind
    return None
