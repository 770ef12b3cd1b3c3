"""Tokens: words, numbers and marks with their spans; contractions come apart, spans stay those of the text."""

import re
from collections.abc import Iterator
from functools import lru_cache

from em_pipelines.extraction.cleaning import CODE_MARK
from em_pipelines.extraction.rules.word_classes import ADV, BE, DET, NUMBER, POSS, PUNCT, SUBJECT, VERB_FORMS, bits_of

_TOKEN = re.compile(
    r"(?-i:[a-zA-Z]++(?=[ ,\n]))"
    r"|(?:mr|mrs|ms|dr|prof|st|jr|sr)\.(?=\s)|(?:[A-Z]\.){1,5}(?=[A-Z\s,;]|$)|\d+(?:[.,:/-]\d+)+(?:st|nd|rd|th|am|pm)?"
    r"|[^\W_]+(?:[.'/&+@_-][^\W_]+)*(?:\+{1,2}|\#)?|\n|" + CODE_MARK + r"+|[^\s\w]|_",
    re.IGNORECASE,
)
"""The first branch reads nothing that a later one would read otherwise: it is there because most words are plain."""
_SPLIT = {
    "im": ("i", "'m"), "ive": ("i", "'ve"), "dont": ("do", "n't"), "doesnt": ("does", "n't"), "didnt": ("did", "n't"),
    "cant": ("ca", "n't"), "wont": ("wo", "n't"), "isnt": ("is", "n't"), "arent": ("are", "n't"),
    "wasnt": ("was", "n't"), "havent": ("have", "n't"), "hasnt": ("has", "n't"), "cannot": ("can", "not"),
    "wouldnt": ("would", "n't"),
    "gonna": ("going", "to"), "wanna": ("want", "to"), "gotta": ("got", "to"), "theyre": ("they", "'re"),
    "shes": ("she", "'s"), "hes": ("he", "'s"),
    "thats": ("that", "'s"), "youre": ("you", "'re"), "theres": ("there", "'s"),
    "werent": ("were", "n't"), "couldnt": ("could", "n't"), "shouldnt": ("should", "n't"), "whats": ("what", "'s"),
    "weve": ("we", "'ve"), "youve": ("you", "'ve"), "id": ("i", "'d"),
}  # fmt: skip
_HEDGING_NOUNS = frozenset({"kind", "sort"})
_BEFORE_HEDGE = SUBJECT | BE | ADV
"""`I sort of like it` hedges, `this sort of music` does not."""
_COMPARED = frozenset({"more", "better", "less"})
"""`likes rye more than spelt`: no part of the noun phrase before it."""
_NEVER_AFTER = DET | POSS
"""`my id` is a noun, `id like` a contraction."""
_ENDINGS = ("n't", "'m", "'re", "'ve", "'ll", "'d", "'s")

_Classes = tuple[int, dict[str, int] | None, int]
_Word = tuple[int, int, str, tuple[str, bool, _Classes] | None]
_LONG_PIECE = 40
"""Characters from which a piece between blanks is not worth keeping."""


class Token:
    """A word, number or mark. `low` is case-folded with straight apostrophes, `bits` its word classes.

    `verbs` are the verbs it may be a form of, `forms` all those forms together.
    """

    __slots__ = ("bits", "end", "forms", "is_capital", "low", "start", "verbs")

    def __init__(self, low: str, start: int, end: int, is_capital: bool, known: _Classes | None = None) -> None:
        self.low = low
        self.start = start
        self.end = end
        self.is_capital = is_capital
        self.bits, self.verbs, self.forms = known or _looked_up(low)

    def __repr__(self) -> str:
        return f"{self.low}[{self.start}:{self.end}]"


@lru_cache(maxsize=65536)
def _looked_up(low: str) -> _Classes:
    first = low[:1]
    if not first.isalnum() and (first != "'" or len(low) == 1) and low != "n't":
        return PUNCT, None, 0
    bits = bits_of(low)
    if first.isdigit():
        bits |= NUMBER
    verbs = VERB_FORMS.get(low)
    forms = 0
    for form in (verbs or {}).values():
        forms |= form
    return bits, verbs, forms


def _plain(word: str) -> tuple[str, bool, _Classes] | None:
    """The word in small letters, whether it has a capital, and its classes; None where its neighbours matter."""
    low = word.lower()
    is_plain = "'" not in low and low not in _SPLIT and low not in {"i.", "of", "than"}
    return (low, word[0].isupper(), _looked_up(low)) if is_plain else None


def _cut(piece: str) -> tuple[_Word, ...]:
    return tuple((*match.span(), match.group(), _plain(match.group())) for match in _TOKEN.finditer(piece))


_cut_before = lru_cache(maxsize=65536)(_cut)
"""No token goes across a blank, and the same few thousand pieces between blanks come again and again."""


def _words(text: str) -> Iterator[tuple[int, tuple[_Word, ...]]]:
    """Where each piece up to a blank begins, and its words, whose spans count from there."""
    offset = 0
    pieces = text.split(" ")
    last = pieces.pop()
    for piece in pieces:
        yield offset, _cut_before(piece + " ") if len(piece) < _LONG_PIECE else _cut(piece + " ")
        offset += len(piece) + 1
    yield offset, _cut(last)


def tokenise(text: str) -> list[Token]:
    """Splits text, in which apostrophes are straight, into tokens in order."""
    tokens: list[Token] = []
    for offset, words in _words(text):
        for start, end, word, plain in words:
            if plain is not None:
                tokens.append(Token(plain[0], offset + start, offset + end, plain[1], plain[2]))
            else:
                _take(tokens, offset + start, offset + end, word)
    return tokens


def _take(tokens: list[Token], start: int, end: int, word: str) -> None:
    """Adds a word that may come apart, or be another beside the words before it."""
    low = word.lower()
    if low == "i.":
        tokens.append(Token("i", start, end - 1, True))
        tokens.append(Token(".", end - 1, end, False))
        return
    if "'" in low and _split_ending(tokens, low, start, end, word):
        return
    if low == "of" and len(tokens) > 1 and tokens[-1].low in _HEDGING_NOUNS and tokens[-2].bits & _BEFORE_HEDGE:
        tokens[-1] = Token("kinda", tokens[-1].start, end, False)
        return
    if low == "than" and len(tokens) > 1 and tokens[-1].low in _COMPARED and not tokens[-2].bits:
        tokens[-1].bits = ADV
    if low in _SPLIT and _split_known(tokens, low, start, end, word):
        return
    tokens.append(Token(low, start, end, word[0].isupper()))


def _split_ending(tokens: list[Token], low: str, start: int, end: int, word: str) -> bool:
    for ending in _ENDINGS:
        if low.endswith(ending) and len(low) > len(ending):
            cut = end - len(ending)
            tokens.append(Token(low[: -len(ending)], start, cut, word[0].isupper()))
            tokens.append(Token(ending, cut, end, False))
            return True
    return False


def _split_known(tokens: list[Token], low: str, start: int, end: int, word: str) -> bool:
    parts = _SPLIT.get(low)
    if parts is None or (low == "id" and (word != low or (tokens and tokens[-1].bits & _NEVER_AFTER))):
        return False
    cut = start + min(len(parts[0]), end - start)
    tokens.append(Token(parts[0], start, cut, word[0].isupper()))
    tokens.append(Token(parts[1], cut, end, False))
    return True
