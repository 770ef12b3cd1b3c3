"""Word classes: the closed lists that the engine and the gate read, kept as YAML beside the patterns.

Only loading lives here, and what lists alone can tell. A new list is a new key in one of the files of
`patterns/lexicon/`.
"""

import re
from collections import defaultdict
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import yaml

from em_pipelines.errors import PatternError
from em_pipelines.text.values import read_yaml

_WORD = re.compile(r"[a-z]+")
_NONE = [0, 0]
LEXICON_DIR = Path(__file__).resolve().parents[1] / "patterns/lexicon"


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


@lru_cache(maxsize=1024)
def reliability(pattern_id: str, *, is_talk: bool, is_by_i: bool = False) -> float:
    """The share of the claims of a pattern that people judged right, 0 to 1.

    `is_talk`: in talk among people; `is_by_i`: of what the speaker says of themselves by `I`. Shares are smoothed, so
    that few judged claims do not say much: that of a group of patterns by the share of all groups, that of a pattern by
    its group's, that of what is said by `I`, or is not, by the pattern's.
    """
    counts = load_lexicon("sureness")["among_people" if is_talk else "with_an_assistant"]
    prior, group = counts["prior"], pattern_id.split(".", maxsplit=1)[0]
    share = _smoothed(counts["groups"].get(group, _NONE), prior["right"], prior["claims"])
    judged = counts["patterns"].get(pattern_id, {})
    by_i, others = judged.get("i", _NONE), judged.get("others", _NONE)
    share = _smoothed([by_i[0] + others[0], by_i[1] + others[1]], share, prior["claims_above"])
    return _smoothed(by_i if is_by_i else others, share, prior["claims_above"])


def _smoothed(counts: list[int], prior: float, weight: float) -> float:
    n_right, n = counts
    return float((n_right + prior * weight) / (n + weight))
