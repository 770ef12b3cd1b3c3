"""Tokens and sentences: words, numbers and marks with their spans, their classes, and where sentences end.

Contractions come apart; spans stay those of the text. The closed classes of words are bits, one dictionary lookup a
token; their lists are data (`language/en/word_lists/`), of which only the regular verbs are inflected here.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from operator import itemgetter

from em_pipelines.language.cleaning import CODE_MARK, MARKS, is_capital
from em_pipelines.language.en.lexicon import load_lexicon, words
from em_pipelines.language.sentences import sentences as sentence_spans
from em_pipelines.language.sentences import without_marks

CLASS_NAMES = (
    "determiners", "quantifiers", "possessives", "first_person", "subject_pronouns", "object_pronouns", "relatives",
    "wh_words", "prepositions", "conjunctions", "subordinators", "adverbs", "negations", "be", "have", "do", "modals",
    "titles", "weekdays", "months", "numbers", "demonstratives", "boundaries", "conditional", "contrast",
)  # fmt: skip
_BITS = {name: 1 << n for n, name in enumerate(CLASS_NAMES)}

DET = _BITS["determiners"]
QUANT = _BITS["quantifiers"]
POSS = _BITS["possessives"]
SUBJECT = _BITS["subject_pronouns"]
OBJECT = _BITS["object_pronouns"]
RELATIVE = _BITS["relatives"]
WH = _BITS["wh_words"]
PREP = _BITS["prepositions"]
CONJ = _BITS["conjunctions"]
SUBORD = _BITS["subordinators"]
ADV = _BITS["adverbs"]
NEG = _BITS["negations"]
BE = _BITS["be"]
HAVE = _BITS["have"]
DO = _BITS["do"]
MODAL = _BITS["modals"]
TITLE = _BITS["titles"]
WEEKDAY = _BITS["weekdays"]
MONTH = _BITS["months"]
NUMBER = _BITS["numbers"]
CONDITION = _BITS["conditional"]
CONTRAST = _BITS["contrast"]
BOUNDARY = _BITS["boundaries"]
PUNCT = 1 << len(CLASS_NAMES)
AUX = BE | HAVE | DO | MODAL
NOT_IN_PHRASE = (
    SUBJECT | OBJECT | RELATIVE | WH | PREP | CONJ | SUBORD | NEG | AUX | DET | POSS | BOUNDARY | PUNCT | CONTRAST
)
"""Words of these classes never stand inside a noun phrase (its determiners come before it)."""

BASE, S_FORM, PAST, PARTICIPLE, ING = 1, 2, 4, 8, 16
FINITE = BASE | S_FORM | PAST


_PASSAGE = re.compile(r"\"[^\"\n]{2,300}\"|“[^”\n]{2,300}”|(?<![\w'])'(?=\w)(?:[^'\n]|(?<=\w)'(?=\w)){2,300}'(?!\w)")


def _word_bits() -> dict[str, int]:
    bits: dict[str, int] = {}
    for name, bit in _BITS.items():
        for word in words("words", name):
            bits[word] = bits.get(word, 0) | bit
    return bits


def _inflected(base: str, doubling: frozenset[str]) -> tuple[str, str, str]:
    """The -s, -ed and -ing forms of a regular verb."""
    ends_in_y = base.endswith("y") and base[-2] not in "aeiou"
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        s_form = base + "es"
    else:
        s_form = base[:-1] + "ies" if ends_in_y else base + "s"
    if base in doubling:
        stem = base + base[-1]
        return s_form, stem + "ed", stem + "ing"
    if base.endswith("ie"):
        return s_form, base + "d", base[:-2] + "ying"
    if base.endswith("e"):
        keeps_e = base.endswith(("ee", "ye", "oe"))
        return s_form, base + "d", (base if keeps_e else base[:-1]) + "ing"
    return s_form, base[:-1] + "ied" if ends_in_y else base + "ed", base + "ing"


def _verb_forms() -> dict[str, dict[str, int]]:
    """Form → {lemma: forms it can be}."""
    verbs = load_lexicon("verbs")
    doubling = words("verbs", "doubling")
    irregular: dict[str, str] = verbs["irregular"]
    forms: dict[str, dict[str, int]] = {}

    def add(form: str, lemma: str, kind: int) -> None:
        kinds = forms.setdefault(form, {})
        kinds[lemma] = kinds.get(lemma, 0) | kind

    # In order: of a form of several verbs the first is taken, and that may not hang on how sets are hashed.
    for base in sorted(words("verbs", "regular") | irregular.keys()):
        s_form, past, ing = _inflected(base, doubling)
        add(base, base, BASE)
        add(s_form, base, S_FORM)
        add(ing, base, ING)
        if base in irregular:
            past, participle = irregular[base].split()
            add(past, base, PAST)
            add(participle, base, PARTICIPLE)
        else:
            add(past, base, PAST | PARTICIPLE)
    add("born", "bear", PARTICIPLE)
    add("learned", "learn", PAST | PARTICIPLE)
    for form, lemma, kind in (("has", "have", S_FORM), ("'ve", "have", BASE), ("n't", "be", 0)):
        add(form, lemma, kind)
    del forms["n't"]
    return forms


WORD_BITS = _word_bits()
VERB_FORMS = _verb_forms()
ALSO_NOUNS = words("verbs", "also_nouns")
NOT_ADVERBS = words("words", "not_adverbs")
EVALUATIVE = words("words", "evaluative")
MEASURE_NOUNS = words("words", "measure_nouns")
VERB_SUBJECTS = words("words", "verb_subjects")


def bits_of(low: str) -> int:
    """The classes of a word, case-folded: what is listed, and `-ly` words as adverbs."""
    bits = WORD_BITS.get(low)
    if bits is None:
        bits = ADV if low.endswith("ly") and len(low) > 4 and low not in NOT_ADVERBS else 0
        if low.isdigit():
            bits |= NUMBER
    return bits


_LETTERS = rf"[^\W_](?:[^\W_]++|[{MARKS}]++)*+"
_TOKEN = re.compile(
    r"(?-i:[a-zA-Z]++(?=[ ,\n]))"
    r"|(?:mr|mrs|ms|dr|prof|st|jr|sr)\.(?=\s)|(?:[A-Z]\.){1,5}(?=[A-Z\s,;]|$)|\d+(?:[.,:/-]\d+)+(?:st|nd|rd|th|am|pm)?"
    rf"|{_LETTERS}(?:[.'/&+@_\u05be-]{_LETTERS})*(?:\+{{1,2}}|\#)?|\n|" + CODE_MARK + r"+|[^\s\w]|_",
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
_CLOSING = ".!?…。！？।؟\n"


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


def token_at(tokens: list[Token], i: int, stop: int) -> Token | None:
    """The token at i, None from `stop` on."""
    return tokens[i] if i < stop else None


def low_at(tokens: list[Token], i: int, stop: int) -> str:
    """What the token at i reads, case-folded; empty from `stop` on."""
    return tokens[i].low if i < stop else ""


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
    return (low, is_capital(word), _looked_up(low)) if is_plain else None


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
    for offset, spans in _words(text):
        for start, end, word, plain in spans:
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
    if low == "of" and _ends_with_hedge(tokens):
        tokens[-1] = Token("kinda", tokens[-1].start, end, False)
        return
    if low == "than" and _ends_with_comparative(tokens):
        tokens[-1].bits = ADV
    if low in _SPLIT and _split_known(tokens, low, start, end, word):
        return
    tokens.append(Token(low, start, end, is_capital(word)))


def _ends_with_hedge(tokens: list[Token]) -> bool:
    """`I sort`, before `of`."""
    return len(tokens) > 1 and tokens[-1].low in _HEDGING_NOUNS and bool(tokens[-2].bits & _BEFORE_HEDGE)


def _ends_with_comparative(tokens: list[Token]) -> bool:
    """`likes rye more`, before `than`."""
    return len(tokens) > 1 and tokens[-1].low in _COMPARED and not tokens[-2].bits


def _split_ending(tokens: list[Token], low: str, start: int, end: int, word: str) -> bool:
    for ending in _ENDINGS:
        if low.endswith(ending) and len(low) > len(ending):
            cut = end - len(ending)
            tokens.append(Token(low[: -len(ending)], start, cut, is_capital(word)))
            tokens.append(Token(ending, cut, end, False))
            return True
    return False


def _split_known(tokens: list[Token], low: str, start: int, end: int, word: str) -> bool:
    parts = _SPLIT.get(low)
    if parts is None or (low == "id" and (word != low or (tokens and tokens[-1].bits & _NEVER_AFTER))):
        return False
    cut = start + min(len(parts[0]), end - start)
    tokens.append(Token(parts[0], start, cut, is_capital(word)))
    tokens.append(Token(parts[1], cut, end, False))
    return True


def sentences(tokens: list[Token], text: str) -> list[tuple[int, int]]:
    """Token ranges of sentences without the closing mark, and of the clauses that a semicolon or an ellipsis parts."""
    spans = [without_marks(text, span) for span in sentence_spans(text)]
    ranges: list[tuple[int, int]] = []
    start = 0
    for i, token in enumerate(tokens):
        if not token.bits & PUNCT or not (token.low in ";…" or _closes(token, spans)):
            continue
        if i > start:
            ranges.append((start, i))
        start = i + 1
    if start < len(tokens):
        ranges.append((start, len(tokens)))
    return ranges


def _closes(token: Token, spans: list[tuple[int, int]]) -> bool:
    """Whether a mark or line break stands behind the words of its sentence."""
    place = bisect_right(spans, token.start, key=itemgetter(0)) - 1
    return token.low in _CLOSING and (place < 0 or token.start >= spans[place][1])


def is_quoted(tokens: list[Token], text: str, i: int) -> bool:
    """Whether token i lies in a passage within quotation marks: other people's words."""
    at = tokens[i].start if i < len(tokens) else 0
    passages = _quoted_passages(text)
    n = bisect_left(passages, (at,)) - 1
    return n >= 0 and at < passages[n][1]


@lru_cache(maxsize=8)  # every clause of a message asks
def _quoted_passages(text: str) -> tuple[tuple[int, int], ...]:
    """Start and end of each passage within quotation marks, in order; they do not overlap."""
    return tuple(match.span() for match in _PASSAGE.finditer(text))
