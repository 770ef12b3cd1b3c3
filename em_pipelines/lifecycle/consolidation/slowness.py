"""Slow successes: which ones are, and what they have in common that others of their skill have not."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from statistics import fmean, median

from em_pipelines.lifecycle.consolidation.circumstances import Row
from em_pipelines.lifecycle.consolidation.evidence import words_of
from em_pipelines.lifecycle.consolidation.settings import ConsolidationSettings

MIN_TIMED_DAYS = 4
"""Days on which failures have to keep to a time of the day or week: three incidents fall on Tuesdays at times."""
Before = Mapping[str, tuple[str | None, bool] | None]
"""By the id of a call what was called before it in its conversation, and whether it was the first of its skill; None
where only the time of calls is looked at."""
SLOW = "slow"
MAD_SCALE = 0.6745
"""Makes the median absolute deviation comparable with a standard deviation (Iglewicz and Hoaglin, 1993)."""
MIN_FOR_SPREAD = 8
"""Successes of a skill from which its usual spread of times can be told."""
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
BLOCK_HOURS = 6
SHORTEST_TELLING = 3
"""Letters of a word that tells slow calls: shorter ones are units and fragments."""
PART_HOURS = 3
OUTPUT_SPEAKS = "where its output speaks of "
MIN_AMOUNTS, MIN_AMOUNT_SHARE = 3, 0.3
"""Calls that print a count of something, and their share among the slow ones, from which counts are compared."""
MAX_PACE_CHANGE = 2.5
"""How many times as long, or as short, one of the things counted may take for the pace to be the same."""
_AMOUNT = re.compile(r"(?<![\w.-])(\d[\d,]*(?:\.\d+)?)\s?([^\W\d_]+)")
_TIMES = frozenset({"ms", "h", "hour", "m", "min", "minute", "sec", "second", "utc"})


def slow_calls(rows: Sequence[Row], settings: ConsolidationSettings) -> list[Row]:
    """Successes that took `slow_factor` times the mean of their skill, and more than its usual spread explains."""
    timed = [row for row in rows if row["error_category"] is None and (row["duration_ms"] or 0) > 0]
    if len(timed) < MIN_FOR_SPREAD:
        return []
    least = settings.slow_factor * fmean(row["duration_ms"] for row in timed)
    unusual = _unusual([math.log(row["duration_ms"]) for row in timed], settings.min_slow_score)
    return [row for row, is_unusual in zip(timed, unusual, strict=True) if is_unusual and row["duration_ms"] >= least]


def is_more_work(slow: Sequence[Row], others: Sequence[Row]) -> bool:
    """Whether slow calls had more of something to do, in proportion: a count that they print (`39 pages`) is so many
    times as great as usual as the calls took longer."""
    units = {unit for row in slow for unit in _amounts(row)}
    return any(_is_in_proportion(unit, slow, others) for unit in units)


def _is_in_proportion(unit: str, slow: Sequence[Row], others: Sequence[Row]) -> bool:
    sides = [
        [(n, ms) for row in rows if (n := _amounts(row).get(unit, 0)) > 0 and (ms := row["duration_ms"] or 0) > 0]
        for rows in (slow, others)
    ]
    if min(map(len, sides)) < MIN_AMOUNTS or len(sides[0]) < MIN_AMOUNT_SHARE * len(slow):
        return False
    (much, long), (little, short) = ([median(column) for column in zip(*side, strict=True)] for side in sides)
    times_as_much, times_as_long = float(much / little), float(long / short)
    is_more = times_as_much > MAX_PACE_CHANGE
    return is_more and times_as_much / MAX_PACE_CHANGE <= times_as_long <= times_as_much * MAX_PACE_CHANGE


def _amounts(row: Row) -> dict[str, float]:
    """The numbers of an output by the word after each, in the singular; times are none."""
    found: dict[str, float] = {}
    for match in _AMOUNT.finditer(row["output_summary"] or ""):
        unit = match[2].lower().rstrip("s")
        if unit not in _TIMES:
            found.setdefault(unit, float(match[1].replace(",", "")))
    return found


def _unusual(values: Sequence[float], min_score: float) -> list[bool]:
    """Of each value whether it lies above the middle by a modified z-score of at least `min_score`."""
    middle = median(values)
    spread = median(abs(value - middle) for value in values)
    return [MAD_SCALE * (value - middle) >= min_score * spread for value in values]


def time_of(failed: Sequence[Row], of_skill: Sequence[Row], settings: ConsolidationSettings) -> str | None:
    """The time of the day or week that failures keep to and successes of the skill do not; None where there is none."""
    others = [row for row in of_skill if row["error_category"] is None]
    nothing_before: Before = {row["invocation_id"]: None for row in (*failed, *others)}
    return _shared(failed, others, nothing_before, settings, min_days=MIN_TIMED_DAYS)


def condition_of(
    slow: Sequence[Row], of_skill: Sequence[Row], rows: Sequence[Row], settings: ConsolidationSettings
) -> str | None:
    """What slow calls have in common and others of the skill have not, in words; None where that is nothing.

    Looked at are words of what came out, the skill that was called just before, whether it was the first of its kind in
    the conversation, and weekday and time of day (UTC). `rows` are all calls of the user, in order of time.
    """
    slow_ids = {row["invocation_id"] for row in slow}
    others = [row for row in of_skill if row["error_category"] is None and row["invocation_id"] not in slow_ids]
    return _shared(slow, others, _before(rows, of_skill[0]["skill_name"]), settings, min_days=settings.min_days)


def _shared(
    slow: Sequence[Row], others: Sequence[Row], before: Before, settings: ConsolidationSettings, *, min_days: int
) -> str | None:
    """The condition that most of some calls keep to on so many days, and few of the others, beyond chance."""
    if not others:
        return None
    in_slow = {c: n for c, n in _counts(slow, before).items() if len(_days_of(slow, c, before)) >= min_days}
    in_others = _counts(others, before)
    found = []
    for condition, n in in_slow.items():
        share, share_of_others = n / len(slow), in_others[condition] / len(others)
        chance = len(in_slow) * _chance(n, len(slow), (in_others[condition] + 1) / (len(others) + 2))
        is_lifted = share >= settings.min_condition_lift * share_of_others and chance <= settings.max_chance
        if share >= settings.min_condition_share and is_lifted:
            found.append((share - share_of_others, condition))
    return min(found, key=lambda one: (-round(one[0], 2), one[1]))[1] if found else None


def _chance(n: int, n_all: int, share: float) -> float:
    """How probable it is that n or more of n_all have what each has with a probability of `share` (binomial)."""
    from scipy.special import bdtrc  # noqa: PLC0415 - a tenth of a second that most commands never need

    return float(bdtrc(n - 1, n_all, share))


def _days_of(rows: Iterable[Row], condition: str, before: Before) -> set[date]:
    return {row["timestamp"].date() for row in rows if condition in _conditions(row, before[row["invocation_id"]])}


def _counts(rows: Iterable[Row], before: Before) -> Counter[str]:
    return Counter(condition for row in rows for condition in set(_conditions(row, before[row["invocation_id"]])))


def _conditions(row: Row, before: tuple[str | None, bool] | None) -> Iterator[str]:
    if before is not None:
        yield from _surroundings(row, *before)
    weekday, hour = WEEKDAYS[row["timestamp"].weekday()], row["timestamp"].hour
    block, part = hour // BLOCK_HOURS * BLOCK_HOURS, hour // PART_HOURS * PART_HOURS
    yield f"on {weekday}s between {block:02}:00 and {block + BLOCK_HOURS:02}:00 UTC"
    yield f"on {weekday}s"
    yield f"between {part:02}:00 and {part + PART_HOURS:02}:00 UTC"


def is_time(condition: str) -> bool:
    """Whether a condition is a time of the day or week."""
    return condition.endswith("UTC") or condition in {f"on {weekday}s" for weekday in WEEKDAYS}


def _surroundings(row: Row, before: str | None, is_first: bool) -> Iterator[str]:
    for word in words_of(row["output_summary"] or ""):
        if len(word) >= SHORTEST_TELLING:
            yield f"{OUTPUT_SPEAKS}{word}"
    if before is not None:
        yield f"right after {before}"
    if is_first:
        yield "the first time in a conversation"


def _before(rows: Sequence[Row], name: str) -> Before:
    """Of each call of a skill."""
    found: dict[str, tuple[str | None, bool]] = {}
    last: dict[str, str] = {}
    seen: set[str] = set()
    for row in rows:
        session = row["session_id"]
        if row["skill_name"] == name:
            before = last.get(session)
            found[row["invocation_id"]] = (before if before != name else None, session not in seen)
            seen.add(session)
        last[session] = row["skill_name"]
    return found
