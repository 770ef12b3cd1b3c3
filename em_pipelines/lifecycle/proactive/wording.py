"""How a thing is named in a question: whether its name is clean enough for a sentence, and what it then looks like.

A name that is a clause, hangs on what was said around it, or speaks of what is private, has no shape at all, and what
would have named it is not asked: better no question than an awkward one. Lists are data (shapes.yaml, and the lexicon
of extraction); nothing here knows which question wants which shape.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from em_pipelines.extraction.rules.lexicon import load_lexicon, mapping, words
from em_pipelines.text.guard.contact import personal_spans
from em_pipelines.text.guard.screening import is_unsafe_content
from em_pipelines.text.guard.sensitive import FINANCIAL, HEALTH, IDENTITY_DOCUMENT, is_sensitive
from em_pipelines.text.values import read_yaml

SHAPES = Path(__file__).with_name("shapes.yaml")
MAX_CHARACTERS = 40
MAX_WORDS = 5
_NAME = re.compile(r"[^\W_](?:[^\W_]|[ '’.&+#-])*")
"""Letters, figures and what stands inside names: no mark that ends a sentence, quotes, or opens anything."""
_PREPOSITION = frozenset(
    ["to", "in", "at", "on", "of", "for", "from", "with", "by", "into", "through", "over", "under", "along"]
)
_THEIRS = {"my": "your", "our": "your", "myself": "yourself", "ourselves": "yourselves"}
_DETERMINER = re.compile(r"(?i)^(?:the|an?|my|our)\s+")
_ARTICLES = frozenset({"a", "an", "the"})
_OTHERS = frozenset(["his", "her", "hers", "their", "theirs", "its", "your", "yours"])
_NOT_DOING = frozenset(["something", "anything", "everything", "nothing", "morning", "evening", "ceiling", "wedding"])
_FAINT_DOING = frozenset(["going", "getting", "having", "making", "taking", "being", "trying", "starting"])
"""What one does in every sentence: nothing that one likes by itself."""
_ARTICLE_AN = re.compile(r"(?i)^(?:[aeio]|u(?!ni|se|k)|hour|honest)")


@cache
def _listed(key: str) -> frozenset[str]:
    return frozenset(str(_lists()[key]).split())


@cache
def _lists() -> dict[str, Any]:
    data: dict[str, Any] = read_yaml(SHAPES.read_text(encoding="utf-8"))
    return data


@cache
def delicate_topics() -> list[str]:
    """The topics of facts that are not asked about."""
    return sorted(_listed("delicate_topics"))


@cache
def _delicate() -> tuple[str, ...]:
    return tuple(_listed("delicate"))


@cache
def person_roles() -> frozenset[str]:
    """Words that say who somebody is to somebody: kin, friends, people at work and next door; none for several."""
    kin = frozenset(mapping("people", "relations"))
    return (kin | words("people", "person_roles")) - words("people", "plural") - words("people", "ex")


@cache
def given_names() -> frozenset[str]:
    """First names that are listed."""
    return words("names", "female") | words("names", "male")


@cache
def _nouns() -> dict[str, frozenset[str]]:
    return {kind: frozenset(listed.split()) for kind, listed in load_lexicon("nouns")["types"].items()}


@cache
def _common() -> frozenset[str]:
    """Words that are no names, whatever their first letter: nouns of the lexicon, and those of topics."""
    topics = " ".join(load_lexicon("topics")["words"].values()).split()
    nouns = (noun for kind, listed in _nouns().items() if kind != "person" for noun in listed)
    lists = ("mass", "occasions", "undertakings", "bodies", "plain", "vague")
    return frozenset([*topics, *nouns, *person_roles(), *words("people", "plural")]).union(*map(_listed, lists))


def shapes(name: str, entity_type: str) -> Iterator[tuple[str, str]]:
    """Every shape that a name of a type has, with the words that stand for it: none where it is unfit or private.

    Shapes: `name` (at, in or with it), `person`, `role`, `namesake`, `pet`, `work` (a profession with its article),
    `owned`, `liked`, `pursuit`, `subject`, `broad`, `doing`, `occasion`, `journey`, `project`.
    """
    plain = _plain(name)
    if plain is None or is_private(plain):
        return
    for shape, worded in _SHAPED.items():
        text = worded(plain, entity_type)
        if text is not None:
            yield shape, text


def shaped(names: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Rows of name, entity_type, shape and text of all shapes of names with their types."""
    return [
        {"name": name, "entity_type": kind, "shape": shape, "text": text}
        for name, kind in names
        for shape, text in shapes(name, kind)
    ]


@lru_cache(maxsize=65_536)
def is_private(name: str) -> bool:
    """Whether a name speaks of what is private to many, reaches somebody, or is an order, code or a secret."""
    parts = re.split(r"[\s'’.&+#]+", name.casefold())
    if any(part.startswith(_delicate()) for part in parts) or not words("nouns", "feelings").isdisjoint(parts):
        return True
    if any(is_sensitive(name, category) for category in (HEALTH, FINANCIAL, IDENTITY_DOCUMENT)):
        return True
    return bool(personal_spans(name)) or is_unsafe_content(name)


def _words(text: str) -> set[str]:
    return set(text.casefold().split())


@lru_cache(maxsize=65_536)
def _plain(name: str) -> str | None:
    """The name without its determiner and in its usual case, or None where it fits into no sentence."""
    bare = _DETERMINER.sub("", " ".join(name.split()))
    of_words = bare.split()
    if not 1 <= len(of_words) <= MAX_WORDS or len(bare) > MAX_CHARACTERS or not _NAME.fullmatch(bare):
        return None
    if bare.isupper() and len(of_words) > 1:
        return None
    low = [word.casefold() for word in of_words]
    if low[-1] in _PREPOSITION or low[0] in _PREPOSITION or low[-1] in {"and", "the", "a", "an"}:
        return None
    if not _OTHERS.isdisjoint(low) or not any(char.isalpha() for char in bare):
        return None
    if low[0] in _common() and of_words[0].istitle() and all(word.islower() for word in of_words[1:]):
        bare = bare[0].lower() + bare[1:]
    if not _is_proper(bare) and not _is_doing(bare) and not _ARTICLES.isdisjoint(low):
        return None
    is_free = _is_proper(bare) or _is_doing(bare)
    return bare if is_free or _listed("clause_words").isdisjoint(low) else None


def _is_proper(name: str) -> bool:
    """Whether every word of a name but small ones is written as names are."""
    return all(w[0].isupper() or w[0].isdigit() or w in _PREPOSITION or w in {"and", "the", "de", "van", "von", "der"}
               for w in name.split()) and any(w[0].isupper() for w in name.split())  # fmt: skip


def _has_name(name: str) -> bool:
    """Whether it begins with a proper name: `Shimpo wheel`, `iPhone 15`."""
    return any(char.isupper() for char in name.split(maxsplit=1)[0])


def _head(name: str) -> str:
    """The noun that a phrase is about, case-folded: the last before a preposition."""
    before: list[str] = []
    for word in name.casefold().split():
        if word in _PREPOSITION and before:
            break
        before.append(word)
    return before[-1]


def _is_plural(word: str) -> bool:
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "ics", "ness"))


def _is_doing(name: str) -> bool:
    """Whether it begins with what somebody does: `switching editors`, but no `climbing halls` or `morning run`."""
    first, *rest = name.split()
    if len(first) < 5 or not first.endswith("ing") or not (first.isalpha() and first.islower()):
        return False
    if rest and first in _nouns()["activity"] and rest[0].casefold() not in _PREPOSITION:
        return False
    return first not in _NOT_DOING


def _name(name: str, kind: str) -> str | None:
    if _is_proper(name):
        return name if kind not in {"person", "animal", "food", "activity", "event"} else None
    low = name.casefold()
    if kind == "place" and name.islower() and len(name.split()) <= 2 and _common().isdisjoint(low.split()):
        return name.title()
    if kind == "organization" and _head(low) in _listed("bodies"):
        return f"the {name}"
    return name if kind in {"organization", "tool", "product", "project"} and _has_name(name) else None


def _person(name: str, kind: str) -> str | None:
    if kind not in {"person", "animal"} or len(name.split()) > 3 or not _common().isdisjoint(_words(name)):
        return None
    if _is_proper(name):
        return name
    return name.capitalize() if name.casefold() in given_names() and name.islower() else None


def _role(name: str, kind: str) -> str | None:
    low = name.casefold()
    fits = low in person_roles() or (
        low.split()[-1] in person_roles() and _words(low) <= person_roles() | words("people", "modifiers")
    )
    is_plural = low.split()[-1] in words("people", "plural") | {
        "clients",
        "customers",
        "students",
        "interns",
        "flatmates",
    }
    return f"your {low}" if kind == "person" and fits and not is_plural and low not in {"gf", "bf", "ex"} else None


def _namesake(name: str, kind: str) -> str | None:
    role, _, rest = name.partition(" ")
    person = _person(rest, "person") if kind == "namesake" and rest else None
    return f"your {role} {person}" if person and role in person_roles() else None


def _pet(name: str, kind: str) -> str | None:
    low = name.casefold()
    return (
        f"your {low}"
        if kind == "animal"
        and low in words("people", "pets")
        and not _is_plural(low)
        and low not in {"mice", "geese", "sheep", "calves", "koi"}
        else None
    )


def _work(name: str, kind: str) -> str | None:
    last = name.rsplit(maxsplit=1)[-1]
    if not last.islower():
        return None
    endings = tuple(words("nouns", "profession_suffixes"))
    is_listed = (
        last in words("nouns", "professions")
        or last in words("nouns", "posts")
        or last in words("people", "person_roles")
    )
    is_profession = is_listed or (
        len(last) > 4 and last.endswith(endings) and last not in words("nouns", "not_professions")
    )
    if not is_profession or _is_plural(last) or kind not in {"concept", "person", "activity"}:
        return None
    low = name if any(word.isupper() for word in name.split()) else name.lower()
    return f"{'an' if _ARTICLE_AN.match(low) else 'a'} {low}"


def _owned(name: str, kind: str) -> str | None:
    if kind not in {"vehicle", "product", "tool", "concept"} or _is_doing(name):
        return None
    if _has_name(name):
        return f"your {name}"
    head = _head(name)
    is_thing = head in _nouns()["vehicle"] or head in words("nouns", "gadgets") | words("nouns", "kept_things")
    return f"your {name}" if is_thing else None


def _liked(name: str, kind: str) -> str | None:
    if kind in {"person", "animal", "organization", "event", "place"}:
        return None
    if _is_doing(name):
        first, *rest = name.split()
        return _doing(name, kind) if len(rest) <= 2 and first not in _FAINT_DOING else None
    if _has_name(name):
        return name
    head = _head(name)
    if head in _listed("vague") or head in words("nouns", "vague"):
        return None
    is_mass = head in _listed("mass") or head in _nouns()["activity"] or head in _nouns()["food"] or kind == "food"
    return name if is_mass or (_is_plural(head) and kind != "place") else None


def _pursuit(name: str, kind: str) -> str | None:
    is_one = name.casefold() in _listed("mass") | _nouns()["activity"]
    return name.casefold() if is_one and kind in {"activity", "concept"} else None


def _subject(name: str, kind: str) -> str | None:
    low = name.casefold()
    if low in words("nouns", "languages"):
        return low.capitalize()
    is_one = (
        low in _listed("mass") or low in words("nouns", "instruments") or low.split()[-1] in words("nouns", "fields")
    )
    is_instrument = low in words("nouns", "instruments")
    if not is_one:
        return name if _is_proper(name) and kind in {"concept", "tool"} else None
    return f"the {low}" if is_instrument else low


def _broad(name: str, _: str) -> str | None:
    low = name.casefold()
    return low if " " not in low else None


def _doing(name: str, _: str) -> str | None:
    low = name.split()
    if not _is_doing(name) or (len(low) < 2 and low[0] not in _nouns()["activity"]):
        return None
    rest = [_THEIRS.get(word.casefold(), word) for word in low[1:]]
    if not (_listed("clause_words") - _listed("doing_may")).isdisjoint(word.casefold() for word in rest):
        return None
    if not rest or rest[-1].casefold() not in _listed("vague") | words("nouns", "vague"):
        return " ".join([low[0], *rest])
    return None


def _occasion(name: str, kind: str) -> str | None:
    if _is_proper(name):
        return name if kind == "event" else None
    head = _head(name)
    return f"the {name}" if head in _listed("occasions") else None


def _journey(name: str, _: str) -> str | None:
    low = name.casefold()
    return f"your {low}" if low in {"trip", "holiday", "vacation", "journey", "tour", "cruise"} else None


def _project(name: str, kind: str) -> str | None:
    if _is_proper(name):
        return name if kind in {"project", "product", "tool", "concept", "work"} else None
    return f"the {name}" if _head(name) in _listed("undertakings") and not _is_plural(_head(name)) else None


_SHAPED: Mapping[str, Callable[[str, str], str | None]] = {
    "name": _name, "person": _person, "role": _role, "namesake": _namesake, "pet": _pet, "work": _work, "owned": _owned,
    "liked": _liked, "pursuit": _pursuit, "subject": _subject, "broad": _broad, "doing": _doing, "occasion": _occasion,
    "journey": _journey, "project": _project,
}  # fmt: skip
