"""Packing: consecutive turns of one session become segments, the unit of one extraction call, and are read back.

And who speaks in a segment, by which names, and to whom: what `my`, `your` and `Katya's` mean in one of its turns.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import groupby
from typing import cast

import pyarrow as pa

from em_pipelines.extraction.settings import CODING_AGENTS, SegmentationSettings
from em_pipelines.language.cleaning import n_tokens
from em_pipelines.language.name_keys import Owned, namesakes
from em_pipelines.language.values import local_instant
from em_pipelines.schema.ids import content_id
from em_pipelines.schema.readings import Claim, Extraction, Mention, Segment, Sentence, Turn, Withheld
from em_pipelines.schema.rows import MessageRow, SegmentRow
from em_pipelines.schema.table import Records, Tables, rows_of
from em_pipelines.schema.tables.extraction import SEGMENTS
from em_pipelines.schema.vocabulary import USER

MAX_SHOWN_CHARACTERS = 800
"""Of a turn that is context only: an assistant's answer is long, and no fact is extracted from it."""
NOT_SHOWN = frozenset({"tool", "system"})
"""Roles of turns that no model is shown."""


@dataclass(frozen=True, slots=True)
class Session:
    """What all segments of a session share."""

    user_id: str
    session_id: str
    channel: str = "text"
    trust: str = "trusted"


def segment_session(
    turns: Sequence[Turn], session: Session, settings: SegmentationSettings | None = None
) -> list[Segment]:
    """Packs the turns of one session, in turn order, into as few segments as the token limit allows.

    Every turn is in exactly one segment. A turn above the limit makes a segment of its own. What counts is what a model
    is shown: of an assistant's turn its first `MAX_SHOWN_CHARACTERS`, of tool and system turns nothing.
    """
    settings = settings or SegmentationSettings()
    ordered = sorted(turns, key=lambda turn: turn.turn_number)
    segments: list[Segment] = []
    n_before = 0
    for packed in _packed(ordered, settings.max_segment_tokens):
        context = ordered[max(0, n_before - settings.n_context_turns) : n_before]
        parts = [part for turn in packed for part in (turn.message_id, turn.role, turn.subject, turn.text)]
        segments.append(
            Segment(
                segment_id=content_id("seg", session.user_id, session.session_id, *parts),
                user_id=session.user_id,
                session_id=session.session_id,
                channel=session.channel,
                turns=tuple(packed),
                context=tuple(context),
                trust=session.trust,
            )
        )
        n_before += len(packed)
    return segments


def _packed(turns: Sequence[Turn], limit: int) -> Iterator[list[Turn]]:
    packed: list[Turn] = []
    total = 0
    for turn in turns:
        size = _n_shown_tokens(turn)
        if packed and total + size > limit:
            yield packed
            packed, total = [], 0
        packed.append(turn)
        total += size
    if packed:
        yield packed


def _n_shown_tokens(turn: Turn) -> int:
    """At least 1, so that turns which are not shown end a segment as well, sometime."""
    if turn.role == "user":
        return n_tokens(turn.text)
    return n_tokens(turn.text[:MAX_SHOWN_CHARACTERS]) if turn.role not in NOT_SHOWN else 1


def segments(messages: pa.Table, settings: SegmentationSettings) -> pa.Table:
    """Packs one day's messages, session by session; returns the columns of `segments`. Every message is in one."""
    rows: list[SegmentRow] = [
        {
            "segment_id": segment.segment_id,
            "user_id": segment.user_id,
            "session_id": segment.session_id,
            "first_turn": segment.turns[0].turn_number,
            "last_turn": segment.turns[-1].turn_number,
            "message_ids": [turn.message_id for turn in segment.turns],
            "n_tokens": sum(n_tokens(turn.text) for turn in segment.turns),
            "trust": segment.trust,
        }
        for segment in segment_objects(messages, settings)
    ]
    return SEGMENTS.from_rows(rows)


def segment_objects(messages: pa.Table, settings: SegmentationSettings) -> Iterator[Segment]:
    """The segments of one day's messages, in order of user, session and turn."""
    said = cast("Iterator[MessageRow]", rows_of(messages))
    ordered = sorted(said, key=lambda row: (row["user_id"], row["session_id"], row["turn_number"]))
    for (user_id, session_id), group in groupby(ordered, key=lambda row: (row["user_id"], row["session_id"])):
        rows = list(group)
        session = Session(user_id, session_id, rows[0]["channel"], rows[0]["trust"])
        yield from segment_session([turn_of(row) for row in rows], session, settings)


def segments_run(settings: SegmentationSettings) -> Callable[[date, Tables, Records], Tables]:
    """The run of the step `segments`."""
    return lambda _, tables, __: {SEGMENTS.name: segments(tables["messages"], settings)}


def read_segments(segments: pa.Table, messages: pa.Table, n_context_turns: int) -> Iterator[Segment]:
    """The day's segments in order of user, session and turn, each with the turns of its session that were said before.

    `segments` and `messages` have the columns of their tables. Raises KeyError for a segment of a message that is not
    there: the tables are of different days.
    """
    rows = {row["message_id"]: row for row in cast("Iterator[MessageRow]", rows_of(messages))}
    before: dict[tuple[str, str], list[Turn]] = defaultdict(list)
    packed = cast("Iterator[SegmentRow]", rows_of(segments))
    ordered = sorted(packed, key=lambda row: (row["user_id"], row["session_id"], row["first_turn"]))
    for row in ordered:
        earlier = before[row["user_id"], row["session_id"]]
        turns = [turn_of(rows[message_id]) for message_id in row["message_ids"]]
        opening = earlier[0] if earlier else turns[0]
        yield Segment(
            segment_id=row["segment_id"],
            user_id=row["user_id"],
            session_id=row["session_id"],
            channel=rows[opening.message_id]["channel"],
            turns=tuple(turns),
            context=tuple(earlier[max(0, len(earlier) - n_context_turns) :]),
            trust=row["trust"],
            is_pasted_elsewhere=bool(rows[opening.message_id].get("is_pasted_elsewhere")),
            project=_project([rows[message_id] for message_id in row["message_ids"]]),
        )
        earlier += turns


def _project(rows: Sequence[MessageRow]) -> str | None:
    """What messages are about in which a coding agent took part: their one domain."""
    domains = {row["domain"] for row in rows}
    domain = domains.pop() if len(domains) == 1 else None
    return domain if domain and all(row["agent_id"] in CODING_AGENTS for row in rows) else None


def turn_of(row: MessageRow) -> Turn:
    """A row of `messages` as an extractor sees it."""
    return Turn(
        message_id=row["message_id"],
        turn_number=row["turn_number"],
        role=row["role"],
        subject=row["subject"],
        text=row["content"],
        timestamp=local_instant(row["timestamp"], row.get("utc_offset_minutes")),
        has_code=row["has_code"],
        language=row["language"],
        withheld=tuple(Withheld(**found) for found in row["withheld"]),
        note_privacy=row.get("note_privacy"),
        sentences=tuple(Sentence(**one) for one in row["sentences"]),
        speaker=row.get("speaker"),
    )


@dataclass(frozen=True, slots=True)
class Talk:
    """Who says a message: `speaker` by subject, and all who speak by `names`. `whose` resolves `her` of `her brother`
    to a name, given the message."""

    speaker: str = USER
    names: Mapping[str, str] = field(default_factory=dict)
    whose: Callable[..., str | None] = lambda _, __: None

    @property
    def listener(self) -> str:
        """The one other person whom the message is for; empty where there is none, or several."""
        return listener_of(self.names, self.speaker)


ALONE = Talk()


def names_of_speakers(segment: Segment) -> dict[str, str]:
    """How those who speak are called, case-folded, each with the subject of what they say: by the names of the log,
    and by the first word of one that no other has."""
    names: dict[str, str] = {}
    for turn in (*segment.context, *segment.turns):
        if turn.subject is not None:
            names |= {name.casefold(): turn.subject for name in (turn.subject, turn.speaker or turn.subject)}
    n_of = Counter(name.partition(" ")[0] for name in names)
    short = {first: subject for name, subject in names.items() if n_of[first := name.partition(" ")[0]] == 1}
    return short | names


def are_several(names: Mapping[str, str]) -> bool:
    """Whether more than one person speaks."""
    return len(set(names.values())) > 1


def listener_of(names: Mapping[str, str], subject: str) -> str:
    """The one other person whom somebody talks to; empty where there is none, or several."""
    others = set(names.values()) - {subject}
    return others.pop() if len(others) == 1 else ""


def owner_named(names: Mapping[str, str], name: str) -> str | None:
    """The owner that a name before a role means: who speaks, by their subject, or the name itself.

    None in a conversation of two for the name of one of them: there the other is `you`, and it is a namesake's.
    """
    subject = names.get(name.casefold())
    if subject is None or not are_several(names):
        return name
    return subject if len(set(names.values())) > 2 else None


def told_apart(reading: Extraction, segment: Segment) -> Extraction:
    """The reading with the names in full of those who share one in their turn (`namesakes`)."""
    for turn in segment.turns:
        for name, owned in namesakes(turn.text).items():
            mentions = [each for one in reading.mentions for each in _mentions_of(one, turn.turn_number, name, owned)]
            claims = [
                _claim_of(one, name, owned) if one.turn_number == turn.turn_number else one for one in reading.claims
            ]
            reading = replace(reading, mentions=mentions, claims=claims)
    return reading


def _mentions_of(mention: Mention, turn_number: int, name: str, owned: Sequence[Owned]) -> list[Mention]:
    """A mention of each who bears the name, in place of the one by it."""
    if (mention.turn_number, mention.name) != (turn_number, name):
        return [mention]
    return [replace(mention, name=one.in_full, start=one.end - len(name), end=one.end) for one in owned]


def _claim_of(claim: Claim, name: str, owned: Sequence[Owned]) -> Claim:
    """A claim about whoever was named last before its end."""
    meant = next((one for one in reversed(owned) if one.start < claim.end), owned[0]).in_full
    subject, thing = (meant if end == name else end for end in (claim.subject, claim.object))
    return replace(claim, subject=subject or claim.subject, object=thing)
