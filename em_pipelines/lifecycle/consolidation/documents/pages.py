"""What MEMORY.md and SKILL.md say: text of rows, the same bytes for the same rows, without a clock.

Everything in it has passed the safety gates as an experience. What never does, since no gate reads it (ids of
conversations, names of skills that merely were called), is told where it is a plain name, and else left out.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from em_pipelines.language.counting import counted
from em_pipelines.lifecycle.consolidation.evidence import ANOMALY, FAILURE, PROCEDURE
from em_pipelines.lifecycle.consolidation.safety import SafetyRules, may_be_shown

Row = Mapping[str, Any]
MAX_LINES = 500
"""Of a MEMORY.md with what people wrote in it."""
MARK_OF_CUT = 2
"""Lines that say what was left out."""
FEWEST_LINES = 12
"""Of the generated part, where people have left no room."""
MAX_SESSIONS = 5
"""Conversations that an entry names; the others are counted."""
TOLD = ("hot", "warm")
"""Tiers that are told; what is cold is found by search."""
ACTIVE = "active"
TITLE = "# What is known from experience"
CONVERSATIONS, FAILURE_MODE = "  - conversations: ", "  - failure mode: "
_LABEL = re.compile(r"^  - failure mode: |; (?:trigger|mitigation): |none known$")
_MARKER = re.compile(r"em:(?=begin|end)")


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of one user: rows of experiences and skill_profiles, the rule of each experience that has one, and
    the conversations of each, the newest first."""

    experiences: Sequence[Row]
    rules: Mapping[str, str]
    sessions: Mapping[str, Sequence[str]]
    profiles: Sequence[Row]

    @property
    def told(self) -> list[Row]:
        """The experiences that count and are told, the strongest first."""
        found = [row for row in self.experiences if row["status"] == ACTIVE and row["tier"] in TOLD]
        return sorted(found, key=lambda row: (-row["strength"], row["experience_id"]))


def memory_page(known: Known, n_lines: int) -> str:
    """MEMORY.md of one user in at most so many lines; empty where nothing is known. The strongest come first, and what
    there is no room for is counted."""
    told = known.told
    if not told:
        return ""
    rules = [row for row in told if row["experience_id"] in known.rules]
    facts = [row for row in told if row["experience_id"] not in known.rules]
    lines = [TITLE]
    room = n_lines - MARK_OF_CUT
    n_told = sum(_fill(lines, title, rows, known, room) for title, rows in (("## Rules", rules), ("## Known", facts)))
    if n_told < len(told):
        left_out = counted(len(told) - n_told, "weaker entry")
        lines += ["", f"{left_out} had no room here: `em search --kind experience` finds them."]
    return "\n".join(lines) + "\n"


def _fill(lines: list[str], title: str, rows: Sequence[Row], known: Known, room: int) -> int:
    """Adds a section with as many of its rows as there is room for; returns how many that were."""
    heading = ["", title, ""]
    for n_told, row in enumerate(rows):
        entry = [*heading, *_entry(row, known)]
        if len(lines) + len(entry) > room:
            return n_told
        lines += entry
        heading = []
    return len(rows)


def skill_page(profile: Row, known: Known) -> str:
    """SKILL.md of one skill; empty of one whose name no agent should be told."""
    name = profile["skill_name"]
    if not _is_plain(name):
        return ""
    of_skill = [row for row in known.told if row["component"] == name]
    lines = [f"# {inline(name)}", "", *_figures(profile)]
    for title, kind in (("Known failure modes", FAILURE), ("Slow calls", ANOMALY), ("What has worked", PROCEDURE)):
        entries = [line for row in of_skill if row["kind"] == kind for line in _entry(row, known)]
        lines += ["", f"## {title}", "", *entries] if entries else []
    return "\n".join(lines) + "\n"


def _figures(profile: Row) -> list[str]:
    lines = [
        "| invocations | success rate | P50 | P99 | mean cost |",
        "| ---: | ---: | ---: | ---: | ---: |",
        f"| {profile['n_invocations']:,} | {profile['success_share']:.1%} | {_milliseconds(profile['p50_ms'])} "
        f"| {_milliseconds(profile['p99_ms'])} | {profile['mean_cost_usd']:.6f} USD |",
    ]
    if profile["last_failed_at"]:
        lines += ["", f"Failed last on {_day(profile['last_failed_at'])}."]
    if profile["is_degrading"]:
        lines += ["", "It fails at least twice as often in the newer half of its calls as in the older."]
    return lines


def _entry(row: Row, known: Known) -> list[str]:
    """One experience: what it says, and below that what it rests on."""
    experience_id = row["experience_id"]
    lines = [f"- {inline(known.rules.get(experience_id, row['text']))}"]
    if row["kind"] == FAILURE:
        mode = f"{inline(row['component'])} fails with {inline(row['category'])}"
        trigger = f"; trigger: {inline(row['trigger'])}" if row["trigger"] else ""
        lines.append(f"{FAILURE_MODE}{mode}{trigger}; mitigation: {inline(row['mitigation'] or 'none known')}")
    lines.append(
        f"  - seen {counted(row['n_occurrences'], 'time')} from {_day(row['first_seen'])} to {_day(row['last_seen'])}; "
        f"confidence {row['confidence']:.2f}, strength {row['strength']:.2f}; known since {_day(row['promoted_at'])} "
        f"({experience_id})"
    )
    return [*lines, _conversations(row, known.sessions.get(experience_id, ()))]


def _conversations(row: Row, sessions: Sequence[str]) -> str:
    named = [session for session in dict.fromkeys(sessions) if _is_plain(session)][:MAX_SESSIONS]
    n_more = row["n_sources"] - len(named)
    more = f" and {n_more} more" if named and n_more else f"{n_more}" if n_more else ""
    return f"{CONVERSATIONS}{', '.join(map(_quoted, named))}{more}"


@lru_cache(maxsize=4096)
def _is_plain(name: str) -> bool:
    return may_be_shown((name,), SafetyRules())


def _quoted(session: str) -> str:
    return inline(json.dumps(session, ensure_ascii=False))


def told_words(page: str) -> str:
    """What of a page is of what happened: without headings, figures, our own labels and the ids of conversations, for
    what a record is known by is no text about anybody."""
    told = []
    for line in page.splitlines():
        if line.startswith(("- ", FAILURE_MODE)):
            told.append(_LABEL.sub("\n", line))
        elif line.startswith("# ") and line != TITLE:
            told.append(line[2:])
    return "\n".join(told)


def told_conversations(page: str) -> str:
    """The lines of a page that name conversations."""
    return "\n".join(line for line in page.splitlines() if line.startswith(CONVERSATIONS))


def inline(text: str) -> str:
    """A text as one line of Markdown in which nothing opens or closes a comment or a tag."""
    line = " ".join(text.split()).replace("<", "&lt;").replace(">", "&gt;")
    return _MARKER.sub("em: ", line)


def _day(at: datetime) -> str:
    return at.date().isoformat()


def _milliseconds(value: float) -> str:
    return f"{value:,.0f} ms"
