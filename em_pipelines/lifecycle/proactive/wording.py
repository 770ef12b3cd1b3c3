"""How a thing is named in a question: the shapes that a name has, by its words and its type.

A gap says which shape its wording needs (gaps.yaml); what has none of it is not asked about. Better no question than an
awkward one: a singular noun of which nobody knows whether it can be counted, say, has no shape for `do you like …`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache

from em_pipelines.language.en.lexicon import words
from em_pipelines.language.en.tokens import ALSO_NOUNS, ING, VERB_FORMS
from em_pipelines.lifecycle.proactive.plain_names import (
    PREPOSITIONS,
    common,
    has_name,
    head,
    is_doing,
    is_plural,
    is_private,
    is_proper,
    listed,
    nouns,
    person_roles,
    plain,
)

MAX_LIKED_WORDS = 3
_BEFORE_THINGS = frozenset({"the", "a", "an", "my", "our"})
MAX_PERSON_WORDS = 3
_THEIRS = {"my": "your", "our": "your", "myself": "yourself", "ourselves": "yourselves"}
_AN = re.compile(r"(?i)^(?:[aeio]|u(?!ni|se|k)|hour|honest)")


def shapes(name: str, entity_type: str) -> Iterator[tuple[str, str]]:
    """Every shape that a name of a type has, with the words that stand for it: none where it is unfit or private."""
    bare = plain(name)
    if bare is None or is_private(bare):
        return
    for shape, worded in SHAPED.items():
        text = worded(bare, entity_type)
        if text is not None:
            yield shape, text


def shaped(names: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Rows of name, entity_type, shape and text of all shapes of names with their types."""
    return [
        {"name": name, "entity_type": kind, "shape": shape, "text": text}
        for name, kind in names
        for shape, text in shapes(name, kind)
    ]


@cache
def given_names() -> frozenset[str]:
    """First names that are listed."""
    return words("names", "female") | words("names", "male")


def _name(name: str, kind: str) -> str | None:
    """What one is at, in, with or uses: `Tallybird`, `the choir`, `Svendborg`."""
    if kind == "place" and head(name) in listed("streets"):
        return None
    if is_proper(name):
        return name if kind not in {"person", "animal", "food", "activity", "event"} else None
    if kind == "place" and name.islower() and len(name.split()) <= 2:
        return name.title() if common().isdisjoint(name.split()) else None
    if kind == "organization" and head(name) in listed("bodies"):
        return f"the {name}"
    return name if kind in {"organization", "tool", "product", "project"} and has_name(name) else None


def _person(name: str, kind: str) -> str | None:
    low = name.casefold().split()
    if kind not in {"person", "animal"} or len(low) > MAX_PERSON_WORDS or not common().isdisjoint(low):
        return None
    if is_proper(name):
        return name
    return name.capitalize() if name.islower() and name in given_names() else None


def _role(name: str, kind: str) -> str | None:
    """Somebody without a name: `your brother`, `your best friend`; not those whose role says already who is meant."""
    *before, role = name.casefold().split()
    is_one = role in person_roles() and role not in listed("unnamed_roles") and not is_plural(role)
    is_clean = is_one and words("people", "modifiers").issuperset(before)
    return f"your {name.casefold()}" if is_clean and kind == "person" else None


def _namesake(name: str, kind: str) -> str | None:
    role, _, rest = name.partition(" ")
    person = _person(rest, "person") if kind == "namesake" and rest else None
    return f"your {role} {person}" if person and role in person_roles() else None


def _pet(name: str, kind: str) -> str | None:
    low = name.casefold()
    is_one = low in words("people", "pets") and not is_plural(low)
    return f"your {low}" if is_one and kind == "animal" else None


@cache
def _trades() -> frozenset[str]:
    return words("nouns", "professions") | words("nouns", "posts") | words("people", "person_roles")


def _work(name: str, kind: str) -> str | None:
    """A profession with its article: `an electrician`."""
    each = name.split()
    last = each[-1]
    if kind not in {"concept", "person", "activity"} or not last.islower() or is_plural(last):
        return None
    ends_like_one = len(last) > 4 and last.endswith(tuple(words("nouns", "profession_suffixes")))
    is_trade = last in _trades() or (ends_like_one and last not in words("nouns", "not_professions"))
    if not is_trade or not listed("not_trades").isdisjoint(name.casefold().split()):
        return None
    spoken = words("nouns", "languages")
    text = " ".join(word.capitalize() if word in spoken else word for word in each)
    return f"{'an' if _AN.match(text) else 'a'} {text}"


def _desk_work(name: str, kind: str) -> str | None:
    """A trade with programs and works of days."""
    return _work(name, kind) if head(name) in listed("desk_trades") else None


def _employed_work(name: str, kind: str) -> str | None:
    """A trade that one has at a place, and mostly not as one's own master."""
    return None if head(name) in listed("own_masters") else _work(name, kind)


def _faculty(name: str, kind: str) -> str | None:
    """Where one studies something, rather than everything."""
    return _name(name, kind) if listed("schools").isdisjoint(name.casefold().split()) else None


def _owned(name: str, kind: str) -> str | None:
    if kind not in {"vehicle", "product", "tool", "concept"} or is_doing(name):
        return None
    things = nouns("vehicle") | words("nouns", "gadgets") | words("nouns", "kept_things")
    is_one = is_proper(name) or head(name) in things or (has_name(name) and kind != "concept")
    return f"your {name}" if is_one else None


def _liked(name: str, kind: str) -> str | None:
    """What one can like as it is: proper names, plurals, food and what cannot be counted, and what one does."""
    if kind in {"person", "animal", "organization", "event", "place"}:
        return None
    if is_doing(name):
        first, *rest = name.split()
        return _doing(name, kind) if len(rest) < MAX_LIKED_WORDS and first not in listed("faint_doing") else None
    if is_proper(name):
        return name
    noun = head(name)
    if noun in listed("vague") or noun in words("nouns", "vague"):
        return None
    is_mass = kind == "food" or noun in listed("mass") | nouns("activity") | nouns("food")
    return name if is_mass or is_plural(noun) else None


def _pursuit(name: str, kind: str) -> str | None:
    low = name.casefold()
    is_one = low in listed("mass") | nouns("activity")
    return low if is_one and kind in {"activity", "concept"} else None


def _subject(name: str, kind: str) -> str | None:
    """What one learns: `history`, `Portuguese`, `the cello`."""
    low = name.casefold()
    if low in words("nouns", "languages"):
        return low.capitalize()
    if low in words("nouns", "instruments"):
        return f"the {low}"
    if head(name) in listed("degrees"):
        return None
    if low in listed("mass") or low in words("nouns", "fields"):
        return low
    return name if is_proper(name) and kind in {"concept", "tool"} else None


def _broad(name: str, _: str) -> str | None:
    return name.casefold() if " " not in name else None


def _doing(name: str, _: str) -> str | None:
    """What one is about to do: `going to Lisbon`, `repainting your kitchen`."""
    first, *rest = name.split()
    if not is_doing(name) or not (rest or first in nouns("activity")):
        return None
    theirs = [_THEIRS.get(word.casefold(), word) for word in rest]
    low = [word.casefold() for word in theirs]
    if not (listed("clause_words") - listed("doing_may")).isdisjoint(low):
        return None
    is_empty = bool(low) and low[-1] in listed("vague") | words("nouns", "vague")
    return None if is_empty else " ".join([first, *theirs])


@cache
def _gerunds() -> dict[str, str]:
    """The -ing form of each verb of the lexicon, by its plain form."""
    return {lemma: form for form, lemmas in VERB_FORMS.items() for lemma, kinds in lemmas.items() if kinds & ING}


def _again(verb: str) -> str | None:
    """`repainting`, of a verb that is listed as `paint`."""
    gerund = _gerunds().get(verb.removeprefix("re"))
    return f"re{gerund}" if gerund and verb.startswith("re") else None


def _to_do(name: str, kind: str) -> str | None:
    """What one has put down for a day: `visit my brother` is `visiting your brother`; `trip to Lisbon` is no doing."""
    first, *rest = name.split()
    gerund = _gerunds().get(first) or _again(first)
    if gerund is None or not rest or first in listed("occasions"):
        return None
    has_object = not _BEFORE_THINGS.isdisjoint(word.casefold() for word in rest[:2]) or rest[0][:1].isupper()
    is_verb = has_object or (rest[0] in PREPOSITIONS and first not in ALSO_NOUNS)
    return _doing(" ".join([gerund, *rest]), kind) if is_verb else None


def _occasion(name: str, kind: str) -> str | None:
    if is_proper(name):
        return name if kind == "event" else None
    return f"the {name}" if head(name) in listed("occasions") else None


def _journey(name: str, _: str) -> str | None:
    low = name.casefold()
    return f"your {low}" if low in {"trip", "holiday", "vacation", "journey", "tour", "cruise"} else None


def _project(name: str, kind: str) -> str | None:
    if is_proper(name):
        return name if kind in {"project", "product", "tool", "concept", "work"} else None
    return f"the {name}" if head(name) in listed("undertakings") else None


def _topic(name: str, _: str) -> str | None:
    """What was spoken of, in its own words."""
    return name


SHAPED: Mapping[str, Callable[[str, str], str | None]] = {
    "name": _name, "person": _person, "role": _role, "namesake": _namesake, "pet": _pet, "work": _work, "owned": _owned,
    "liked": _liked, "pursuit": _pursuit, "subject": _subject, "broad": _broad, "doing": _doing, "occasion": _occasion,
    "journey": _journey, "project": _project, "desk_work": _desk_work, "employed_work": _employed_work,
    "faculty": _faculty, "to_do": _to_do, "topic": _topic,
}  # fmt: skip
"""Each shape, and what a plain name of a type looks like in it; None where it has no such shape."""
