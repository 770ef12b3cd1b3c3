"""The text of HTML as exports write it: paragraphs, lists and tables line by line, code in fences."""

import re
from html.parser import HTMLParser

_BLOCKS = frozenset(
    ["p", "div", "br", "hr", "ul", "ol", "li", "table", "tr", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6"]
)
_OPEN = re.compile(r"<(?=[^<>]*<)")
"""Begins a tag that does not end before the next: the parser's time is quadratic in them."""
_HIDDEN = frozenset(["script", "style", "head", "template"])


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0
        self._n_fences = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002  (the library's)
        self._hidden += tag in _HIDDEN
        if tag == "pre":
            self._n_fences += 1
            self.parts.append("\n```\n")
        elif tag in _BLOCKS:
            self.parts.append("\n- " if tag == "li" else "\n")
        elif tag in ("td", "th"):
            self.parts.append(" | ")

    def handle_endtag(self, tag: str) -> None:
        self._hidden = max(0, self._hidden - (tag in _HIDDEN))
        if tag == "pre" and self._n_fences:
            self._n_fences -= 1
            self.parts.append("\n```\n")
        elif tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data if self._n_fences else re.sub(r"\s+", " ", data))


def closed_tags(html: str) -> str:
    """The same with what begins a tag that has no end written as text."""
    return _OPEN.sub("&lt;", html)


def text_of_html(html: str) -> str:
    """The text of a piece of HTML, without empty lines more than one at a time."""
    parser = _Text()
    parser.feed(closed_tags(html))
    parser.close()
    lines = [line.strip(" |") if "|" in line else line.strip(" ") for line in "".join(parser.parts).split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
