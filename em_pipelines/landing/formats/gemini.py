"""What Google Takeout gives of Gemini: MyActivity.json, or the same as HTML.

    [{"header": "Gemini Apps", "title": "Prompted TEXT", "time": "2026-03-05T18:20:11.123Z",
      "products": ["Gemini Apps"], "safeHtmlItem": [{"html": ANSWER}], "attachedFiles": [NAME], "titleUrl": "https://gemini.google.com/app/ID"}]

An entry is a prompt and its answer, the newest first. Of one conversation are those with the same address; what has
none is of a conversation a day (UTC). They are numbered in the order of time, the prompt even, the answer odd. Which
entries are prompts the titles of the whole file tell (`gemini_titles`). So the file is read twice, and the few fields
that decide it are held. Other products and what is no prompt are skipped. Line numbers are the entry's, from 1.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from operator import itemgetter
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
from em_pipelines.landing.formats.gemini_titles import Titles
from em_pipelines.landing.formats.html_text import text_of_html
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import Skip

_PRODUCT = re.compile(r"(?i)(?<![a-z])(?:gemini|bard)(?![a-z])")
"""Without boundaries of words: in Japanese the name stands in the middle of one."""
_CONVERSATION = re.compile(r"/app/([\w-]+)")
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
    """The prompts of each conversation in the order of time."""

    titles: Titles = field(default_factory=Titles)
    times: dict[str, list[datetime]] = field(default_factory=lambda: defaultdict(list))
    n_same: dict[tuple[str, datetime], int] = field(default_factory=lambda: defaultdict(int))
    _taken: list[tuple[str, Any, str, datetime]] = field(default_factory=list)

    def take(self, entry: Fields) -> None:
        """Takes in one more entry."""
        title, at = entry.get("title"), instant_of(entry.get("time"))
        if not _is_of_gemini(entry) or not isinstance(title, str):
            return
        self.titles.add(title, is_certain=bool(_answer(entry) or _attached(entry)))
        if at:
            self._taken.append((title, entry.get("header"), _session(entry, at), at))

    def why_not(self, entry: Fields) -> Skip | None:
        """Why an entry is no prompt; None where it is one."""
        if not _is_of_gemini(entry):
            return Skip.OTHER_PRODUCT
        title = entry.get("title")
        if not isinstance(title, str):
            return Skip.EMPTY
        return None if self.titles.is_prompt(title, entry.get("header")) else Skip.BOOKKEEPING

    def turn(self, session: str, at: datetime) -> int:
        """The number of the next entry of that time. What was asked in the same instant stands newest first, too."""
        if not self.times:
            for taken, product, taken_session, taken_at in sorted(self._taken, key=itemgetter(3)):
                if self.titles.is_prompt(taken, product):
                    self.times[taken_session].append(taken_at)
            self._taken.clear()
        times = self.times[session]
        first = bisect_left(times, at)
        n_same = bisect_right(times, at) - first
        self.n_same[session, at] += 1
        return 2 * (first + n_same - self.n_same[session, at])


def _is_of_gemini(entry: Fields) -> bool:
    products = entry.get("products")
    names = [entry.get("header"), *(products if isinstance(products, list) else [])]
    return any(isinstance(name, str) and _PRODUCT.search(name) for name in names)


def _session(entry: Fields, at: datetime | None) -> str:
    found = _CONVERSATION.search(str(entry.get("titleUrl") or ""))
    return f"gemini/{found[1] if found else at.astimezone(UTC).date().isoformat() if at else 'undated'}"


def _items(number: int, entry: Fields, order: _Order, source: Source) -> Iterator[Item]:
    why = order.why_not(entry)
    if why:
        yield Ignored(number, why)
        return
    at = instant_of(entry.get("time"))
    session = _session(entry, at)
    turn = order.turn(session, at) if at else 2 * (number - 1)
    undated = f"entry {number}: expected a time; a date such as 5/3/2026 needs --date-order dmy or mdy"
    shared = {"user_id": source.user(), "session_id": session, "agent_id": "gemini", "source_format": "gemini"}
    asked = "\n".join(part for part in (order.titles.typed(entry["title"]), *_attached(entry)) if part)
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
