"""Messages become sessions: one row a conversation and day, with its kind, what came of it, and what of it is worth
telling in a line or two.

A summary is put together by rules, of what was read and may be told: nothing of an untrusted conversation, no private
matter, and of messages only what may be quoted.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from typing import Any, TypedDict, cast

import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.guard.passages import sentences
from em_pipelines.guard.screening import quotable, withheld_in
from em_pipelines.language.cleaning import CODE_MARK
from em_pipelines.language.counting import counted
from em_pipelines.schema.readings import Withheld
from em_pipelines.schema.rows import SessionRow
from em_pipelines.schema.table import Record, Records, Tables, rows_of
from em_pipelines.schema.tables.clean import SESSIONS
from em_pipelines.schema.vocabulary import OBSERVATIONS, USER, Act, PrivacyLevel, TemporalType

KINDS: dict[str, re.Pattern[str]] = {
    "debugging": re.compile(
        r"\b(error|exception|traceback|stack ?trace|bug|crash\w*|fail(?:s|ed|ing|ure)?|debug\w*)\b", re.I
    ),
    "design": re.compile(r"\b(design|architecture|schema|draft|layout|trade-?off|options?|structure)\b", re.I),
    "learning": re.compile(r"\b(learn\w*|explain|what does .{1,40} mean|how does|tutorial|understand|teach)\b", re.I),
    "exploration": re.compile(
        r"\b(compare|ideas?|suggest\w*|recommend\w*|alternatives?|which (?:one|is)|find me)\b", re.I
    ),
}
MIN_SHARE_OF_TURNS = 0.25
"""A kind is named where at least a quarter of the human turns show its words; otherwise the session is a chat."""

NOTED = {"decision": "Decided", "learning": "Learnt", "event": "Happened"}
"""Kinds of messages that are kept on purpose, and how a summary names them."""
OPEN_LEVELS = frozenset({PrivacyLevel.PUBLIC.value, PrivacyLevel.GENERIC.value, PrivacyLevel.PERSONAL.value})
AHEAD = frozenset({TemporalType.PLAN.value, TemporalType.WISH.value})
MIN_CONFIDENCE = 0.60
"""Of what a summary says was said: from here on an agent may use a fact (the band `hedged`)."""
N_TOPICS, N_OF_A_KIND = 3, 2
LONGEST_PIECE, LONGEST_SUMMARY = 120, 400
Key = tuple[str, str]
"""User and conversation."""


class _Said(TypedDict):
    """What is read of a message: the columns `_READ` of `messages`."""

    user_id: str
    session_id: str
    role: str
    content: str
    timestamp: datetime
    trust: str
    channel: str
    memory_type: str
    withheld: list[dict[str, Any]] | None


def sessions(messages: pa.Table, mentions: pa.Table, claims: pa.Table, calls: pa.Table) -> pa.Table:
    """Returns the day's sessions in the columns of `sessions`, from the same day's messages, mentions, claims and
    skill invocations."""
    by_session: dict[Key, list[_Said]] = defaultdict(list)
    for row in cast("Iterator[_Said]", rows_of(messages.select(_READ))):
        by_session[row["user_id"], row["session_id"]].append(row)
    names = _by_session(mentions.select(["user_id", "session_id", "name"]))
    asserted = _by_session(claims.filter(pc.equal(claims["act"], Act.ASSERT.value)).select(_CLAIMED))
    called = _by_session(calls.select(_CALLED).sort_by("timestamp"))
    rows: list[SessionRow] = [
        {
            "user_id": key[0],
            "session_id": key[1],
            "session_type": session_type([t["content"] for t in turns if t["role"] == "user"]),
            "started_at": min(t["timestamp"] for t in turns),
            "ended_at": max(t["timestamp"] for t in turns),
            "n_turns": len(turns),
            "n_observations": sum(bool(t["content"].strip()) for t in turns),
            "n_entities": len({named["name"] for named in names[key]}),
            "n_facts": len(asserted[key]),
            "trust": turns[0]["trust"],
            "channel": turns[0]["channel"],
            "summary": summary(turns, names[key], asserted[key], called[key]),
        }
        for key, turns in by_session.items()
    ]
    return SESSIONS.from_rows(rows)


def session_type(texts: list[str]) -> str:
    """The kind whose words stand in most of the texts, if in at least a quarter of them; else chat."""
    if not texts:
        return "chat"
    counts = {kind: sum(bool(pattern.search(t)) for t in texts) for kind, pattern in KINDS.items()}
    kind, count = max(counts.items(), key=lambda item: item[1])
    return kind if count / len(texts) >= MIN_SHARE_OF_TURNS else "chat"


def _by_session(rows: pa.Table) -> dict[Key, list[Record]]:
    found: dict[Key, list[Record]] = defaultdict(list)
    for row in rows_of(rows):
        found[row["user_id"], row["session_id"]].append(row)
    return found


def summary(
    turns: Sequence[_Said], names: Sequence[Record], claims: Sequence[Record], calls: Sequence[Record]
) -> str | None:
    """What of a session is worth telling: what it was about, what was decided, learnt and said, what failed and what
    helped, what is still open. None where that is nothing. `calls` are in order of time."""
    if any(turn["trust"] != "trusted" for turn in turns):
        return None
    told = [claim for claim in claims if _may_be_told(claim)]
    ahead = [claim for claim in told if claim["temporal_type"] in AHEAD]
    failed, unsolved = _failures(calls)
    pieces = (
        ("About", _topics(names, claims)),
        *((title, _quotes(turns, kind)) for kind, title in NOTED.items()),
        ("Said", _triples(claim for claim in told if claim not in ahead)),
        ("Failed", failed),
        ("Open", [*_triples(ahead), *unsolved]),
    )
    return _lines(pieces)


def _lines(pieces: Iterable[tuple[str, Iterable[str]]]) -> str | None:
    """What may be said of each, under its title."""
    lines = [f"{title}: {'; '.join(found)}." for title, some in pieces if (found := [*filter(_is_sayable, some)])]
    return _shortened(" ".join(lines), LONGEST_SUMMARY) if lines else None


def _topics(names: Iterable[Record], claims: Iterable[Record]) -> list[str]:
    """What was spoken of most, but for the person itself and what is only told of in what may not be told."""
    closed = {name for claim in claims if not _may_be_told(claim) for name in (claim["subject"], claim["object"])}
    counts = Counter(row["name"] for row in names if row["name"] not in {USER, *closed})
    return [name for name, _ in sorted(counts.items(), key=lambda one: (-one[1], one[0]))][:N_TOPICS]


def _may_be_told(claim: Record) -> bool:
    is_sure = claim["confidence"] >= MIN_CONFIDENCE and not claim["requires_verification"]
    return bool(is_sure and claim["privacy_level"] in OPEN_LEVELS)


def _triples(claims: Iterable[Record]) -> list[str]:
    """The surest first, in the words of the vocabulary."""
    told = (_triple(claim) for claim in sorted(claims, key=lambda claim: -claim["confidence"]))
    return list(dict.fromkeys(told))[:N_OF_A_KIND]


def _triple(claim: Record) -> str:
    """A claim in short; whoever is remembered goes without saying."""
    if claim["relation"] in OBSERVATIONS:
        return str(claim["value"])
    whose = "" if claim["subject"] == USER else f"{claim['subject']} "
    verb = f"{'' if claim['polarity'] > 0 else 'not '}{claim['relation'].replace('_', ' ')}"
    return f"{whose}{verb} {claim['object'] or claim['value']}"


def _quotes(turns: Sequence[_Said], kind: str) -> list[str]:
    """The first sentence of what may be quoted of each message of a kind; of one that nobody has guarded, nothing."""
    said = (_quotable(turn) for turn in turns if turn["memory_type"] == kind and turn["withheld"] is not None)
    return [_shortened(text.rstrip("."), LONGEST_PIECE) for text in said if text][:N_OF_A_KIND]


def _quotable(turn: _Said) -> str:
    text = quotable(turn["content"], [Withheld(**one) for one in turn["withheld"] or ()]).replace(CODE_MARK, " ")
    return next((text[start:end].strip() for start, end in sentences(text) if text[start:end].strip()), "")


def _failures(calls: Sequence[Record]) -> tuple[list[str], list[str]]:
    """How skills failed, with what was called before they worked again; and those that did not."""
    failed: dict[tuple[str, str], int] = {}
    helped: dict[tuple[str, str], list[str]] = {}
    waiting: dict[tuple[str, str], list[str]] = {}
    for call in calls:
        name, category = call["skill_name"], call["error_category"]
        if category is not None:
            failed[name, category] = failed.get((name, category), 0) + 1
            waiting[name, category] = []
            continue
        for key in [key for key in waiting if key[0] == name]:
            helped[key] = waiting.pop(key)
        for between in waiting.values():
            between.append(name)
    told = [_failure(*key, n, helped.get(key, ())) for key, n in failed.items()]
    return told[:N_OF_A_KIND], [f"{name} has not worked since" for name in dict.fromkeys(key[0] for key in waiting)]


def _failure(name: str, category: str, n: int, helped: Iterable[str]) -> str:
    times = f", {counted(n, 'time')}," if n > 1 else ""
    after = " and ".join(dict.fromkeys(helped))
    return f"{name} with {category}{times}{f' and worked after {after}' if after else ''}"


def _is_sayable(text: str) -> bool:
    """Whether the guard finds nothing in it to do, and it is one short line."""
    return len(text) <= LONGEST_PIECE and "\n" not in text and not withheld_in(text)


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"


_READ = [
    "user_id", "session_id", "role", "content", "timestamp", "trust", "channel", "memory_type", "withheld",
]  # fmt: skip
_CLAIMED = [
    "user_id", "session_id", "subject", "relation", "object", "value", "polarity", "temporal_type", "confidence",
    "privacy_level", "requires_verification",
]  # fmt: skip
_CALLED = ["user_id", "session_id", "timestamp", "skill_name", "error_category"]


def sessions_run(_: date, tables: Tables, __: Records) -> Tables:
    """The run of the step `sessions`."""
    read = (tables[name] for name in ("messages", "mentions", "claims", "skill_invocations"))
    return {SESSIONS.name: sessions(*read)}
