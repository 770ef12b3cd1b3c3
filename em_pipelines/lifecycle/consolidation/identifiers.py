"""Names of skills and categories of errors as they are shown: identifiers as they are, anything else by its hash.

Whoever can make a tool fail, or name one, can write a sentence into either. A rule shows neither such sentence nor any
part of it.
"""

import hashlib
import re
from functools import lru_cache

MAX_CHARACTERS = 48
MAX_WORDS = 4
"""Of one part of a name: parts are divided by two underscores, as names of MCP tools are."""
HASH_DIGITS = 10
_SKILL = re.compile(r"_?[A-Za-z][A-Za-z0-9]*(?:[_.:/@+-]{1,2}[A-Za-z0-9]+)*(?: [a-z][a-z0-9-]*)?")
"""An identifier, and at most one sub-command behind it: `git push`."""
_CATEGORY = re.compile(r"[a-z0-9]+(?: [a-z0-9]+)*")
"""What evidence.category_key makes of an identifier."""
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


@lru_cache(maxsize=4096)
def shown_skill(name: str) -> str:
    """The name of a skill where it is an identifier, else `skill-HASH`."""
    return name if _SKILL.fullmatch(name) and _is_short(name) else _hashed("skill", name)


@lru_cache(maxsize=4096)
def shown_category(category: str) -> str:
    """A category of errors, as evidence.category_key gives it, where it is an identifier, else `error-HASH`."""
    return category if _CATEGORY.fullmatch(category) and _is_short(category) else _hashed("error", category)


def _is_short(name: str) -> bool:
    parts = name.split("__")
    return len(name) <= MAX_CHARACTERS and all(len(_WORD.findall(part)) <= MAX_WORDS for part in parts)


def _hashed(kind: str, name: str) -> str:
    return f"{kind}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:HASH_DIGITS]}"
