"""The verdict on two rows of the registry: that on their names, as far as their types let it hold."""

from typing import Any

from em_pipelines.resolution.comparison import compare
from em_pipelines.resolution.kinds import is_one_under_one_name, is_same_kind
from em_pipelines.resolution.naming import Name
from em_pipelines.resolution.state import parsed
from em_pipelines.resolution.verdicts import CONFLICT, Verdict
from em_pipelines.vocabulary import EntityType

Row = dict[str, Any]
MADE_THINGS = frozenset({EntityType.PRODUCT, EntityType.VEHICLE, EntityType.TOOL, EntityType.PROJECT})


def judge(row: Row, other: Row) -> Verdict | None:
    """The verdict on two rows: of one name key where they are namesakes, else of their names."""
    if row["name_key"] == other["name_key"]:
        return None
    name, against = parsed(row), parsed(other)
    if not is_same_kind(row["entity_type"], other["entity_type"]):
        is_near = is_one_under_one_name(row["entity_type"], other["entity_type"], name.n_telling)
        return Verdict("spelling", 0.95) if is_near and name.compact == against.compact else None
    verdict = compare(name, against)
    if verdict is not None and verdict.method == "short_form":
        return verdict if _is_shortened(name, against) else CONFLICT
    if (
        verdict is not None
        and row["entity_type"] != other["entity_type"]
        and not _holds_of_concepts(verdict, name, against)
    ):
        return None
    return verdict


def _holds_of_concepts(verdict: Verdict, one: Name, other: Name) -> bool:
    """Whether a verdict holds where the type of one is not known: `Bukh` may be the Bukh DV36, but a community is
    neither its centre nor its conference."""
    if verdict.method == "spelling":
        return one.all_tokens == other.all_tokens or one.compact == other.compact
    if verdict.method == "part":
        return not {one.entity_type, other.entity_type}.isdisjoint(MADE_THINGS)
    return verdict.method != "similarity"


def _is_shortened(name: Name, known: Name) -> bool:
    """Familiar forms follow the name: who was met as Priya is not Priyanka for being shorter."""
    if name.person is None or known.person is None:
        return False
    return bool(name.person.single) and len(name.person.single) < len(known.person.given or known.person.single)
