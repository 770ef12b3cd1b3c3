"""Facts by what they say: the key under which an erased fact is recognised, in claims and in feedback."""

from collections.abc import Iterator, Mapping
from typing import Any

from em_pipelines.language.name_matching import key_of
from em_pipelines.schema.feedback_payloads import FactNamed
from em_pipelines.schema.ids import content_id
from em_pipelines.schema.vocabulary import INVERSES, SYMMETRIC

FactKey = tuple[str, ...]
SEED = "seed"
_FORWARD = {inverse: relation for relation, inverse in INVERSES.items()}


def fact_key(subject: str, relation: str, obj: str, attribute: str | None, polarity: int) -> FactKey:
    """What a fact says, names and literals as they are compared, whichever end it was told from."""
    ends = [key_of(subject), key_of(obj) or obj.strip().casefold()]
    if relation in _FORWARD:
        ends, relation = ends[::-1], _FORWARD[relation]
    elif relation in SYMMETRIC:
        ends.sort()
    return ends[0], relation, ends[1], (attribute or "").strip().casefold(), str(polarity)


def key_of_claim(claim: Mapping[str, Any]) -> FactKey:
    """The key of a row of `claims`."""
    said = claim["object"] if claim["object"] is not None else claim["value"]
    return fact_key(claim["subject"], claim["relation"], said or "", claim["attribute"], claim["polarity"])


def seed_id_of(user_id: str, key: FactKey) -> str:
    """The id of an imported fact without a date of its own: it is known by what it says."""
    return content_id(SEED, SEED, user_id, *key, "")


def key_of_named(given: Mapping[str, Any]) -> FactKey | None:
    """The key of a fact as feedback names it; None where it names no whole fact."""
    try:
        named = FactNamed.model_validate(dict(given))
    except ValueError:
        return None
    if named.relation is None or named.object is None:
        return None
    return fact_key(named.subject, named.relation, named.object, named.attribute, named.polarity)


def strings_in(value: object) -> Iterator[str]:
    """Every text in a JSON value, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from strings_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from strings_in(inner)
