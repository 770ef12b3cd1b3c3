"""One contribution to a shared pool: what is in it, how it is made of an experience, and what is accepted as one.

Its free fields (component, category, trigger, mitigation) are made of public words alone, whoever wrote it; all others
are of closed lists or hashes. It holds no instant, no exact count, and no id of what it was made of.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from em_pipelines.lifecycle.consolidation.evidence import OF_SKILLS, PROCEDURE
from em_pipelines.lifecycle.consolidation.safety import MAX_NAME_CHARACTERS, MAX_NAME_WORDS
from em_pipelines.lifecycle.consolidation.skills import MAX_STEPS
from em_pipelines.lifecycle.consolidation.wording import MAX_TRIGGER_WORDS
from em_pipelines.lifecycle.pool.public_words import STEP, domain_of, domains, is_public, plain, words_in
from em_pipelines.schema.ids import content_id

Band = Literal["3-5", "6-20", "20+"]
BANDS: tuple[tuple[int, Band], ...] = ((3, "3-5"), (6, "6-20"), (21, "20+"))
"""From how many occurrences a band begins."""
FREE_FIELDS = ("component", "category", "trigger", "mitigation")
ACTIVE = "active"


class Contribution(BaseModel):
    """What one contributor tells of one thing. `entry_id` is the same for the same thing, whoever tells it; `mark` is a
    salted hash that its home alone can make, another one for each entry."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    version: Literal[1] = 1
    entry_id: str = Field(pattern=r"^pool_[0-9a-f]{20}$")
    mark: str = Field(pattern=r"^[0-9a-f]{32}$")
    kind: Literal["failure", "anomaly", "procedure"]
    component: str = Field(min_length=1, max_length=MAX_NAME_CHARACTERS)
    category: str = Field(min_length=1, max_length=MAX_STEPS * (MAX_NAME_CHARACTERS + len(STEP)))
    trigger: str | None = Field(max_length=2 * MAX_NAME_CHARACTERS)
    mitigation: str | None = Field(max_length=MAX_NAME_CHARACTERS)
    count: Band
    month: str = Field(pattern=r"^2[0-9]{3}-(0[1-9]|1[0-2])$")
    domain: str = Field(max_length=40)
    privacy_level: Literal["L0", "L1"]

    def as_bytes(self) -> bytes:
        """One line of JSON."""
        return orjson.dumps(self.model_dump(), option=orjson.OPT_SORT_KEYS)

    @property
    def free(self) -> list[str]:
        """What of it is words."""
        return [text for name in FREE_FIELDS if (text := getattr(self, name)) is not None]


@dataclass(frozen=True, slots=True)
class Refused:
    """What was not given or not taken, and why, in a sentence that repeats nothing of it."""

    what: str
    reason: str


def entry_id_of(kind: str, component: str, category: str) -> str:
    """The id of what is told; the parts are `plain`."""
    return content_id("pool", kind, component, category)


def contribution_of(row: Mapping[str, Any], more: Collection[str]) -> Contribution | str:
    """What an experience gives to a pool, without a mark (all zeros); or why it gives nothing. `row` is of experiences,
    `more` are words that are public beside the shipped ones."""
    if reason := _why_nothing(row):
        return reason
    component, category = plain(row["component"]), plain(row["category"])
    if not (is_public(component, more) and is_public(category, more)):
        return "a word of its names is not known to be public"
    try:
        return Contribution(
            entry_id=entry_id_of(row["kind"], component, category),
            mark="0" * 32,
            kind=row["kind"],
            component=component,
            category=category,
            trigger=_if_public(row["trigger"], more),
            mitigation=_if_public(row["mitigation"], more),
            count=next(name for least, name in reversed(BANDS) if row["n_occurrences"] >= least),
            month=row["last_seen"].strftime("%Y-%m"),
            domain=domain_of((component, category)),
            privacy_level="L1",
        )
    except ValidationError:
        return "a name of it is too long"


def _why_nothing(row: Mapping[str, Any]) -> str | None:
    if row["kind"] not in OF_SKILLS:
        return "it rests on what somebody said"
    if row["status"] != ACTIVE:
        return "it does not count yet"
    return "it happened too few times" if row["n_occurrences"] < BANDS[0][0] else None


def _if_public(text: str | None, more: Collection[str]) -> str | None:
    """Whole, or not at all."""
    found = plain(text) if text else ""
    return found if found and is_public(found, more) else None


def read_contribution(data: bytes, more: Collection[str]) -> Contribution | str:
    """A contribution as somebody wrote it, or what is wrong with it. Nothing of it is taken at its word: shape, sizes,
    id and words are checked."""
    try:
        found = Contribution.model_validate(orjson.loads(data), strict=True)
    except orjson.JSONDecodeError:
        return "it is no JSON"
    except ValidationError as error:
        where = next((str(part) for part in error.errors()[0]["loc"] if part in Contribution.model_fields), "")
        return f"its {where} is not what it should be" if where else "its fields are not those of a contribution"
    return _flaw(found, more) or found


def _flaw(found: Contribution, more: Collection[str]) -> str | None:
    """What is wrong with a contribution of the right shape."""
    steps = found.category.split(STEP)
    names = [found.component, *([found.mitigation] if found.mitigation else ())]
    n_most = max(len(words_in(name)) for name in (*names, *steps))
    checks = (
        (found.entry_id == entry_id_of(found.kind, found.component, found.category), "its id is another one's"),
        (found.domain in domains(), "its domain is none"),
        (all(is_public(text, more) for text in found.free), "a word of it is not known to be public"),
        (_are_steps(found, steps), "its steps are none"),
        (n_most <= MAX_NAME_WORDS and not any(STEP in name for name in names), "a name of it is none"),
        (_is_trigger(found.trigger), "its trigger is none"),
    )
    return next((reason for holds, reason in checks if not holds), None)


def _are_steps(found: Contribution, steps: Sequence[str]) -> bool:
    if found.kind != PROCEDURE:
        return len(steps) == 1
    return 1 < len(steps) <= MAX_STEPS and found.component == steps[-1]


def _is_trigger(trigger: str | None) -> bool:
    return not trigger or (len(words_in(trigger)) <= 2 * MAX_TRIGGER_WORDS and STEP not in trigger)


def months_before(month: str, day: date) -> int:
    """How many months a month lies before that of a day; negative: after."""
    return (day.year - int(month[:4])) * 12 + day.month - int(month[5:])
