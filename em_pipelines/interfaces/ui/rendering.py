"""Pages from templates. Everything that is put in is text, and is escaped: a name is shown as it was said."""

import re
from collections.abc import Mapping
from datetime import date, datetime
from functools import cache
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from em_pipelines.interfaces.ui.wording import first_fields, hedge, other_fields, plain, with_code
from em_pipelines.language.counting import counted

LONGEST_LINE = 160
HIDDEN = re.compile("[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that turn the direction of what stands after them."""


def link(path: str, **args: object) -> str:
    """An address below ours; what has no value is left out."""
    said = {name: value for name, value in args.items() if value not in (None, "", False)}
    return f"{path}?{urlencode(said)}" if said else path


def words(value: object) -> str:
    """A name of the tables as words."""
    return str(value).replace("_", " ")


def instant(value: datetime | date | str | None) -> str:
    """A moment to the minute, by UTC; a day as it is."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value[:16].replace("T", " ")
    return f"{value:%Y-%m-%d %H:%M}" if isinstance(value, datetime) else value.isoformat()


def short(value: object, n: int = LONGEST_LINE) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(str(value).split())
    return line if len(line) <= n else f"{line[: n - 1]}…"


def visible(value: object) -> object:
    """A text without characters that nobody sees and that change what others see; anything else as it is."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value  # of what is markup already, each part has come by here
    return HIDDEN.sub("\ufffd", value)


def said(fact: Mapping[str, Any]) -> str:
    """A fact as a sentence of its parts; an observation as it was said, with whose it is and its kind."""
    if "kind" in fact and "text" in fact:
        return f"{fact['subject']}, {fact['kind']}: {fact['text']}"
    negation = "not " if (fact.get("polarity") or 1) < 0 else ""
    return f"{fact['subject']} {negation}{words(fact['relation'])} {fact['object']}"


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("em_pipelines.interfaces.ui", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: "" if value is None else visible(value),
    )
    made.filters.update(words=words, instant=instant, short=short, said=said, plain=plain, hedge=hedge)
    made.filters.update(
        with_code=lambda text: with_code(visible(text)), first_fields=first_fields, other_fields=other_fields
    )
    made.globals.update(link=link, counted=counted)
    return made


def render(template: str, shown: Mapping[str, Any]) -> str:
    """A page. Raises jinja2's errors for a template that asks for what is not there."""
    return _environment().get_template(template).render(shown)
