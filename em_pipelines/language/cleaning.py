"""Stage 1, the text itself: Unicode cleaning, and finding code so that nothing is read out of it.

The messages table holds what `clean_text` returns, and every span counts characters of that. `blank_code` keeps
the length, so that spans found in its answer hold in the cleaned text too. Nothing here knows what a message means.
"""

import re
import unicodedata

CODE_MARK = "\ufffc"
"""Stands for each character of blanked code: no word, no space, so no phrase can be read across it."""

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Scripts without blanks between words, for a class of a pattern: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""

_DROPPED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffc\U000e0000-\U000e0fff]"
)
_WIDE = re.compile(rf"[{UNSPACED}\uac00-\ud7af]")
_JOINERS = re.compile("[\u200c\u200d]")
_SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_BREAKS = re.compile("\r\n?|[\u2028\u2029\u0085]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_MIXED_WORD = re.compile(r"[^\W\d_]{2,60}")
_LATIN = re.compile("[A-Za-z]")
_LOOKALIKES = str.maketrans("АВЕКМНОРСТХаеорсухіјѕԁΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "ABEKMHOPCTXaeopcyxijsdABEZHIKMNOPTYXo")

_FENCE = re.compile(r"(?ms)^[ \t]{0,8}(```|~~~)[^\n]{0,200}\n.*?(?:^[ \t]{0,8}\1[ \t]*$|\Z)")
_INLINE = re.compile(r"`([^`\n]{1,200})`")
_PLAIN_WORDS = re.compile(r"[A-Za-z][\w+#-]{0,30}(?: [A-Za-z][\w+#-]{0,30}){0,2}")
_CODE_LINE = re.compile(
    r"""(?x)^\s*(?:
      import\s+[\w.]+(?:\s+as\s+\w+)?$ | from\s+[\w.]+\s+import\s | import\s.{1,80}\sfrom\s+["']
    | \#include\s*[<"] | package\s+[\w.]+;
    | (?:async\s+)?def\s+\w+\s*\( | class\s+\w+\s*[:({] | (?:export\s+)?(?:const|let|var)\s+[\w{\[]+.{0,80}=
    | (?:public|private|protected|static)\s+[\w<>\[\]]+\s+\w+\s*[(=;{] | func(?:tion)?\s+\w*\s*\( | fn\s+\w+\s*[(<]
    | (?:if|for|while|switch)\s*\(.{0,200}\)\s*\{? | (?:elif|else|try|except|finally)\b.{0,100}:$ | return\b.{0,200};$
    | (?:export|alias|declare|local)\s+[\w.-]+=\S.{0,300}
    | @\w+[\w.]*(?:\(.{0,200}\))?$ | \$\s\w+ | >>>\s | \}?[\])}]*[;,]?$
    | [\w.\[\]"']+\s*(?:=|:=|\+=|==|=>|->)\s*\S.{0,300} | [\w.]+\(.{0,300}\)\s*[;{]?$
    | ["'][\w -]+["']\s*:\s*\S.{0,300} | [\[{]\s*["'{\[].{0,2000} | </?[a-zA-Z][\w-]*(?:\s[^<>]{0,300})?/?>.{0,300}
    | (?:SELECT\b.{1,300}\bFROM|INSERT\s+INTO|UPDATE\b.{1,200}\bSET|DELETE\s+FROM)\b | (?:CREATE|ALTER|DROP)\s+TABLE\b
    | Traceback\s\(most\srecent | File\s"[^"]{1,300}",\sline\s\d | at\s[\w.$<>]+\([\w.]+:\d+\) | \w+(?:Error|Exception):
    | \d{4}-\d\d-\d\d[T ][\d:.,]+Z?\s+\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b.{0,500}
    | (?:\+\+\+|---)\s[ab]/ | @@\s-\d | \w+\s*::\s*\S | data\s+\w+\s*=
    )"""
)
_KEY_LINE = re.compile(r"^\s*(?:-\s+)?[A-Za-z_][\w.-]{0,60}\s?[:=](?:\s+\S.{0,200})?$")
_INDENTED = re.compile(r"^(?: {2,}|\t)\S")


def _marks_of_letters() -> str:
    """Ranges of a character class: marks that belong to the letter before them (Unicode category M) and have no letter
    of their own, as those of Yoruba, of Indian scripts and of vowelled Hebrew and Arabic."""
    marks = [n for n in range(0x300, 0x1F000) if unicodedata.category(chr(n))[0] == "M"]
    starts = [n for before, n in zip([0, *marks], marks, strict=False) if n - before > 1]
    ends = [n for n, after in zip(marks, [*marks[1:], 0], strict=True) if after - n != 1]
    return "".join(f"{chr(start)}-{chr(end)}" for start, end in zip(starts, ends, strict=True))


MARKS = _marks_of_letters()
"""For a character class: `[^\\W_]` alone cuts a name at a letter that needs two marks."""
HYPHENS = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d\u05be", "-"))
APOSTROPHES = str.maketrans(dict.fromkeys("\u2018\u2019\u02bc\u02bb\u02b9\u2032\u00b4\u0060\uff07", "'"))


def is_capital(word: str) -> bool:
    """Whether a word is written like a name: with a capital, or in a script that has none, as names of other languages
    stand among English words."""
    first = word[0]
    return first.isupper() or (not first.isascii() and first.isalpha() and first.lower() == first.upper())


def clean_text(text: str) -> str:
    """Returns the text in NFC, without invisible, directional and control characters; idempotent.

    Line breaks become `\\n`, odd spaces plain ones. Joiners stay where a script or an emoji needs them. A word of
    Latin letters with Cyrillic or Greek look-alikes between them is written in Latin throughout.
    """
    if text.isascii() and text.isprintable():
        return text.strip()
    text = _SURROGATES.sub("\ufffd", text)
    text = _SPACES.sub(" ", _BREAKS.sub("\n", text))
    text = _DROPPED.sub("", text)
    text = _JOINERS.sub(_kept_joiner, text)
    text = unicodedata.normalize("NFC", text)
    if not text.isascii():
        text = _MIXED_WORD.sub(_in_one_script, text)
    return text.strip()


def _kept_joiner(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1] if match.start() else " "
    return match.group() if ord(before) > 0x02FF else ""


def _in_one_script(match: re.Match[str]) -> str:
    word = match.group()
    if word.isascii() or not _LATIN.search(word):
        return word
    plain = word.translate(_LOOKALIKES)
    return plain if plain.isascii() else word


def blank_code(text: str) -> str:
    """Returns the text with `CODE_MARK` for each character of code, and the same length.

    Code is: fenced blocks, inline code other than a plain word or two, and runs of lines that read as code, config,
    logs or stack traces.
    """
    if "```" in text or "~~~" in text:
        text = _FENCE.sub(_marks, text)
    if "`" in text:
        text = _INLINE.sub(_unquoted, text)
    if not _may_hold_code_lines(text):
        return text
    lines = text.split("\n")
    code = _code_lines(lines)
    return "\n".join(CODE_MARK * len(line) if n in code else line for n, line in enumerate(lines))


def looks_like_code(text: str) -> bool:
    """Whether the text holds a block of code, config, a log or a stack trace."""
    if "```" in text or "~~~" in text:
        return bool(_FENCE.search(text))
    return _may_hold_code_lines(text) and bool(_code_lines(text.split("\n")))


def _marks(match: re.Match[str]) -> str:
    return "".join("\n" if c == "\n" else CODE_MARK for c in match.group())


def _unquoted(match: re.Match[str]) -> str:
    if _PLAIN_WORDS.fullmatch(match.group(1)):
        return f" {match.group(1)} "
    return CODE_MARK * len(match.group())


def _may_hold_code_lines(text: str) -> bool:
    return any(c in text for c in "=;{}()<>:@$[") or "SELECT" in text or "import" in text


def _code_lines(lines: list[str]) -> set[int]:
    """Line numbers of code: lines of code themselves, `key: value` lines in runs, and what is indented after either."""
    code: set[int] = set()
    keys = [bool(_KEY_LINE.match(line[:400])) for line in lines]
    for n, raw in enumerate(lines):
        line = raw[:400]
        if not line.strip():
            continue
        run_of_keys = keys[n] and sum(keys[max(0, n - 1) : n + 2]) >= 2 and _is_config(lines, n)
        continues = n - 1 in code and bool(_INDENTED.match(line))
        if _CODE_LINE.match(line) or run_of_keys or continues:
            code.add(n)
    return code


def _is_config(lines: list[str], n: int) -> bool:
    """A run of `key: value` lines is config when indented or written without blanks; else it is a list in prose."""
    near = lines[max(0, n - 1) : n + 2]
    return any(_INDENTED.match(line) or re.match(r"^[A-Z_a-z][\w.]*=", line) for line in near)


def n_tokens(text: str) -> int:
    """Estimates tokens as characters ÷ 4, rounded up: an estimate that needs no model's vocabulary. A sign of Chinese
    or Japanese and a syllable of Korean count as a token each."""
    return -(-(len(text) + 3 * (0 if text.isascii() else len(_WIDE.findall(text)))) // 4)
