"""Which activities of Gemini are prompts, and what of their titles the user has typed.

The title of a prompt is what was typed inside a frame in the language of the account: `Prompted TEXT`, `Eingegebener
Prompt: TEXT`, `「TEXT」と入力`. Other activities (feedback, settings) have titles, too. What was answered or had a
file attached is a prompt for certain. The frame is what those have in common, and what carries it is a prompt,
answered or not. No words of any language are listed but the English ones, which tell even in a file with one entry.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

_ENGLISH = "Prompted "
_MIN_TITLES = 3
"""So many prompts that begin or end alike have a frame; two are enough where the frame ends in a colon or a quote."""
_MIN_SHARE = 0.8
_MIN_SHARE_UNANSWERED = 0.5
"""In a file without answers prompts and other activities cannot be told apart before the frame is known."""
_MAX_FRAME_CHARACTERS = 80
_BOUNDARY = re.compile(r"[\W_]")
_MARK = re.compile(r"[:：\"“„«「『‘]\s*$")


@dataclass(slots=True)
class Titles:
    """The titles of one file. Everything is added before the first question."""

    _certain: dict[str, None] = field(default_factory=dict)
    _others: Counter[str] = field(default_factory=Counter)
    _frame: tuple[str, str] | None = None
    _leads: frozenset[str] = frozenset()

    def add(self, title: str, *, is_certain: bool) -> None:
        """Takes in one more title; `is_certain`: it was answered, or a file was attached."""
        text = _plain(title)
        if is_certain or _is_english(text):
            self._certain.setdefault(text)
        else:
            self._others[text] += 1

    def is_prompt(self, title: str, product: object) -> bool:
        """Whether an activity is a prompt. Where nothing tells the frame, all are but those that name the product or
        recur word for word: rather a line too many than the user's words lost."""
        text = _plain(title)
        if text in self._certain:
            return True
        prefix, suffix = self._known_frame()
        if prefix or suffix:
            return _has(text, prefix, suffix) or _lead(text) in self._leads
        return self._others[text] == 1 and not (isinstance(product, str) and product and product in text)

    def typed(self, title: str) -> str:
        """What the user has typed: the title without its frame."""
        text = title.strip()
        plain, (prefix, suffix) = _plain(text), self._known_frame()
        if plain == prefix.strip():  # a file was sent without words
            return ""
        # The plain form differs from the title in the kind of white space alone.
        return text[len(prefix) : len(text) - len(suffix)].strip() if _has(plain, prefix, suffix) else text

    def _known_frame(self) -> tuple[str, str]:
        if self._frame is None:
            self._frame = self._found_frame()
        return self._frame

    def _found_frame(self) -> tuple[str, str]:
        certain, others = list(self._certain), list(self._others)
        leads = frozenset(map(_lead, certain))
        if any(map(_is_english, certain)):
            prefix, suffix = _ENGLISH, ""
        elif certain:
            alike = [*certain, *(text for text in others if _lead(text) in leads)]
            prefix = _shared(alike, _beginnings)
            suffix = _shared(alike, _endings) if not prefix or _MARK.search(prefix) else ""
        else:
            prefix, suffix = _shared(others, _beginnings, _MIN_SHARE_UNANSWERED), ""
        self._leads = leads if prefix or suffix else frozenset()
        return prefix, suffix


def _is_english(text: str) -> bool:
    return text.startswith(_ENGLISH) or text == _ENGLISH.strip()


def _plain(title: str) -> str:
    return re.sub(r"\s", " ", title.strip())


def _has(text: str, prefix: str, suffix: str) -> bool:
    return text.startswith(prefix) and text.endswith(suffix) and len(text) > len(prefix) + len(suffix)


def _lead(text: str) -> str:
    """The first word with the mark behind it."""
    return next(_beginnings(text), "")


def _shared(texts: list[str], cuts: Callable[[str], Iterator[str]], min_share: float = _MIN_SHARE) -> str:
    """The longest beginning (or end) up to a boundary of words that most of the titles have; empty if none."""
    counts = Counter(cut for text in texts for cut in cuts(text))
    wanted = min_share * len(texts)
    common = [cut for cut, n in counts.items() if n >= max(2, wanted) and (n >= _MIN_TITLES or _MARK.search(cut))]
    return max(common, key=len, default="")


def _beginnings(text: str) -> Iterator[str]:
    for boundary in _BOUNDARY.finditer(text, 0, _MAX_FRAME_CHARACTERS):
        if boundary.end() < len(text):
            yield text[: boundary.end()]


def _endings(text: str) -> Iterator[str]:
    for boundary in _BOUNDARY.finditer(text, max(1, len(text) - _MAX_FRAME_CHARACTERS)):
        if text[boundary.end() :].strip(".!?"):  # a mark that many prompts end with is the user's
            yield text[boundary.start() :]
