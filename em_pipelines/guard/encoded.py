"""Text written so that people cannot read it and models can: base64, hex, escapes, rot13, spelled or leet letters.

`hidden_texts` finds what decodes to prose and gives it back with its place; `disguised` gives the readings of a text
whose letters stand for other letters, each as long as the text. What the prose says is judged by the caller.
"""

import base64
import binascii
import codecs
import re
from collections.abc import Callable, Iterator
from html import unescape
from urllib.parse import unquote

from em_pipelines.guard.passages import Span
from em_pipelines.guard.phrases import signs_of
from em_pipelines.language.masking import decoded, readable

MIN_LETTER_SHARE = 0.7
MIN_OPAQUE_CHARACTERS = 40
"""A word so long, of letters and digits mixed, is nothing a person reads."""
MIN_BASE64_CHARACTERS, MIN_BASE32_CHARACTERS, MIN_MORSE_LETTERS = 16, 24, 13
"""What the patterns below ask for; a text without so much is not searched."""

_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{16,8000}={0,2}(?![A-Za-z0-9+/_=-])")
_HEX = re.compile(r"(?<![A-Za-z0-9])(?:0x)?[0-9A-Fa-f]{2}(?:[ :,]?(?:0x|\\x)?[0-9A-Fa-f]{2}){11,2000}(?![A-Za-z0-9])")
_ESCAPES = re.compile(r"(?:%[0-9A-Fa-f]{2}|\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|&#x?[0-9A-Fa-f]{2,6};)")
_ESCAPED_RUN = re.compile(rf"(?:{_ESCAPES.pattern}[\w .,:-]{{0,3}}){{8,2000}}")
_ENTITY = re.compile(r"&(?:lt|gt|quot|amp|apos|nbsp|lbrace|lbrack|colon);")
_LINE = re.compile(r"[^\n]{1,2000}")
_OCTETS = re.compile(r"(?<!\d)[01]{8}(?:[ ,]?[01]{8}){4,1000}(?!\d)")
_DECIMALS = re.compile(r"(?<!\d)\d{2,3}(?:[ ,]{1,2}\d{2,3}){9,1000}(?!\d)")
_BASE32 = re.compile(r"(?<![A-Za-z0-9])[A-Z2-7]{24,4000}={0,6}(?![A-Za-z0-9=])")
_MORSE = re.compile(r"(?<![.-])[.-]{1,6}(?:[ /|]{1,3}[.-]{1,6}){12,1000}(?![.-])")
_TWO_DIGITS = re.compile(r"\d\d")
_ESCAPE_SIGNS = ("%", "\\", "&")
_SPELLED = re.compile(r"(?<![^\W_])[^\W_](?:[ .,_*-]{1,3}[^\W_]){9,400}(?![^\W_])")
_TWO_SPELLED = re.compile(r"(?<![^\W_])[^\W_][ .,_*-]{1,3}[^\W_][ .,_*-]")
_SIGNS = re.compile(
    r"(?i)\b(?:user|ignore|system|memory|store|save|record|remember|instructions?|assistant|agent|curl|wget|bash|admin)"
)
_LEET_SIGN = re.compile(r"[013457@$|]")
_LEET = str.maketrans("013457@$!|", "oieastasil")
_LEET_WORD = re.compile(r"(?<!\w)(?=[\w@$!|]{0,20}[013457@$!|])(?=[\w@$!|]{0,20}[a-z])[\w@$!|]{3,24}(?!\w)")
_ROT13_WORDS = (
    "ignore disregard forget previous instructions rules remember store save record memory user system assistant "
    "that the always prefers wants owns likes trusts"
)
_ROT13_SIGNS = frozenset(codecs.encode(_ROT13_WORDS, "rot13").split())
_BACKWARDS_SIGNS = ("erongi", "rebmemer", "snoitcurtsni", "yromem", "eht taht", "resu eht")
_SPELLED_SIGNS = ("ignore", "remember", "system", "user", "memory", "store", "instruction", "assistant")
_MORSE_LETTERS = {
    ".-": "a", "-...": "b", "-.-.": "c", "-..": "d", ".": "e", "..-.": "f", "--.": "g", "....": "h", "..": "i",
    ".---": "j", "-.-": "k", ".-..": "l", "--": "m", "-.": "n", "---": "o", ".--.": "p", "--.-": "q", ".-.": "r",
    "...": "s", "-": "t", "..-": "u", "...-": "v", ".--": "w", "-..-": "x", "-.--": "y", "--..": "z",
}  # fmt: skip


def hidden_texts(text: str) -> Iterator[tuple[Span, str]]:
    """Every place that decodes to prose, with the prose; long opaque words with an empty one."""
    if not text.isascii() or len(text) >= MIN_OPAQUE_CHARACTERS // 2:
        for pattern, decode in _decoders_for(text):
            for match in pattern.finditer(text):
                prose = decode(match.group())
                if prose is not None and _is_prose(prose):
                    yield match.span(), prose
                elif pattern is _BASE64 and _is_opaque(match.group()):
                    yield match.span(), ""


def _decoders_for(text: str) -> Iterator[tuple[re.Pattern[str], Callable[[str], str | None]]]:
    """The decoders that have anything to try: most prose has neither long words, digits nor escapes."""
    longest = max(map(len, text.split()), default=0)
    if longest >= MIN_BASE64_CHARACTERS:
        yield _BASE64, _from_base64
    if longest >= MIN_BASE32_CHARACTERS:
        yield _BASE32, _from_base32
    yield _HEX, _from_hex
    if _TWO_DIGITS.search(text):
        yield _OCTETS, _from_octets
        yield _DECIMALS, _from_decimals
    if any(sign in text for sign in _ESCAPE_SIGNS):
        yield _ESCAPED_RUN, _from_escapes
    if text.count(".") + text.count("-") >= MIN_MORSE_LETTERS:
        yield _MORSE, _from_morse


def escaped_lines(text: str) -> Iterator[tuple[Span, str]]:
    """Lines in which some letters are written as escapes, with what they say."""
    if not any(sign in text for sign in _ESCAPE_SIGNS):
        return
    for line in _LINE.finditer(text):
        if _ESCAPES.search(line.group()) or _ENTITY.search(line.group()):
            plain = _from_escapes(line.group())
            if plain and plain != line.group():
                yield line.span(), plain


def is_telling(prose: str) -> bool:
    """Whether hidden prose has a word of those who order agents about."""
    return bool(_SIGNS.search(prose))


def disguised(folded: str) -> Iterator[str]:
    """Other readings of a folded text, letter for letter: rot13 and leet, where it looks like either; and reversed."""
    words = signs_of(folded).marks if folded.isascii() else re.findall(r"[a-z]{3,}", folded)
    if len(_ROT13_SIGNS.intersection(words)) >= 2:
        yield codecs.encode(folded, "rot13")
    if _LEET_SIGN.search(folded) and _LEET_WORD.search(folded):
        plain = _LEET_WORD.sub(lambda match: match.group().translate(_LEET), folded)
        if plain != folded:
            yield plain


def reversed_reading(folded: str) -> str | None:
    """The text read backwards, where that gives words of instructions."""
    return folded[::-1] if any(sign in folded for sign in _BACKWARDS_SIGNS) else None


def is_telling_word(word: str) -> bool:
    """The same for letters that were spelled out without blanks between words."""
    return any(sign in word.lower() for sign in _SPELLED_SIGNS)


def spelled(text: str) -> Iterator[tuple[Span, str]]:
    """Runs of single letters with blanks or marks between them, with the word that they spell."""
    if _TWO_SPELLED.search(text) is None:
        return
    for match in _SPELLED.finditer(text):
        yield match.span(), "".join(c for c in match.group() if c.isalnum())


def _is_prose(prose: str) -> bool:
    n_letters = sum(c.isalpha() or c.isspace() for c in prose)
    return len(prose) >= 6 and n_letters >= MIN_LETTER_SHARE * len(prose) and not prose.isspace()


def _is_opaque(word: str) -> bool:
    has_kinds = any(c.isupper() for c in word) and any(c.islower() for c in word) and any(c.isdigit() for c in word)
    return has_kinds and len(word) >= MIN_OPAQUE_CHARACTERS and word.count("/") <= len(word) // 12


def _from_base64(word: str) -> str | None:
    is_mixed = any(c.isdigit() for c in word) or any(c.isupper() for c in word[1:])
    if not is_mixed:
        return None
    return decoded(word)


def _from_hex(run: str) -> str | None:
    digits = re.sub(r"0x|\\x|[ :,]", "", run)
    return readable(bytes.fromhex(digits)) if len(digits) % 2 == 0 else None


def _from_octets(run: str) -> str | None:
    bits = re.sub(r"[ ,]", "", run)
    return readable(bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits) - 7, 8)))


def _from_decimals(run: str) -> str | None:
    numbers = [int(n) for n in re.findall(r"\d+", run)]
    return readable(bytes(numbers)) if all(n < 128 for n in numbers) else None


def _from_base32(word: str) -> str | None:
    try:
        plain = word.rstrip("=")
        return readable(base64.b32decode(plain + "=" * (-len(plain) % 8)))
    except binascii.Error:
        return None


def _from_escapes(run: str) -> str | None:
    def character(match: re.Match[str]) -> str:
        code = int(match.group(1), 16)
        return chr(code) if code < 0xD800 else " "

    plain = re.sub(r"\\[xu]([0-9A-Fa-f]{2,4})", character, run)
    return unescape(unquote(plain, errors="replace"))


def _from_morse(run: str) -> str | None:
    letters = [_MORSE_LETTERS.get(sign) for sign in re.split(r"[ /|]+", run)]
    return None if None in letters else "".join(letter or "" for letter in letters)
