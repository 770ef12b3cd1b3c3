"""The word lists of resolution, from `data/`: familiar forms of names, roles, kinds of things, names known to all.

Loading alone lives here. A new list is a new key of one of the files.
"""

from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from em_pipelines.resolution.normalization import compact_key, fold
from em_pipelines.yaml_text import read_yaml

DATA = Path(__file__).with_name("data")


@cache
def load(name: str) -> Any:
    """The content of one file of `data/`, without its `.yaml`."""
    return read_yaml((DATA / f"{name}.yaml").read_text(encoding="utf-8"))


@cache
def words(key: str) -> frozenset[str]:
    """One flat list of words.yaml."""
    return frozenset(load("words")[key].split())


@cache
def kind_words(entity_type: str) -> frozenset[str]:
    """Words that say what kind of thing a name of that type names, and add nothing to it."""
    return frozenset(str(load("words")["kind_words"].get(entity_type, "")).split())


@cache
def abbreviations() -> dict[str, str]:
    """Words by the abbreviation that they are compared as."""
    return dict(load("words")["abbreviations"])


@cache
def full_forms() -> dict[str, frozenset[str]]:
    """Given names that a familiar form may stand for."""
    found: dict[str, set[str]] = defaultdict(set)
    for full, familiar in load("nicknames").items():
        for nickname in str(familiar).split():
            found[fold(nickname)].add(fold(full))
    return {nickname: frozenset(full) for nickname, full in found.items()}


@cache
def familiar_forms() -> dict[str, frozenset[str]]:
    """Familiar forms of a given name."""
    return {fold(full): frozenset(fold(n) for n in str(names).split()) for full, names in load("nicknames").items()}


def is_given_name(name: str) -> bool:
    """Whether a folded name is a given name, in full or familiar, of those listed."""
    return name in familiar_forms() or name in full_forms()


@dataclass(frozen=True, slots=True)
class Roles:
    """What people are to somebody. `canonical` maps every word for a role to the one it is compared as; `kind` says
    of those whether they are kin, social or professional."""

    canonical: dict[str, str]
    kind: dict[str, str]
    unique: frozenset[str]
    partners: tuple[frozenset[str], ...]
    plain_modifiers: frozenset[str]
    telling_modifiers: frozenset[str]
    formal_titles: frozenset[str]
    titles: frozenset[str]
    people: frozenset[str]
    particles: frozenset[str]
    called_by: frozenset[str]
    title_genders: dict[str, str]


@cache
def roles() -> Roles:
    """The roles of roles.yaml."""
    data = load("roles")
    canonical: dict[str, str] = {}
    kind: dict[str, str] = {}
    for name in ("kin", "social", "professional"):
        for role, synonyms in data[name].items():
            kind.setdefault(role, name)
            for word in (role, *str(synonyms).split()):
                canonical.setdefault(word, role)
    lists = (
        "unique",
        "plain_modifiers",
        "telling_modifiers",
        "formal_titles",
        "titles",
        "people",
        "particles",
        "called_by",
    )
    split = {key: frozenset(data[key].split()) for key in lists}
    partners = tuple(frozenset(group.split()) for group in data["partners"])
    genders = {title: group for group in data["title_genders"] for title in group.split()}
    return Roles(canonical, kind, partners=partners, title_genders=genders, **split)


@cache
def known_names(entity_type: str) -> dict[str, str]:
    """What everybody knows to be one, by compact key: any of its names → the name it is compared as."""
    found: dict[str, str] = {}
    for name, others in (load("known_names").get(entity_type) or {}).items():
        for worded in (name, *str(others).split("|")):
            found[compact_key(worded)] = compact_key(name)
    return found


@cache
def homes() -> dict[str, frozenset[str]]:
    """Lands that add nothing to a place's name, by compact keys."""
    return {
        compact_key(place): frozenset(compact_key(land) for land in str(lands).split("|"))
        for place, lands in load("known_names")["homes"].items()
    }
