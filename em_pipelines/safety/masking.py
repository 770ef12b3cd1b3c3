"""Takes secrets out of text before it is landed: what is masked here reaches no table, cache, prompt or report.

The patterns are data (masking.yaml); the mechanism is here, checksums in `numbers`, keys that a library knows in
`detectors`. Bank details and numbers of identity documents are masked like secrets. Facts that are merely private
(health, money) are no matter of this module: those are judged where claims are made.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import orjson

from em_pipelines.safety.detectors import mask_detected
from em_pipelines.safety.numbers import CHECKS, mask_cards, mask_ibans
from em_pipelines.yaml_text import read_yaml

MAX_CACHED_CHARACTERS = 64
_RUNS = {"card": mask_cards, "iban": mask_ibans}
_SECRET_GROUPS = ("secret", "secret_bare")
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
_SMALLEST_NUMBER = 10**8  # as written, the least of a number kind: nine digits
_DIGITS_HINT = "\0digits"  # no text has it: stands for what _DIGITS finds
_DIGITS = re.compile(r"\d(?:[ \u00a0.–-]?\d){4}")  # stands in every kind that is looked for without a hint


@dataclass(frozen=True, slots=True)
class SecretPattern:
    """One entry of masking.yaml, compiled. `check` names a test of `numbers`, or how runs of digits are searched."""

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
            pattern=re.compile(e["pattern"].replace("START", _START)),
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
