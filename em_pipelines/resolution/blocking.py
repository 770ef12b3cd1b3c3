"""Blocking keys: two names can only be one thing if they share a key, so that a name meets few others of a registry."""

from functools import lru_cache

from em_pipelines.resolution.lexicon import full_forms, roles, words
from em_pipelines.resolution.naming import Name, head_role, parse_name
from em_pipelines.resolution.people_names import sounds

PREFIX_LETTERS = 3


@lru_cache(maxsize=200_000)
def name_keys(text: str, entity_type: str) -> frozenset[str]:
    """The blocking keys of a name: whole, as known, its words, initials, beginning, and what a given name may be short
    for."""
    name = parse_name(text, entity_type)
    keys = {f"={name.compact}", f"={name.known_as}", f"^{name.compact[:PREFIX_LETTERS]}"}
    keys |= {f" {token}" for token in name.all_tokens if token not in words("small_words") or len(name.all_tokens) == 1}
    keys |= _initials(name)
    if name.digits and len(name.tokens) == 2:
        keys.add(f"#{name.tokens[0][0]}{name.tokens[1]}")
    if name.person is not None:
        for given in {name.person.given, name.person.single} - {""}:
            keys |= {f"~{given}", *(f"~{full}" for full in full_forms().get(given, ()))}
            keys |= {f"^{given[:PREFIX_LETTERS]}", f"&{sounds(given)}"}
        if name.person.role:
            keys |= role_keys(name.person.role)
    return frozenset(keys)


def _initials(name: Name) -> set[str]:
    if len(name.all_tokens) == 1:
        return {f"@{name.compact}"} if len(name.compact) <= 6 else set()
    telling = [token for token in name.all_tokens if token not in words("small_words")]
    return {"@" + "".join(t[0] for t in name.all_tokens), "@" + "".join(t[0] for t in telling)}


@lru_cache(maxsize=4096)
def role_keys(role: str) -> frozenset[str]:
    """The blocking keys of a role: its own, and those of the steps of one love."""
    head = head_role(role)
    partners = {member for group in roles().partners if head in group for member in group}
    return frozenset(f"${found}" for found in {role, head, *partners})


def row_keys(canonical_name: str, entity_type: str, qualifiers: list[str]) -> frozenset[str]:
    """The blocking keys of a row of the registry: of its name, and of what its bearer was said to be."""
    keys = name_keys(canonical_name, entity_type)
    for qualifier in qualifiers:
        if not qualifier.startswith("at "):
            keys |= role_keys(qualifier.partition(" of ")[0])
    return keys
