"""Keys that the detect-secrets library knows, and tokens that only chance could have written.

Each word long enough to be a key is shown to the library by itself, at most 300 characters of it, so that its
patterns cannot take long. Nothing is verified against a service: only `analyze_string` is called. The library is
imported when the first such word is met, which ordinary prose never has.
"""

import base64
import binascii
import importlib
import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

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
    for found in _found(word[:MAX_WORD_CHARACTERS]):
        word = word.replace(found, "[masked:api_key]")
    return word


def _found(word: str) -> Iterator[str]:
    for plugin in _plugins():
        yield from (found for found in plugin.analyze_string(word) if len(found) >= MIN_RANDOM_CHARACTERS)


@cache
def _plugins() -> tuple[Any, ...]:
    modules = ((importlib.import_module(f"detect_secrets.plugins.{module}"), name) for module, name in _PLUGINS.items())
    return tuple(getattr(module, name)() for module, name in modules)
