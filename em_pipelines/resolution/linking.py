"""Joining a row with what its name shows it to be: candidates by blocking key, verdicts on each, one group or none.

A group is a candidate if some name of it fits and none speaks against it; of several that cannot be one, none is taken
unless one fits clearly better.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from em_pipelines.resolution.judging import judge
from em_pipelines.resolution.objections import is_open
from em_pipelines.resolution.settings import ResolutionSettings
from em_pipelines.resolution.state import Cause, Registry, is_user, parsed
from em_pipelines.resolution.verdicts import IN_FULL, STRONG, WEAK, Verdict
from em_pipelines.vocabulary import EntityType

Row = dict[str, Any]
REASONS = {
    "spelling": "the same name in another spelling",
    "known": "two names that are one thing everywhere",
    "word_order": "the same words in another order",
    "acronym": "the initials of the other name",
    "abbreviation": "the other name abbreviated, with the same number",
    "model": "the same model, by its maker and by its family",
    "initials": "the same surname, and the initial of the given name",
    "nickname": "a familiar form of the given name",
    "part": "the same name with fewer words, and no other has them",
    "short_form": "the given name shortened, after it was known in full",
    "similarity": "all but the same spelling",
    "definite": "one of its kind, spoken of as known",
}
DEFINITE_TYPES = frozenset(
    {
        EntityType.VEHICLE, EntityType.CONCEPT, EntityType.PLACE, EntityType.ORGANIZATION, EntityType.ANIMAL,
        EntityType.PRODUCT, EntityType.PROJECT, EntityType.EVENT,
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fit:
    """A group that a name fits, by which of its rows and how."""

    row: Row
    verdict: Verdict


def link_by_name(
    registry: Registry, row: Row, settings: ResolutionSettings, cause: Cause, *, is_definite: bool,
    is_called_so: bool,
) -> None:  # fmt: skip
    """Joins a row with the group that its name fits, if there is one."""
    if is_user(row):
        return
    fits = fitting(registry, row, settings, is_called_so=is_called_so)
    if not fits and is_definite:
        fits = _definite(registry, row, settings)
    for fit in _chosen(registry, fits):
        method = fit.verdict.method
        registry.join(row, fit.row, method, fit.verdict.score, REASONS[method], cause)


def fitting(registry: Registry, row: Row, settings: ResolutionSettings, *, is_called_so: bool = False) -> list[Fit]:
    """The best fit of each group that a row's name fits, best groups first."""
    found: dict[str, Fit] = {}
    refused: set[str] = set()
    for other in registry.alike(row["canonical_name"], row["entity_type"]):
        group = registry.representative(other)["entity_id"]
        if group in refused or is_user(other) or registry.are_one(row, other):
            continue
        verdict = judge(row, other)
        if verdict is not None and not is_called_so and _is_told_apart(row, other, verdict, settings):
            refused.add(group)
            continue
        if verdict is None or verdict.is_conflict or verdict.score < settings.min_score:
            continue
        known = found.get(group)
        if known is None and not is_open(registry, row, other, verdict):
            refused.add(group)
        elif known is None or verdict.score > known.verdict.score:
            found[group] = Fit(other, verdict)
    return sorted(found.values(), key=lambda fit: (-fit.verdict.score, fit.row["entity_id"]))


def _is_told_apart(row: Row, other: Row, verdict: Verdict, settings: ResolutionSettings) -> bool:
    """Whether both were spoken of in one conversation: there, nobody changes from Chris to Christine, or from Marc to
    Mark, without a word."""
    is_one_spelling = verdict.method == "similarity" and row["entity_type"] != EntityType.PERSON
    if verdict.method not in WEAK or is_one_spelling:
        return False
    since = row["last_referenced"] - other["last_referenced"]
    return bool(since < timedelta(hours=settings.conversation_hours))


def _definite(registry: Registry, row: Row, settings: ResolutionSettings) -> list[Fit]:
    """`The bus` is the team bus, `the walnut` the walnut tree, if it is the only one of its type that shares the word,
    and was spoken of not long ago."""
    name = parsed(row)
    if row["entity_type"] not in DEFINITE_TYPES:
        return []
    since = row["last_referenced"] - timedelta(days=settings.definite_days)
    found: dict[str, Fit] = {}
    for other in registry.alike(row["canonical_name"], row["entity_type"]):
        if (
            registry.are_one(row, other)
            or other["entity_type"] != row["entity_type"]
            or other["last_referenced"] < since
        ):
            continue
        short, long = sorted((name, parsed(other)), key=lambda n: len(n.all_tokens))
        size = len(short.all_tokens)
        is_part = size < len(long.all_tokens) and short.all_tokens in (long.all_tokens[:size], long.all_tokens[-size:])
        verdict = Verdict("definite", settings.min_score)
        if is_part and not short.digits and is_open(registry, row, other, verdict):
            found.setdefault(registry.representative(other)["entity_id"], Fit(other, verdict))
        elif is_part:
            return []
    return list(found.values()) if len(found) == 1 else []


def _chosen(registry: Registry, fits: list[Fit]) -> list[Fit]:
    """All fits that can be one thing together; else the one that is clearly the best; else none."""
    if len(fits) > 1:
        fits = [fit for fit in fits if fit.verdict.method not in WEAK or fit.verdict.score >= IN_FULL] or fits
    if len(fits) < 2 or _are_one_thing(registry, fits):
        return fits
    strong = [fit for fit in fits if fit.verdict.method in STRONG]
    if strong and _are_one_thing(registry, strong):
        return strong
    best, second = fits[0], fits[1]
    return [best] if best.verdict.score > second.verdict.score and best.verdict.method != "part" else []


def _are_one_thing(registry: Registry, fits: list[Fit]) -> bool:
    for n, fit in enumerate(fits):
        for other in fits[n + 1 :]:
            if not is_open(registry, fit.row, other.row, fit.verdict):
                return False
            if fit.row["name_key"] == other.row["name_key"]:
                return False
    return True
