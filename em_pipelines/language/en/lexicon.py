"""Word classes: the closed lists that the engine and the gate read, kept as YAML beside the patterns.

Only loading lives here, and what lists alone can tell. A new list is a new key in one of the files of
`language/en/word_lists/`.
"""

import re
from collections import defaultdict
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import yaml

from em_pipelines.errors import PatternError
from em_pipelines.language.values import read_yaml
from em_pipelines.schema.vocabulary import EntityType

_WORD = re.compile(r"[a-z]+")
LEXICON_DIR = Path(__file__).with_name("word_lists")


@lru_cache(maxsize=32)
def load_lexicon(name: str, folder: Path = LEXICON_DIR) -> dict[str, Any]:
    """Reads one lexicon file, without its `.yaml`. Raises PatternError when it cannot be read."""
    path = folder / f"{name}.yaml"
    try:
        data = read_yaml(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise PatternError(f"Reading the word lists {path}: {error}. Mend or restore the file.") from error
    if not isinstance(data, dict):
        raise PatternError(f"Reading the word lists {path}: found {type(data).__name__}, expected lists by name.")
    return data


def words(name: str, key: str) -> frozenset[str]:
    """Returns one list of a lexicon file as a set; its entries may be written in one string, split at blanks."""
    return frozenset(_entries(load_lexicon(name)[key]))


@lru_cache(maxsize=256)
def words_of_language(key: str, language: str) -> frozenset[str]:
    """A list of `languages.yaml` of one language (ISO 639-1), as a set; empty where there is none."""
    return frozenset(_entries(load_lexicon("languages")[key].get(language)))


@lru_cache(maxsize=8)
def words_of_languages(key: str) -> frozenset[str]:
    """The lists of a key of `languages.yaml` of all languages together."""
    return frozenset(chain.from_iterable(map(_entries, load_lexicon("languages")[key].values())))


def in_order(name: str, key: str) -> list[str]:
    """Returns one list of a lexicon file as it is written."""
    return _entries(load_lexicon(name)[key])


def mapping(name: str, key: str) -> dict[str, str]:
    """Returns the map from each entry to its group, for a list written as `group: entries`."""
    groups: dict[str, Any] = load_lexicon(name)[key]
    return {entry: str(group) for group, entries in groups.items() for entry in _entries(entries)}


def _entries(value: Any) -> list[str]:
    if isinstance(value, str):
        return value.split()
    return [str(entry) for entry in value or []]


def _topics_by(key: str) -> dict[str, list[str]]:
    """Each relation, type of object or word (`key`) to its topics, as `topics.yaml` has them."""
    found: dict[str, list[str]] = defaultdict(list)
    for topic, listed in load_lexicon("topics")[key].items():
        for one in listed.split():
            found[one].append(topic)
    return dict(found)


_TOPICS_OF_RELATION, _TOPICS_OF_TYPE, _TOPICS_OF_WORD = (_topics_by(key) for key in ("relations", "types", "words"))


def topics_of(relation: str, object_type: str | None, text: str) -> list[str]:
    """What a fact is about, in topics of `topics.yaml`, in order: by relation, type of the object, and words."""
    found = [*_TOPICS_OF_RELATION.get(relation, ()), *_TOPICS_OF_TYPE.get(object_type or "", ())]
    found += chain.from_iterable(_TOPICS_OF_WORD.get(word, ()) for word in _WORD.findall(text.lower()))
    return sorted(set(found))


_KIN = mapping("people", "relations")
_BY_NOUN = {noun: EntityType(name) for name, nouns in load_lexicon("nouns")["types"].items() for noun in nouns.split()}
_PROFESSIONS = words("nouns", "professions")
_PROFESSION_ENDINGS = tuple(words("nouns", "profession_suffixes"))
_ORIGINS = words("nouns", "nationalities") | words("nouns", "diets_and_faiths")
_NOT_PROFESSIONS = words("nouns", "not_professions")
PLACES = words("names", "countries") | words("names", "cities")
FEMALE_NAMES = words("names", "female")
MALE_NAMES = words("names", "male")

EXPECTED_OBJECT = {
    relation: EntityType(kind)
    for kind, relations in load_lexicon("names")["expected_objects"].items()
    for relation in relations.split()
}


def listed_type(head: str) -> EntityType | None:
    """The type that the noun lists give a head noun, case-folded."""
    return _BY_NOUN.get(head)


def type_of_name(name: str) -> EntityType | None:
    """Place or person, where the name is a listed one; None where it could name anything."""
    low = name.casefold()
    if low in PLACES:
        return EntityType.PLACE
    first = low.split(" ", 1)[0]
    is_given = name[:1].isupper() and (first in FEMALE_NAMES or first in MALE_NAMES)
    return EntityType.PERSON if is_given else None


def gender_of_name(name: str) -> str:
    """`f` or `m` for a listed given name, else an empty string."""
    first = name.casefold().split(" ", 1)[0]
    return "f" if first in FEMALE_NAMES else "m" if first in MALE_NAMES else ""


@lru_cache(maxsize=16384)
def guess_type(name: str, expected: EntityType | None = None) -> EntityType:
    """The type of a thing called `name`."""
    head = name.casefold().rsplit(" ", 1)[-1]
    found = _BY_NOUN.get(head)
    if found is not None:
        return found
    if expected is not None:
        return expected
    first = name.casefold().split(" ", 1)[0]
    named = type_of_name(name)
    if named is not None:
        return named
    if (head.endswith("ing") and len(head) > 5) or (first.endswith("ing") and len(first) > 5):
        return EntityType.ACTIVITY
    return EntityType.CONCEPT


def is_listed_profession(head: str) -> bool:
    """Whether a noun, case-folded, is in the list: no guess by its ending, as `cheaper` ends like `baker`."""
    return head in _PROFESSIONS


@lru_cache(maxsize=16384)
def is_profession(head: str) -> bool:
    """Whether a noun, case-folded, names what somebody does for a living."""
    if head in _PROFESSIONS:
        return True
    if head in _ORIGINS or head in _KIN:
        return False
    return len(head) > 4 and head.endswith(_PROFESSION_ENDINGS) and head not in _NOT_PROFESSIONS
