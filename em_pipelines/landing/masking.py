"""Takes secrets out of text before it is landed: what is masked here reaches no table, cache, prompt or report.

The patterns are data (masking.yaml); the mechanism is here. Facts that are merely private (health, money) are no
matter of this module: those are judged where claims are made.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import orjson
import yaml

MAX_CACHED_CHARACTERS = 64
_SECRET_GROUPS = ("secret", "secret_bare")
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
_SMALLEST_NUMBER = 10**8  # as written, the least of a number kind: nine digits
_MIN_CARD_DIGITS, _MAX_CARD_DIGITS = 13, 19
_CARD_FIRST_DIGITS = range(2, 7)
_DIGITS_HINT = "\0digits"  # no text has it: stands for what _DIGITS finds
_DIGITS = re.compile(r"\d(?:[ \u00a0.–-]?\d){4}")  # stands in every kind that is looked for without a hint


@dataclass(frozen=True, slots=True)
class SecretPattern:
    """One entry of masking.yaml, compiled."""

    kind: str
    pattern: re.Pattern[str]
    is_number: bool
    is_card: bool

    def mask(self, text: str) -> str:
        return self.pattern.sub(self._card_replacement if self.is_card else self._replacement, text)

    def _replacement(self, match: re.Match[str]) -> str:
        whole = match.group()
        for group in _SECRET_GROUPS:
            if group in self.pattern.groupindex and match.group(group) is not None:
                start, end = match.start(group) - match.start(), match.end(group) - match.start()
                return f"{whole[:start]}[masked:{self.kind}]{whole[end:]}"
        return f"[masked:{self.kind}]"

    def _card_replacement(self, match: re.Match[str]) -> str:
        return _mask_cards(match.group(), f"[masked:{self.kind}]")


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
    return tuple(p.kind for p in _candidates(identifier) if not p.is_number and p.mask(identifier) != identifier)


def _mask(text: str) -> str:
    while True:
        masked = text
        for pattern in _candidates(text):
            masked = pattern.mask(masked)
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
    entries = yaml.safe_load(Path(__file__).with_name("masking.yaml").read_text(encoding="utf-8"))
    patterns = tuple(
        SecretPattern(
            kind=e["kind"],
            pattern=re.compile(e["pattern"].replace("START", _START)),
            is_number=bool(e.get("number", False)),
            is_card=e.get("check") == "card",
        )
        for e in entries
    )
    by_hint: dict[str, list[int]] = defaultdict(list)
    for i, e in enumerate(entries):
        for hint in e.get("hints") or [_DIGITS_HINT]:
            by_hint[hint].append(i)
    return patterns, by_hint


def _mask_cards(run: str, mask: str) -> str:
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
    for i in range(first, min(len(groups), first + _MAX_CARD_DIGITS)):
        digits += run[slice(*groups[i])]
        if len(digits) > _MAX_CARD_DIGITS:
            break
        if len(digits) >= _MIN_CARD_DIGITS and len(digits) in _card_lengths(int(digits[:4])) and _has_luhn(digits):
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


def _has_luhn(digits: str) -> bool:
    """Whether the checksum of ISO/IEC 7812-1, annex B, holds."""
    numbers = [int(d) for d in digits]
    return (sum(numbers[-1::-2]) + sum(sum(divmod(2 * n, 10)) for n in numbers[-2::-2])) % 10 == 0
