"""Which words may leave the house: proper names of things that everybody may know, and plain values.

The last look at a fact before it is sent, beside the closed lists of types and relations. It errs to the side of
silence: a fact that is not sent costs nothing.
"""

import re
from functools import cache, lru_cache

from em_pipelines.guard.screening import is_unsafe_content
from em_pipelines.guard.sensitive import FINANCIAL, HEALTH, IDENTITY_DOCUMENT, is_sensitive
from em_pipelines.language.document import english
from em_pipelines.lifecycle.revision.model import FactQuestion

RELATIONS = (
    "located_in", "part_of", "has_part", "made_of", "depends_on", "created", "owns", "member_of", "uses", "has_name",
    "has_attribute",
)  # fmt: skip
"""What may be said of a public thing; tastes, plans, feelings and whatever is done by people are none of it."""
PRIVATE_FLAGS = ("hypothetical", "sarcasm_detected", "attribution_uncertain", "emotional_state", "abandoned_intent")
PLAIN_WORDS = (
    "the", "and", "of", "for", "from", "in", "at", "on", "with", "new", "our", "my", "his", "her", "their", "user",
    "van", "von", "der", "den", "de", "di", "da", "del", "della", "la", "le", "el", "los", "las", "al", "bin", "st",
)  # fmt: skip
"""Words that stand in names of persons and name nobody."""
MAX_CHARACTERS = 200

_SMALL_WORD_CHARACTERS = 3
_WORD = re.compile(r"[^\W_][\w'’.+#&-]*")
_ANY_DIGIT = re.compile(r"\d")
_REACHES_SOMEBODY = re.compile(r"@|\d{5,}|(?:\d[ ./-]?){7,}")
"""Mail addresses, handles, post codes, phone and account numbers."""
_OWNED = re.compile(r"(?i)\b(?:my|our|his|her|their|your)\b")
_OWNED_THING = re.compile(r"['’]s?\s+[a-z]")
"""`Lena's flat`; `Levi's` and `St Mary's Hospital` are names."""


def is_public(question: FactQuestion) -> bool:
    """Whether all words of the fact may be sent: public names at its ends, and nothing private in what it says."""
    ends = [(question.subject, question.subject_type)]
    if question.object_type is not None:
        ends.append((question.object, question.object_type))
    if not all(is_public_name(name, kind) for name, kind in ends):
        return False
    return is_plain(question.object) and is_plain(f"{question.attribute or ''} {question.object}".strip())


def is_public_name(name: str, entity_type: str) -> bool:
    """Whether a name is a proper one and nobody's: `Kotor`, `Bank of Cyprus`, `iPhone 15`; not `office`, `Mum's flat`.

    A place with a number in its name may be an address, and is none of them.
    """
    words_of_name = _WORD.findall(name)
    if not words_of_name or not is_plain(name) or _OWNED_THING.search(name):
        return False
    if entity_type == "place" and _ANY_DIGIT.search(name):
        return False
    return _is_proper(words_of_name) and not _is_somebodys(words_of_name)


def _is_proper(words_of_name: list[str]) -> bool:
    """Whether all but small words are written as names are, and one at least."""
    are_proper = [any(c.isupper() or c.isdigit() for c in word) for word in words_of_name]
    others = (word for word, is_proper in zip(words_of_name, are_proper, strict=True) if not is_proper)
    return any(are_proper) and all(len(word) <= _SMALL_WORD_CHARACTERS for word in others)


def _is_somebodys(words_of_name: list[str]) -> bool:
    """Whether it names somebody by kinship, or is a noun for what everybody has one of."""
    if any(_core(word) in _kin() for word in words_of_name):
        return True
    return len(words_of_name) == 1 and words_of_name[0].lower() in _common_nouns()


@lru_cache(maxsize=16_384)
def is_plain(text: str) -> bool:
    """Whether a text is one short line without code, secrets, orders, means of reaching somebody, health or money."""
    if len(text) > MAX_CHARACTERS or not text.isprintable() or not text.strip():
        return False
    if _REACHES_SOMEBODY.search(text) or _OWNED.search(text) or is_unsafe_content(text):
        return False
    return not any(is_sensitive(text, category) for category in (HEALTH, FINANCIAL, IDENTITY_DOCUMENT))


def _core(word: str) -> str:
    return re.sub(r"['’]s?$", "", word.lower())


@cache
def _kin() -> frozenset[str]:
    """Words for people by what they are to one another."""
    return frozenset(english.kin) | english.words("people", "person_roles")


@cache
def _common_nouns() -> frozenset[str]:
    """Nouns that name a kind of thing and no thing, also where a sentence begins with them."""
    lists = ("workplaces", "rooms", "numbered_places", "not_firms", "providers")
    return frozenset(" ".join(english.listed("nouns")["types"].values()).split()).union(
        *(english.words("nouns", name) for name in lists)
    )
