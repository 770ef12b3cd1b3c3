"""What Google Takeout gives of Gemini: MyActivity.json, or the same as HTML.

    [{"header": "Gemini Apps", "title": "Prompted TEXT", "time": "2026-03-05T18:20:11.123Z",
      "products": ["Gemini Apps"], "safeHtmlItem": [{"html": ANSWER}], "attachedFiles": [NAME], "titleUrl": "https://gemini.google.com/app/ID"}]

An entry is a prompt and its answer, the newest first. Of one conversation are those with the same address; what has
none is of a conversation a day (UTC). They are numbered in the order of time, the prompt even, the answer odd: so the
file is read twice. Other products and what is no prompt are passed over. Line numbers are the entry's, from 1.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from em_pipelines.landing.formats.base import (
    Fields,
    Format,
    Ignored,
    Item,
    Parsed,
    Rejected,
    Sample,
    Source,
    dated,
    id_of,
    instant_of,
    iso_or_none,
    json_conversations,
    objects_of,
)
from em_pipelines.landing.formats.gemini_html import html_entries, is_activity_page
from em_pipelines.landing.formats.html_text import text_of_html
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import Skip

_PROMPTED = "Prompted"
_PRODUCT = re.compile(r"(?i)\b(?:gemini|bard)\b")
_CONVERSATION = re.compile(r"/app/([\w-]+)")
_MIN_TITLES = 3
"""So many prompts that begin alike begin with the word for prompting, in a language that is not known here."""
_IMAGE = re.compile(r"(?i)\.(?:png|jpe?g|webp|gif|heic|avif)$")


def sniff(sample: Sample) -> bool:
    """Whether it is a list of activities or a page of them."""
    if sample.text.lstrip()[:1] == "[":
        return sample.has("header", "title", "time", "products")
    return is_activity_page(sample.text)


def convert(file: InputFile, source: Source) -> Iterator[Item]:
    """Yields prompts and answers. Raises RuleError where the file cannot be read to its end."""
    order = _Order()
    for found in _entries(file):
        if not isinstance(found, Rejected):
            order.take(found[1])
    for found in _entries(file):
        if isinstance(found, Rejected):
            yield found
        else:
            yield from _items(*found, order, source)


def _entries(file: InputFile) -> Iterator[tuple[int, Fields] | Rejected]:
    is_list = file.head.lstrip()[:1] in (b"[", b"{")
    return json_conversations(file) if is_list else html_entries(file)


@dataclass(slots=True)
class _Order:
    """The prompts of each conversation in the order of time, and the words before and behind what was asked."""

    times: dict[str, list[datetime]] = field(default_factory=lambda: defaultdict(list))
    titles: list[str] = field(default_factory=list)
    is_sorted: bool = False
    n_same: dict[tuple[str, datetime], int] = field(default_factory=lambda: defaultdict(int))

    def take(self, entry: Fields) -> None:
        """Takes in one more entry."""
        if _why_not(entry) is None:
            at = instant_of(entry.get("time"))
            if at:
                self.times[_session(entry, at)].append(at)
            self.titles.append(entry["title"])

    def turn(self, session: str, at: datetime) -> int:
        """The number of the next entry of that time. What was asked in the same instant stands newest first, too."""
        if not self.is_sorted:
            for times in self.times.values():
                times.sort()
            self.is_sorted = True
        times = self.times[session]
        first = bisect_left(times, at)
        n_same = bisect_right(times, at) - first
        self.n_same[session, at] += 1
        return 2 * (first + n_same - self.n_same[session, at])

    def asked(self, title: str) -> str:
        """What was asked: the title without the word for prompting."""
        if title.startswith(_PROMPTED):
            return title.removeprefix(_PROMPTED).strip()
        if len(set(self.titles)) < _MIN_TITLES or any(one.startswith(_PROMPTED) for one in self.titles):
            return title
        first, last = min(self.titles), max(self.titles)
        n_same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
        return title[first.rfind(" ", 0, n_same) + 1 :].strip()


def _why_not(entry: Fields) -> Skip | None:
    """Why an entry is no prompt; None where it is one."""
    products = entry.get("products")
    names = [entry.get("header"), *(products if isinstance(products, list) else [])]
    if not any(isinstance(name, str) and _PRODUCT.search(name) for name in names):
        return Skip.OTHER_PRODUCT
    title = entry.get("title")
    if not isinstance(title, str):
        return Skip.EMPTY
    return None if title.startswith(_PROMPTED) or _answer(entry) else Skip.BOOKKEEPING


def _session(entry: Fields, at: datetime | None) -> str:
    found = _CONVERSATION.search(str(entry.get("titleUrl") or ""))
    return f"gemini/{found[1] if found else at.date().isoformat() if at else 'undated'}"


def _items(number: int, entry: Fields, order: _Order, source: Source) -> Iterator[Item]:
    why = _why_not(entry)
    if why:
        yield Ignored(number, why)
        return
    at = instant_of(entry.get("time"))
    session = _session(entry, at)
    turn = order.turn(session, at) if at else 2 * (number - 1)
    undated = f"entry {number}: expected a time; a date such as 5/3/2026 needs --date-order dmy or mdy"
    shared = {"user_id": source.user(), "session_id": session, "agent_id": "gemini", "source_format": "gemini"}
    asked = "\n".join(part for part in (order.asked(entry["title"]), *_attached(entry)) if part)
    prompt = {**shared, "turn_number": turn, "role": "user", "content": asked, "timestamp": iso_or_none(at)}
    yield dated(number, prompt, undated) if asked else Ignored(number)
    answer = _answer(entry)
    if answer and at:
        later = iso_or_none(at + timedelta(seconds=1))
        yield Parsed(
            number,
            "interactions",
            {**shared, "turn_number": turn + 1, "role": "assistant", "content": answer, "timestamp": later},
        )
    elif answer:
        reply = {**shared, "turn_number": turn + 1, "role": "assistant", "content": answer, "timestamp": None}
        yield dated(number, reply, undated)


def _answer(entry: Fields) -> str:
    pieces = [piece["html"] for piece in objects_of(entry.get("safeHtmlItem")) if isinstance(piece.get("html"), str)]
    return text_of_html("\n".join(pieces))


def _attached(entry: Fields) -> list[str]:
    found: list[Any] = []
    for name in ("attachedFiles", "imageFile", "audioFiles"):
        said = entry.get(name)
        found += said if isinstance(said, list) else [said]
    names = [id_of(one.get("name")) if isinstance(one, dict) else one for one in found]
    return ["[image]" if _IMAGE.search(name) else f"[attachment: {name}]" for name in names if isinstance(name, str)]


FORMAT = Format("gemini", sniff, convert)
