"""Cuts text into sentences, paragraphs and quoted blocks, and blanks parts of it. Works in any language.

Everything here is about where things begin and end, in characters of the text given; what they mean is judged
elsewhere. Every function is linear in the text.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

import orjson

from em_pipelines.language.cleaning import CODE_MARK, looks_like_code
from em_pipelines.language.sentences import sentences as whole_sentences
from em_pipelines.language.sentences import without_marks

Span = tuple[int, int]

_JOINED = re.compile(r";+(?=\s|$)|；+|(?<=\s)(?:[—–]+|--+)(?=\s)|(?<= <)-(?=\s)")
"""What joins two statements to one sentence: each is judged by itself."""
_CLOSED = re.compile("[.!?;…。！？；]+[\"'”’»)\\]」』]*")
_QUOTED_LINES = re.compile(r"(?m)^[ \t]{0,8}>[^\n]{0,4000}(?:\n[ \t]{0,8}>[^\n]{0,4000})*+")
_FENCE = re.compile(r"(?ms)^[ \t]{0,8}(```|~~~)[^\n]{0,200}\n.*?(?:^[ \t]{0,8}\1[ \t]*$|\Z)")
_QUOTES = re.compile(
    r"\"[^\"]{8,3000}\"|“[^”]{8,3000}”|«[^»]{8,3000}»|»[^«]{8,3000}«|„[^“”]{8,3000}[“”]|「[^」]{4,3000}」"
)
_SINGLE_QUOTES = re.compile(r"(?<![\w'])'(?=\S)[^\n]{8,600}?(?<=\S)'(?!\w)")
_FOREIGN_LINE = re.compile(
    r"(?m)^[ \t]{0,40}(?:#|//|--|;;|%|\*)[^\n]{8,600}$|/\*[^*]{8,2000}\*/|^[ \t]{0,8}[\w-]{3,14}: ?[a-z][^\n]{8,600}$"
)
QUOTATION_MARKS = "\"'“«»„「"
MIN_CITED_WORDS = 6
_SPEAKS = re.compile(r"(?i)\b(?:i|my|we|our|you|he|she|they|is|are|was)\b")
"""One of these words makes a sentence of what stands in quotation marks; without them it is a title or a name."""
_BLOCKS = (
    ((">",), _QUOTED_LINES),
    (("```", "~~~"), _FENCE),
    (tuple('"“«»„「'), _QUOTES),
    (("'",), _SINGLE_QUOTES),
)
"""What stands between such blocks and the text around them, and the signs without which there is none."""
_JOINTS = re.compile(
    rf"(?i)(?:,\s*|\s+)(?:but\s+|and\s+(?=(?:(?:i|you|he|she|it|we|they)(?:['’]\w+)?|my|our|his|her|their)\s))"
    rf"|{CODE_MARK}+"
)
"""Where another clause is joined on that says something of its own. `so` is none: it gives purpose or cause."""
_OPENERS = re.compile(r"(?i)^(?:(?:and|but|so|or|then|well|oh|yeah|yes|also|anyway|plus),?\s+)+(?=\w)")
_LOOSE = ' ,;:–—-["“”«»'
_WORD = re.compile(r"\w{2,80}")
_EXTRA_LOOKALIKES = str.maketrans(
    "аеорсухкмнтвіјѕԁһԛԝɡɩɪʀɴαοεικνρτυχօսցհոɑпгьѵүηωᴀʙᴄᴅᴇɢʜᴊᴋʟᴍᴏᴘᴛᴜᴠᴡʏᴢıłøđ",
    "aeopcyxkmhtbijsdhqwgiirnaoeikvptuxoughnanrbvynwabcdeghjklmoptuvwyzilod",
)
_STRAIGHT = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"'})

_LINK_OR_MARKUP = r"www\.|\w+\.example\b|://|<[/!a-z]|\$\(|\]\(|\]\]>|\\[nux]"
LINK_OR_MARKUP = re.compile(f"(?i){_LINK_OR_MARKUP}")
"""What no sentence may have that is shown to others: an address to open, or what a page or a shell would act on."""
CODE_OR_LINK = re.compile(
    rf"(?i){_LINK_OR_MARKUP}|[<>{{}}]|\|\||&&|;\s*\w+\s*=|`|\b\w+\([^)]{{0,80}}\)|"
    r"(?<!\w)--[a-z]|\b[\w.-]+\.(?:sh|exe|ps1|bat|js|py)\b(?=\W|$)|^[/~][\w.-]+/|\b(?:\d{1,3}\.){3}\d{1,3}\b"
)
"""What makes a text no thing and no plain sentence: such an address or markup, or a command."""


@lru_cache(maxsize=4096)
def _folded_char(char: str) -> str:
    plain = unicodedata.normalize("NFKC", char)
    if len(plain) != 1:
        plain = char
    base = unicodedata.normalize("NFD", plain)[0]
    if base.isascii() and base.isalpha():
        plain = base
    lowered = plain.lower()
    return lowered if len(lowered) == 1 else plain


@lru_cache(maxsize=8)
def folded(text: str) -> str:
    """Small letters without accents, straight quotes, letters of other alphabets in Latin words made Latin.

    As long as the text, so that spans found in it hold.
    """
    if text.isascii():
        return text.lower().replace("`", "'")
    text = "".join(map(_folded_char, text)).translate(_STRAIGHT)
    return _WORD.sub(_in_latin, text)


def _in_latin(match: re.Match[str]) -> str:
    word = match.group()
    if word.isascii() or not any(c.isascii() and c.isalpha() for c in word):
        return word
    return word.translate(_EXTRA_LOOKALIKES)


@lru_cache(maxsize=8)
def sentences(text: str) -> tuple[Span, ...]:
    """Spans of sentences, and of the statements that semicolons and dashes join to one, without what ends them
    and with the blanks before; together they hold every word of the text."""
    spans: list[Span] = []
    at = 0
    for whole in whole_sentences(text):
        start, (_, end) = max(at, text.rfind("\n", at, whole[0]) + 1), without_marks(text, whole)
        for joint in _JOINED.finditer(text, start, end):
            spans.append((start, joint.start()))
            start = joint.end()
        spans.append((start, end))
        at = whole[1]
    return tuple(span for span in spans if text[slice(*span)].strip())


def quoted_blocks(text: str) -> list[Span]:
    """Spans of what stands between quotation marks or fences, or is quoted line by line."""
    patterns = (pattern for signs, pattern in _BLOCKS if any(sign in text for sign in signs))
    return [match.span() for pattern in patterns for match in pattern.finditer(text)]


def cited_passages(text: str) -> list[Span]:
    """Spans between quotation marks that are longer than a title."""
    blocks = (block for block in quoted_blocks(text) if text[block[0]] in QUOTATION_MARKS)
    return [block for block in blocks if len(text[slice(*block)].split()) >= MIN_CITED_WORDS]


def spoken_passages(text: str) -> list[Span]:
    """Spans of whole sentences between straight quotation marks; titles and names stay out."""
    if '"' not in text and "'" not in text:
        return []
    spoken = (block for block in quoted_blocks(text) if text[block[0]] == '"' and _SPEAKS.search(text[slice(*block)]))
    return [*cited_passages(text), *spoken]


def foreign_lines(text: str) -> list[Span]:
    """Spans of lines that no person says: comments in code, and what a tool prints behind a name and a colon."""
    return [match.span() for match in _FOREIGN_LINE.finditer(text)] if "\n" in text or "/*" in text else []


def clause_around(text: str, start: int, end: int, limit: int) -> str:
    """The clause that holds the characters from `start` up to `end`, with its because, so that or for: at most `limit`
    characters, cut at a word. It ends where a sentence does, where another is joined on, and where text was blanked."""
    pieces = [piece for piece in sentences(text) if piece[0] < end and start < piece[1]]
    if len(pieces) > 1 and pieces[-1][1] - pieces[0][0] > limit:  # the last has what the others lead to
        pieces = pieces[-1:]
    first, last = (pieces[0][0], pieces[-1][1]) if pieces else (start, end)
    for joint in _JOINTS.finditer(text, first, last):
        if joint.end() <= start:
            first = joint.end()
        elif joint.start() >= end:
            last = joint.start()
            break
    words = _tidy(text[first:last])
    if len(words) > limit:  # what stands before the claim is rarely what it is about
        words = _tidy(text[min(max(start, first), last) : last])
    if len(words) > limit:
        words = _tidy(words[: limit + 1].rpartition(" ")[0] or words[:limit])
    return words


def _tidy(clause: str) -> str:
    plain = " ".join(clause.replace(CODE_MARK, " ").split())
    return _OPENERS.sub("", plain.strip(_LOOSE)).strip(_LOOSE)


def paragraph_end(text: str, start: int) -> int:
    """Where the paragraph of a place ends: at the next empty line, or with the text."""
    end = text.find("\n\n", start)
    return len(text) if end < 0 else end


def section_end(text: str, start: int) -> int:
    """Where the Markdown section of a place ends: at the next heading, or with the text."""
    end = text.find("\n#", start)
    return len(text) if end < 0 else end


def blanked(text: str, spans: Iterable[Span]) -> str:
    """The text with `CODE_MARK` for each character of the spans but line breaks; the same length."""
    out: list[str] = []
    copied = 0
    for start, end in merged(spans):
        out.append(text[copied:start])
        out.append("".join("\n" if c == "\n" else CODE_MARK for c in text[start:end]))
        copied = end
    return "".join(out) + text[copied:]


def closed(text: str, span: Span) -> Span:
    """The span with the marks that close it as a sentence, and without the blank before it."""
    marks = _CLOSED.match(text, span[1])
    start = span[0] + len(text[slice(*span)]) - len(text[slice(*span)].lstrip())
    return start, marks.end() if marks else span[1]


def merged(spans: Iterable[Span]) -> list[Span]:
    """Spans in order, those that touch or overlap joined."""
    out: list[Span] = []
    for start, end in sorted(spans):
        if start >= end:
            continue
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def overlaps(span: Span, spans: Iterable[Span]) -> bool:
    """Whether a span shares a character with any of the others."""
    return any(start < span[1] and span[0] < end for start, end in spans)


MIN_PASTED_LINES = 6
_QUOTED_LINE = re.compile(r"(?m)^[ \t]{0,8}>")
_TABLE_LINE = re.compile(r"(?m)^[ \t]{0,8}\|[^\n]{0,500}\|[ \t]{0,8}$")
_MAIL_HEADER = re.compile(
    r"(?mi)^(?:from|to|subject|sent|date|cc|von|an|betreff|de|para|asunto|objet|da|oggetto): ?\S|"
    r"^-{3,} ?(?:original|forwarded) message|^on [^\n]{5,120} wrote:$|^(?:dear|hi|hello) [^\n]{1,40},$"
)
_HEADING = re.compile(r"(?m)^#{1,6} \S")
_LONG_QUOTE = re.compile(r"[\"“«„][^\"“”«»„]{200}")
_PASTED = (re.compile("```|~~~"), _QUOTED_LINE, _LONG_QUOTE, _TABLE_LINE)
_DOCUMENT = (_MAIL_HEADER, _HEADING)
"""They tell something only in a message of several lines."""
_LIST_LINE = re.compile(r"(?m)^[ \t]{0,8}(?:[-*•]|\d{1,2}[.)]) \S")


def has_pasted_block(text: str) -> bool:
    """Whether a message holds a block that was probably pasted: quoted mail, a README, a fence, a table, a long quote.

    What the user typed and what he pasted cannot be told apart by any filter; this only says that there is reason to
    wait for a second source.
    """
    n_lines = sum(bool(line.strip()) for line in text.split("\n"))
    if n_lines >= MIN_PASTED_LINES or len(_LIST_LINE.findall(text)) > 2 or any(p.search(text) for p in _PASTED):
        return True
    is_document = n_lines > 2 and any(p.search(text) for p in _DOCUMENT)
    return is_document or looks_like_code(text)


def is_json(text: str) -> bool:
    """Whether a text is one document in JSON, as tools answer and stores keep."""
    if text[:1] not in ("{", "["):
        return False
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True
