"""What agents did of late and what it has taught, for session starts: failures of the last week with what helped, how
skills fare, and rules.

Of calls names and counts alone are told, and no word of what a skill got or gave; and only names that consolidation has
found fit to be told (`skill_profiles`), as they are shown there, for the guard of all text takes longer to load than a
session may wait. So what is told of calls may be told where others listen; of rules only those that repeat no message.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.language.counting import counted
from em_pipelines.lifecycle.consolidation.circumstances import NOTHING, what_followed
from em_pipelines.lifecycle.consolidation.doubts import is_ordinary
from em_pipelines.lifecycle.consolidation.evidence import FAILURE, category_key
from em_pipelines.lifecycle.consolidation.identifiers import shown_category, shown_skill
from em_pipelines.redaction.veils import Veil, hidden
from em_pipelines.retrieval.experiences import Experience
from em_pipelines.retrieval.searchable_home import SearchableHome
from em_pipelines.schema.tables.derived import SKILL_PROFILES
from em_pipelines.schema.tables.raw import SKILL_INVOCATIONS

FAILED_DAYS, N_FAILED = 7, 3
ACTIVE_DAYS, N_SKILLS = 30, 5
N_RULES = 5
LONGEST_RULE = 160
"""A rule is told whole or not at all."""
MOST_FAILURES = 2_000
"""Failures of a week that are looked at, the newest."""
_COLUMNS = ("invocation_id", "timestamp", "session_id", "skill_name", "input_hash", "output_summary", "error_category")
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Work:
    """The calls of one user in the last 30 days, in order of time, and the experiences that may be told."""

    calls: pa.Table
    today: date
    known: Mapping[str, frozenset[str]]
    """The skills that may be told, each with its categories of errors."""
    experiences: Sequence[Experience] = ()

    @property
    def has_any(self) -> bool:
        """Whether there is anything to tell of."""
        return len(self.calls) > 0 or bool(self.experiences)

    def failures(self) -> Iterator[str]:
        """Failures of the last 7 days by skill and category: first those that are not what a tool is there to tell,
        then those that came most often, with what helped."""
        helped = {
            (one.row["component"], one.row["category"]): one.row["mitigation"]
            for one in self.experiences
            if one.row["kind"] == FAILURE
        }
        found = sorted(self._failed().items(), key=lambda item: _weight(item[0], item[1]))
        after = self._followed([row for _, rows in found for row in rows])
        for (skill, category), rows in found:
            remedy = helped.get((skill, category)) or _remedy(
                [after.get(row["invocation_id"], NOTHING) for row in rows]
            )
            told = f"{rows[-1]['timestamp'].date()}: {skill} failed with {category}, {counted(len(rows), 'time')}"
            yield f"{told}; what helped: {remedy}" if remedy in self.known else told

    def skills(self) -> Iterator[str]:
        """The skills of the last 30 days, the most used first, with the share of their calls that succeeded."""
        if not len(self.calls):
            return
        failed = pc.cast(pc.is_valid(self.calls["error_category"]), pa.int64())
        counts = self.calls.append_column("failed", failed).group_by("skill_name")
        rows = counts.aggregate([("skill_name", "count"), ("failed", "sum")]).to_pylist()
        for row in sorted(rows, key=lambda row: (-row["skill_name_count"], row["skill_name"])):
            n_calls, name = row["skill_name_count"], row["skill_name"]
            if name in self.known:
                share = 100 * (n_calls - row["failed_sum"]) // n_calls  # 100 of none that failed alone
                yield f"{name}: {counted(n_calls, 'call')}, {share} % succeeded"

    def rules(self) -> Iterator[str]:
        """The rules of experiences: the strongest of each kind first, each with its confidence."""
        own = [one for one in self.experiences if one.rule and not one.is_cold and len(one.rule) <= LONGEST_RULE]
        rank: dict[str, int] = {}
        ranked = []
        for one in own:  # the strongest first
            rank[one.row["kind"]] = rank.get(one.row["kind"], 0) + 1
            ranked.append((rank[one.row["kind"]], one))
        for _, one in sorted(ranked, key=lambda item: item[0]):
            yield f"{one.rule} ({one.row['confidence']:.2f})"

    def _failed(self) -> dict[tuple[str, str], list[Row]]:
        """The failures of the last 7 days by skill and category, each in order of time."""
        since = self.today - timedelta(days=FAILED_DAYS - 1)
        is_late = pc.greater_equal(pc.cast(self.calls["timestamp"], pa.date32()), pa.scalar(since, pa.date32()))
        failed = self.calls.filter(pc.and_(is_late, pc.is_valid(self.calls["error_category"])))
        found: dict[tuple[str, str], list[Row]] = {}
        for row in failed.slice(max(0, len(failed) - MOST_FAILURES)).to_pylist():
            skill, category = row["skill_name"], shown_category(category_key(row["error_category"]))
            if category in self.known.get(skill, ()):
                found.setdefault((skill, category), []).append(row)
        return found

    def _followed(self, failed: Sequence[Row]) -> dict[str, Any]:
        """What followed failures in their conversations."""
        sessions = pa.array(sorted({row["session_id"] for row in failed}), pa.string())
        return what_followed(self.calls.filter(pc.is_in(self.calls["session_id"], value_set=sessions)).to_pylist())


def work_of(
    home: SearchableHome, user_id: str, today: date, experiences: Sequence[Experience], elsewhere: frozenset[str]
) -> Work:
    """What one user's agents did in the last 30 days, without conversations `elsewhere`, of another domain, and what is
    about to be forgotten."""
    lake = home.store.lake
    days = [day for day in lake.days(SKILL_INVOCATIONS) if today - timedelta(days=ACTIVE_DAYS) < day <= today]
    found = [lake.find(SKILL_INVOCATIONS, day, "user_id", [user_id]).select(_COLUMNS) for day in days]
    calls = pa.concat_tables([SKILL_INVOCATIONS.empty().select(_COLUMNS), *found])
    if elsewhere:
        calls = calls.filter(
            pc.invert(pc.is_in(calls["session_id"], value_set=pa.array(sorted(elsewhere), pa.string())))
        )
    if veils := hidden(home, user_id):
        calls = calls.filter(pa.array([not _is_covered(row, veils) for row in calls.to_pylist()], pa.bool_()))
    names = pa.array(map(shown_skill, calls["skill_name"].to_pylist()), pa.string())
    calls = calls.set_column(_COLUMNS.index("skill_name"), "skill_name", names)
    ordered = calls.sort_by([("timestamp", "ascending"), ("invocation_id", "ascending")])
    return Work(ordered, today, _known(home, user_id), experiences)


def _known(home: SearchableHome, user_id: str) -> dict[str, frozenset[str]]:
    day = home.store.lake.latest(SKILL_PROFILES, date.max)
    rows = home.store.lake.find(SKILL_PROFILES, day, "user_id", [user_id]).to_pylist() if day else []
    return {row["skill_name"]: frozenset(row["failure_modes"]) for row in rows}


def _is_covered(row: Row, veils: Sequence[Veil]) -> bool:
    text, said_on = " ".join(str(row[name]) for name in _COLUMNS[3:]), row["timestamp"].date()
    return any(
        veil.hides_document(session_id=row["session_id"], edge_id=None, text=text, said_on=said_on) for veil in veils
    )


def _weight(failure: tuple[str, str], rows: Sequence[Row]) -> tuple[Any, ...]:
    is_usual = is_ordinary(failure[1], [row["output_summary"] or "" for row in rows])
    return is_usual, -len(rows), -rows[-1]["timestamp"].timestamp(), failure


def _remedy(followed: Sequence[Any]) -> str | None:
    """The one skill that was called each time before it worked again; None of nothing, or of several."""
    each = [one.remedies for one in followed if one.remedies]
    common = frozenset.intersection(*each) if each else frozenset()
    return next(iter(common)) if len(common) == 1 else None
