"""Names that are words for whoever fills a role: wife, dad, dentist."""

from functools import cache

from em_pipelines.language.document import english
from em_pipelines.language.name_keys import UNIQUE_ROLES, noun_of, owner_of
from em_pipelines.language.name_matching import key_of
from em_pipelines.schema.vocabulary import USER


def is_proper(name: str) -> bool:
    """Whether a name is more than a word for whoever fills a role: Lena, not wife."""
    return key_of(name) not in common_names()


def role_of(name: str) -> str:
    """The role in a name that says whose it is, as worded: dad of Katya's dad; empty for other names."""
    noun = noun_of(name)
    return noun if owner_of(name) and not is_proper(noun) else ""


@cache
def common_names() -> frozenset[str]:
    """Keys of words for whoever fills a role, and of the remembered person."""
    return frozenset({*english.kin, *english.words("people", "person_roles"), *english.pets}) | {
        key_of(role) for role in (*UNIQUE_ROLES, USER)
    }
