"""Pages of activities as Google Takeout writes them, read cell by cell into the entries that the same export has as
JSON.

    <div class="outer-cell …"><p class="mdl-typography--title">Gemini Apps<br></p>
      <div class="content-cell …">Prompted&nbsp;TEXT<br>Mar 5, 2026, 6:20:11 PM CET<br><p>ANSWER</p></div></div>

The time is written in the language of the account: dateparser reads it.
"""

import codecs
import re
from collections.abc import Iterator
from datetime import datetime
from html import escape
from html.parser import HTMLParser

from em_pipelines.landing.formats.base import Fields, Rejected, iso_or_none
from em_pipelines.landing.formats.html_text import closed_tags, text_of_html
from em_pipelines.landing.formats.whatsapp_lines import BUDDHIST_ERA, FIRST_BUDDHIST_YEAR
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import Reason
from em_pipelines.landing.settings import DateOrder

_BREAK = re.compile(r"(?i)<br\s*/?>")
_CLOCK = re.compile(r"\d{1,2}[:.]\d\d[:.]\d\d")
_YEAR = re.compile(r"\b\d{4}\b|\d{4}年")
_EAST_ASIAN = re.compile(r"(\d{4})[年년] ?(\d{1,2})[月월] ?(\d{1,2})[日일]")
_ZONE_FIRST = re.compile(r"(GMT[+-]\d{1,2}(?::\d\d)?) (.*\d{1,2}[:.]\d\d[:.]\d\d.*)$")
"""Chinese writes the zone before the clock; read there it would hide the clock."""
_OPEN_ORDER = re.compile(r"\b\d{1,2}[/-]\d{1,2}[/-]\d{4}\b")
_MAX_TAG_CHARACTERS = 16_384
_MAX_TIME_CHARACTERS = 60
_VOID = frozenset(["br", "img", "hr", "input", "meta", "link", "wbr", "source"])
_ADDRESS = re.compile(r'href="([^"]*/app/[\w-]+)"')


def is_activity_page(text: str) -> bool:
    """Whether a file begins as such a page does."""
    start = text.lstrip()[:200].casefold()
    return start.startswith(("<html", "<!doctype html")) and ("mdl-typography" in text or "material-design" in text)


def html_entries(file: InputFile) -> Iterator[tuple[int, Fields] | Rejected]:
    """The entries of a page with their numbers, read some of it at a time."""
    page, number, text = _Page(), 0, ""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for line in file.lines(keep_blank=True):
        if line.reason is not None:
            yield Rejected(line.number, line.reason, line.detail, line.raw)
            continue
        text = closed_tags(text + decoder.decode(line.raw + b"\n"))
        end = text.rfind("<") if text.rfind("<") > text.rfind(">") else len(text)
        if len(text) - end > _MAX_TAG_CHARACTERS:  # it is none
            text, end = f"{text[:end]}&lt;{text[end + 1 :]}", len(text) + len("&lt;") - 1
        page.feed(text[:end])
        text = text[end:]
        for header, cell in page.take():
            number += 1
            yield number, _entry(header, cell, file.settings.date_order)
    if not number:
        detail = f"{file.path.name} holds no activity in cells, as pages of Google Takeout do"
        yield Rejected(1, Reason.MISSING_FIELD, detail, file.head[: file.settings.max_letter_bytes])


class _Page(HTMLParser):
    """Collects header and first content cell of each activity, as HTML."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._done: list[tuple[str, str]] = []
        self._header: list[str] | None = None
        self._title = ""
        self._cell: list[str] | None = None
        self._depth = 0

    def take(self) -> list[tuple[str, str]]:
        """The activities that have ended since the last time."""
        done, self._done = self._done, []
        return done

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._cell is not None:
            self._cell.append(self.get_starttag_text() or "")
            self._depth += tag not in _VOID
            return
        classes = (dict(attrs).get("class") or "").split()
        if "mdl-typography--title" in classes:
            self._header = []
        elif (
            "content-cell" in classes and "mdl-typography--body-1" in classes and not any("right" in c for c in classes)
        ):
            self._cell, self._depth = [], 1

    def handle_endtag(self, tag: str) -> None:
        if self._header is not None and tag == "p":
            self._title, self._header = "".join(self._header).strip(), None
        if self._cell is None:
            return
        self._depth -= tag not in _VOID
        if self._depth <= 0:
            self._done.append((self._title, "".join(self._cell)))
            self._cell = None
        else:
            self._cell.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(escape(data))
        elif self._header is not None:
            self._header.append(data)


def _entry(header: str, cell: str, order: DateOrder | None) -> Fields:
    """An activity as in JSON: what stands before the time was asked, what stands behind it was answered."""
    pieces = _BREAK.split(cell)
    texts = [text_of_html(piece) for piece in pieces]
    place = next((i for i, text in enumerate(texts) if _is_time(text)), len(pieces))
    address = _ADDRESS.search("".join(pieces[:place]))
    at = _parsed(texts[place], order) if place < len(pieces) else None
    answer = "<br>".join(pieces[place + 1 :])
    return {
        "header": header,
        "title": "\n".join(text for text in texts[:place] if text),
        "titleUrl": address[1] if address else None,
        "time": iso_or_none(at),
        "safeHtmlItem": [{"html": answer}] if answer.strip() else [],
    }


def _is_time(text: str) -> bool:
    is_short = len(text) <= _MAX_TIME_CHARACTERS
    return is_short and _CLOCK.search(text) is not None and _YEAR.search(text) is not None


def _parsed(text: str, order: DateOrder | None) -> datetime | None:
    """The time; None where its day and month can be either and no order is set."""
    import dateparser  # type: ignore[import-untyped]  # noqa: PLC0415  (50 ms, and only pages need it)

    plain = " ".join(_EAST_ASIAN.sub(r"\1/\2/\3 ", text).split())
    plain = _ZONE_FIRST.sub(r"\2 \1", plain)
    if _OPEN_ORDER.search(plain) and order is None:
        return None
    chosen = order.upper() if order and _OPEN_ORDER.search(plain) else "DMY"  # dots are of languages with the day first
    parts = ["day", "month", "year"]  # else the month of today stands for one whose name is not known
    settings = {"RETURN_AS_TIMEZONE_AWARE": True, "TIMEZONE": "UTC", "DATE_ORDER": chosen, "REQUIRE_PARTS": parts}
    # Without its vowel signs, which normalizing takes off, a Thai month is another one.
    found = dateparser.parse(plain, settings={**settings, "NORMALIZE": False}) or dateparser.parse(
        plain, settings=settings
    )
    if isinstance(found, datetime) and found.year > FIRST_BUDDHIST_YEAR:
        found = found.replace(year=found.year - BUDDHIST_ERA)
    return found if isinstance(found, datetime) else None
