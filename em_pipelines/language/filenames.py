"""Names of files for any text: safe on every common system, in links and in shells, and unique whatever things are
called.

Allowed are letters, digits, marks, blanks, emoji and a little punctuation; all that a file system, Markdown or a
wiki link takes for more than itself becomes a hyphen. Names are compared as the most forgiving file system does:
without case, composed or not.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Mapping

MAX_CHARACTERS = 80
MAX_BYTES = 160
"""Of a stem in UTF-8; with suffix, extension and what a temporary name adds it stays below the usual 255."""
UNNAMED = "unnamed"
ALLOWED = frozenset(" -'(),.+@&")
"""ASCII characters besides letters and digits."""
DEVICES = frozenset(
    {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"}
    | {f"{port}{number}" for port in ("COM", "LPT") for number in range(10)}
)
"""What Windows takes for a device, with any extension."""
MIN_DIGITS = 8
_SUFFIX = re.compile(r" \([0-9a-f]{8,}\)$")


def stems(names: Mapping[str, str], also: str = "") -> dict[str, str]:
    """A stem for each id: that of its name, with digits of the id where another has the same.

    Ids end in hex digits that tell them apart. Equal ids and names give equal stems. `also` are characters that stay as
    they are.
    """
    plain = {thing: safe_stem(name, also) for thing, name in names.items()}
    groups: dict[str, list[str]] = defaultdict(list)
    for thing, stem in plain.items():
        groups[_folded(stem)].append(thing)
    unique = {}
    for things in groups.values():
        # A name that ends as a suffix would is given one too, so that no suffixed name meets a plain one.
        is_alone = len(things) == 1 and not _SUFFIX.search(_folded(plain[things[0]]))
        n_digits = 0 if is_alone else _digits_needed(things)
        for thing in things:
            unique[thing] = f"{plain[thing]} ({_digits(thing)[:n_digits]})" if n_digits else plain[thing]
    return unique


def safe_stem(name: str, also: str = "") -> str:
    """A file name without extension for any text; never empty, hidden, reserved or too long."""
    text = "".join(one if one in also else _safe(one) for one in unicodedata.normalize("NFC", name))
    text = re.sub(r"-(?:[ -]*-)+", "-", re.sub(r" {2,}", " ", text)).strip(" .-")
    stem = _cut(text).strip(" .-") or UNNAMED
    device = unicodedata.normalize("NFKC", stem).partition(".")[0].strip().upper()
    return f"name {stem}" if device in DEVICES else stem


def _safe(character: str) -> str:
    if character.isascii():
        return " " if character.isspace() else "-" if _is_special(character) else character
    category = unicodedata.category(character)
    if category[0] == "Z":
        return " "
    if any(map(_is_special, unicodedata.normalize("NFKC", character))):
        return "-"  # some systems store its ASCII twin instead: a full-width slash as a slash
    # Controls, format characters (they reverse what is read), surrogates, private and unassigned ones.
    return "" if category[0] == "C" else character


def _is_special(character: str) -> bool:
    """Whether an ASCII character is one that something takes for more than itself."""
    return character.isascii() and not character.isalnum() and character not in ALLOWED


def _cut(text: str) -> str:
    end = min(len(text), MAX_CHARACTERS)
    while len(text[:end].encode()) > MAX_BYTES or (end < len(text) and unicodedata.combining(text[end])):
        end -= 1
    return text[:end]


def _folded(stem: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", stem).casefold())


def _digits(thing: str) -> str:
    return thing.rpartition("_")[2]


def _digits_needed(things: list[str]) -> int:
    longest = max(len(_digits(thing)) for thing in things)
    fitting = (n for n in range(MIN_DIGITS, longest) if len({_digits(thing)[:n] for thing in things}) == len(things))
    return next(fitting, longest)
