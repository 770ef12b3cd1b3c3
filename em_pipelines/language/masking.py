"""Takes secrets out of text before it is landed: what is masked here reaches no table, cache, prompt or report.

The patterns are data (masking.yaml); the mechanism is here. Three kinds of secrets need more than a pattern: numbers
with a checksum (the arithmetic is python-stdnum's; `CHECKS` names every test that an entry of masking.yaml can ask
for), keys that the detect-secrets library knows, and tokens that only chance could have written. Each word long enough
to be a key is shown to that library by itself, at most 300 characters of it, so that its patterns cannot take long;
nothing is verified against a service: only `analyze_string` is called. It is imported when the first such word is met,
which ordinary prose never has.

Bank details and numbers of identity documents are masked like secrets. Facts that are merely private (health, money)
are no matter of this module: those are judged where claims are made.
"""

import base64
import binascii
import importlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import orjson
from stdnum import iban, luhn
from stdnum.br import cpf
from stdnum.ch import ssn as ahv
from stdnum.es import dni, nie
from stdnum.fi import hetu
from stdnum.fr import nir
from stdnum.in_ import aadhaar
from stdnum.it import codicefiscale
from stdnum.mx import curp
from stdnum.se import personnummer

from em_pipelines.language.values import read_yaml

MAX_CACHED_CHARACTERS = 64
_SECRET_GROUPS = ("secret", "secret_bare")
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
_SMALLEST_NUMBER = 10**8  # as written, the least of a number kind: nine digits
_DIGITS_HINT = "\0digits"  # no text has it: stands for what _DIGITS finds
_DIGITS = re.compile(r"\d(?:[ \u00a0.–-]?\d){4}")  # stands in every kind that is looked for without a hint
MAX_WORD_CHARACTERS = 300
MIN_RANDOM_CHARACTERS = 20
MIN_ENTROPY_BITS = 3.9
"""A character, of Shannon's entropy: words joined together have less, random letters and digits more."""
MIN_DIGIT_GROUPS = 3
"""Names have their digits in one or two places (Report2026Final)."""
MIN_TEXT_SHARE = 0.9

_WORD = re.compile(r"(?<![A-Za-z0-9_.:/+=~%-])(?=[A-Za-z_.:/+=~%-]{0,200}[0-9])[A-Za-z0-9_.:/+=~%-]{20,}+")
_PLUGINS = {
    "azure_storage_key": "AzureStorageKeyDetector",
    "aws": "AWSKeyDetector",
    "discord": "DiscordBotTokenDetector",
    "github_token": "GitHubTokenDetector",
    "gitlab_token": "GitLabTokenDetector",
    "mailchimp": "MailchimpDetector",
    "pypi_token": "PypiTokenDetector",
    "sendgrid": "SendGridDetector",
    "slack": "SlackDetector",
    "square_oauth": "SquareOAuthDetector",
    "stripe": "StripeDetector",
    "telegram_token": "TelegramBotTokenDetector",
    "twilio": "TwilioKeyDetector",
}
_DIGIT_GROUP = re.compile(r"[0-9]+")
_RANDOM = re.compile(r"(?<![A-Za-z0-9_/.@%=-])[A-Za-z0-9_-]{20,200}={0,2}(?![A-Za-z0-9_/.@%-])")
MIN_CARD_DIGITS, MAX_CARD_DIGITS = 13, 19
MIN_IBAN_CHARACTERS = 15
_CARD_FIRST_DIGITS = range(2, 7)

CHECKS: dict[str, Callable[[str], bool]] = {
    "aadhaar": aadhaar.is_valid,
    "ahv": ahv.is_valid,
    "codice_fiscale": codicefiscale.is_valid,
    "cpf": cpf.is_valid,
    "curp": curp.is_valid,
    "dni": dni.is_valid,
    "hetu": hetu.is_valid,
    "nie": nie.is_valid,
    "nir": nir.is_valid,
    "personnummer": personnummer.is_valid,
}


@dataclass(frozen=True, slots=True)
class SecretPattern:
    """One entry of masking.yaml, compiled. `check` names a test of `CHECKS`, or how runs of digits are searched."""

    kind: str
    pattern: re.Pattern[str]
    check: str | None
    is_in_ids: bool
    topic: re.Pattern[str] | None

    def mask(self, text: str) -> str:
        if self.topic is not None and not self.topic.search(text):
            return text
        return self.pattern.sub(self._replacement, text)

    def _replacement(self, match: re.Match[str]) -> str:
        whole, mask = match.group(), f"[masked:{self.kind}]"
        if self.check in _RUNS:
            return _RUNS[self.check](whole, mask)
        start, end = self._span_of_secret(match)
        secret = whole[start:end]
        if match.string.endswith("[masked:", 0, match.start() + start):
            return whole  # the kind of a mask
        if self.check is not None and not CHECKS[self.check](secret):
            return whole
        return f"{whole[:start]}{mask}{whole[end:]}"

    def _span_of_secret(self, match: re.Match[str]) -> tuple[int, int]:
        for group in _SECRET_GROUPS:
            if group in self.pattern.groupindex and match.group(group) is not None:
                return match.start(group) - match.start(), match.end(group) - match.start()
        return 0, len(match.group())


def mask_text(text: str) -> str:
    """Replaces every secret by `[masked:KIND]`; masking twice is masking once, in time linear in the text."""
    if len(text) <= MAX_CACHED_CHARACTERS:
        return _mask_short(text)
    return _mask(text)


def mask_value(value: Any) -> Any:
    """Masks all strings in JSON-like data, and what stands under a key such as "password".

    Numbers in the form of card numbers become masked strings. Raises RecursionError on data nested beyond reason.
    """
    if isinstance(value, str):
        return mask_text(value)
    if isinstance(value, Mapping):
        return {mask_text(k): _mask_under(k, v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [mask_value(item) for item in value]
    if isinstance(value, int) and abs(value) >= _SMALLEST_NUMBER:
        masked = mask_text(str(value))
        return value if masked == str(value) else masked
    return value


def mask_bytes(raw: bytes) -> bytes:
    """Masks raw input; JSON is masked string by string, so that it stays JSON and no escape hides a secret.

    What holds no secret comes back byte for byte, in whatever encoding it is.
    """
    if raw.lstrip()[:1] in (b"{", b"["):
        try:
            parsed = orjson.loads(raw)
            masked = mask_value(parsed)
            if masked != parsed:
                return orjson.dumps(masked)
        except (orjson.JSONDecodeError, orjson.JSONEncodeError, RecursionError):
            pass  # no JSON after all: masked as text alone
    # NULs are taken out of the way first: in UTF-16 they would stand between the letters of a secret.
    text = raw.decode("utf-8", "surrogateescape")
    if "\x00" in text and _mask(text.replace("\x00", "")) != text.replace("\x00", ""):
        text = text.replace("\x00", "")
    return _mask(text).encode("utf-8", "surrogateescape")


@lru_cache(maxsize=65_536)
def secret_kinds(identifier: str) -> tuple[str, ...]:
    """The kinds of secret that stand in an id; forms of digits alone do not count, as honest ids have them too."""
    return tuple(p.kind for p in _candidates(identifier) if p.is_in_ids and p.mask(identifier) != identifier)


def _mask(text: str) -> str:
    while True:
        masked = text
        for pattern in _candidates(text):
            masked = pattern.mask(masked)
        masked = mask_detected(masked)
        # A mask can lay open what stood in its shadow, so the end is where nothing changes; mostly the first round.
        if masked == text:
            return masked
        text = masked


_mask_short = lru_cache(maxsize=16_384)(_mask)


def _mask_under(key: str, value: Any) -> Any:
    if isinstance(value, str) and value:
        probe = f"{key}: x0x0x0x0"
        if mask_text(probe) != probe and mask_text(key) == key:
            return value if value.startswith("[masked:") else "[masked:secret]"
    return mask_value(value)


def _candidates(text: str) -> list[SecretPattern]:
    """The patterns that can match at all. Most text has no hint of a secret, and is done with here."""
    patterns, by_hint = _patterns()
    lowered = text.lower()
    found = {hint for hint in by_hint if hint in lowered}
    if _DIGITS.search(text):
        found.add(_DIGITS_HINT)
    return [patterns[i] for i in sorted({i for hint in found for i in by_hint[hint]})] if found else []


@cache
def _patterns() -> tuple[tuple[SecretPattern, ...], Mapping[str, list[int]]]:
    """The patterns of masking.yaml in order, and by hint the places of those that have it."""
    entries = read_yaml(Path(__file__).with_name("masking.yaml").read_text(encoding="utf-8"))
    patterns = tuple(
        SecretPattern(
            kind=e["kind"],
            pattern=re.compile(_written_out(e)),
            check=e.get("check"),
            is_in_ids=not (e.get("number", False) or e.get("prose", False)),
            topic=re.compile(e["topic"]) if "topic" in e else None,
        )
        for e in entries
    )
    by_hint: dict[str, list[int]] = defaultdict(list)
    for i, e in enumerate(entries):
        for hint in e.get("hints") or [_DIGITS_HINT]:
            by_hint[hint].append(i)
    return patterns, by_hint


def _written_out(entry: Mapping[str, Any]) -> str:
    """The pattern of an entry with what its short forms stand for."""
    passing, otherwise = (
        "|".join(words.split()).replace("_", " ")
        for words in (entry.get("passing", ""), " ".join(entry.get("otherwise", {}).values()))
    )
    pattern = str(entry["pattern"]).replace("START", _START).replace("PASSING", f"(?:(?:{passing})[ ,]{{1,2}})*+")
    said = "|".join(words for words in (passing, otherwise) if words)
    return pattern.replace("OTHERWISE", f"(?!{said})" if entry.get("is_unspaced") else rf"(?!(?:{said})(?![^\W_]))")


def mask_detected(text: str) -> str:
    """Replaces the keys that detect-secrets finds by `[masked:api_key]`, random words by `[masked:token]`."""
    text = _WORD.sub(lambda match: _masked_word(match.group()), text)
    return _RANDOM.sub(lambda match: "[masked:token]" if is_random(match.group()) else match.group(), text)


def is_random(word: str) -> bool:
    """Whether a word mixes capitals, small letters and digits as no name does, and does not decode to a text."""
    has_all_kinds = any(c.isupper() for c in word) and any(c.islower() for c in word)
    if len(word) < MIN_RANDOM_CHARACTERS or not has_all_kinds or len(_DIGIT_GROUP.findall(word)) < MIN_DIGIT_GROUPS:
        return False
    return entropy_bits(word) >= MIN_ENTROPY_BITS and decoded(word) is None


def entropy_bits(word: str) -> float:
    """Shannon's entropy of the characters of a word, in bits a character."""
    return -sum(n / len(word) * math.log2(n / len(word)) for n in Counter(word).values())


def decoded(word: str) -> str | None:
    """The text that a word is in base64, both alphabets, with or without padding; None where it is none."""
    plain = word.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        raw = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
    return readable(raw)


def readable(raw: bytes) -> str | None:
    """The text that bytes are in UTF-8 or UTF-16, if nearly all of it is letters and marks of prose."""
    for encoding in ("utf-16-le", "utf-8") if raw[1:2] == b"\0" else ("utf-8",):
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        if text and sum(c.isprintable() or c in "\n\r\t" for c in text) >= MIN_TEXT_SHARE * len(text):
            return text
    return None


@lru_cache(maxsize=4096)
def _masked_word(word: str) -> str:
    for key in _keys_in(word[:MAX_WORD_CHARACTERS]):
        word = word.replace(key, "[masked:api_key]")
    return word


def _keys_in(word: str) -> Iterator[str]:
    for plugin in _plugins():
        yield from (key for key in plugin.analyze_string(word) if len(key) >= MIN_RANDOM_CHARACTERS)


@cache
def _plugins() -> tuple[Any, ...]:
    modules = ((importlib.import_module(f"detect_secrets.plugins.{module}"), name) for module, name in _PLUGINS.items())
    return tuple(getattr(module, name)() for module, name in modules)


def mask_ibans(run: str, mask: str) -> str:
    """Masks the account number with which a run of letters, digits and blanks begins; as long as one is valid."""
    ends = [i + 1 for i, c in enumerate(run) if c.isalnum() and (i + 1 == len(run) or not run[i + 1].isalnum())]
    for end in reversed(ends):
        if sum(c.isalnum() for c in run[:end]) < MIN_IBAN_CHARACTERS:
            break
        if iban.is_valid(run[:end], check_country=False):
            return mask + run[end:]
    return run


def mask_cards(run: str, mask: str) -> str:
    """Masks the card numbers in a run of digit groups, each from the start of a group to the end of one."""
    groups = [m.span() for m in re.finditer(r"\d+", run)]
    out: list[str] = []
    copied = first = 0
    while first < len(groups):
        last = _last_group_of_card(run, groups, first)
        if last is None:
            first += 1
            continue
        out += (run[copied : groups[first][0]], mask)
        copied, first = groups[last][1], last + 1
    return "".join(out) + run[copied:]


def _last_group_of_card(run: str, groups: list[tuple[int, int]], first: int) -> int | None:
    """The group with which the longest card number that begins at `first` ends; None if none does."""
    digits, found = "", None
    if int(run[groups[first][0]]) not in _CARD_FIRST_DIGITS:
        return None
    for i in range(first, min(len(groups), first + MAX_CARD_DIGITS)):
        digits += run[slice(*groups[i])]
        if len(digits) > MAX_CARD_DIGITS:
            break
        if len(digits) >= MIN_CARD_DIGITS and len(digits) in _card_lengths(int(digits[:4])) and luhn.is_valid(digits):
            found = i
    return found


def _card_lengths(beginning: int) -> tuple[int, ...]:
    """How many digits a card number has that begins with these four; brands by ISO/IEC 7812 as issued today."""
    first_two = beginning // 100
    if first_two // 10 == 4:
        return (13, 16, 19)
    if first_two in (34, 37):
        return (15,)
    if first_two in (30, 36, 38, 39):
        return (14,)
    if 51 <= first_two <= 55 or 2221 <= beginning <= 2720:
        return (16,)
    return (16, 17, 18, 19) if first_two in (35, 50, 56, 57, 58, 60, 62, 63, 64, 65, 67) else ()


_RUNS = {"card": mask_cards, "iban": mask_ibans}
