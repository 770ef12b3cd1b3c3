"""Conversations of the LoCoMo benchmark (Maharana et al., ACL 2024): a JSON document of sessions of two people.

    {"speaker_a": "Ada", "speaker_b": "Ben", "session_1_date_time": "1:56 pm on 8 May, 2023",
     "session_1": [{"speaker": "Ada", "dia_id": "D1:1", "text": …, "blip_caption"?: …}], …, "qa": […]}

or a list of such, or of {"sample_id": …, "conversation": {…}}. speaker_a is the user whose memory it is; both speak
in the role of user, and what speaker_b says is about speaker_b. Dates are taken as UTC; each turn comes a second
after the one before. Line numbers are the turn's in its session, from 1.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from em_pipelines.landing.formats.base import (
    Fields,
    Format,
    Item,
    Rejected,
    Sample,
    Source,
    dated,
    dumps,
    id_of,
    iso_or_none,
    json_conversations,
    slug,
)
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import Reason
from em_pipelines.schema.vocabulary import USER

_SESSION = re.compile(r"session_(\d{1,9})")
_DIA_ID = re.compile(r"D\d{1,6}:0*(\d{1,9})")
_DATE_FORMATS = ("%I:%M %p on %d %B, %Y", "%I:%M %p on %d %B %Y")


def sniff(sample: Sample) -> bool:
    """Whether two speakers and numbered sessions stand in it, or questions with evidence by dia_id."""
    return (sample.has("speaker_a") and '"session_' in sample.text) or (
        sample.has("qa", "evidence", "category") and re.search(r'"D\d+:\d+"', sample.text) is not None
    )


def convert(file: InputFile, source: Source) -> Iterator[Item]:
    """Yields the turns of all sessions in order. Raises RuleError on a broken document."""
    for item in json_conversations(file):
        if isinstance(item, Rejected):
            yield item
            continue
        number, conversation = item
        inner = conversation.get("conversation")
        dialogue = inner if isinstance(inner, dict) else conversation
        if not all(_is_name(dialogue.get(speaker)) for speaker in ("speaker_a", "speaker_b")):
            detail = f"conversation {number}: speaker_a and speaker_b: expected two names"
            yield Rejected(number, Reason.MISSING_FIELD, detail, dumps(dialogue))
            continue
        for name in _session_names(dialogue):
            yield from _session(name, dialogue, source)


def session_date(text: object) -> datetime | None:
    """Reads "1:56 pm on 8 May, 2023" as UTC; None for what is not of this form."""
    if not isinstance(text, str):
        return None
    for form in _DATE_FORMATS:
        try:
            return datetime.strptime(text.strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _session_names(dialogue: Fields) -> list[str]:
    """The keys under which sessions stand, in the order of their numbers."""
    numbered = sorted((int(m[1]), name) for name in dialogue if (m := _SESSION.fullmatch(name)))
    return [name for _, name in numbered if isinstance(dialogue[name], list)]


def _session(name: str, conversation: Fields, source: Source) -> Iterator[Item]:
    a, b = conversation["speaker_a"], conversation["speaker_b"]
    started_at = session_date(conversation.get(f"{name}_date_time"))
    turns = [turn if isinstance(turn, dict) else {} for turn in conversation[name]]
    for number, (turn, turn_number) in enumerate(zip(turns, _turn_numbers(turns), strict=True), start=1):
        speaker, dia_id = turn.get("speaker"), turn.get("dia_id")
        fields = {
            "user_id": source.user_id or slug(a),
            "session_id": f"{slug(a)}-{slug(b)}/{name}",
            "turn_number": turn_number,
            "role": "user",
            "content": _content(turn),
            "timestamp": iso_or_none(started_at + timedelta(seconds=number - 1) if started_at else None),
            "speaker": speaker,
            "subject": USER if speaker == a else speaker,
            "channel": "text",
            "participants": [a, b],
            "source_id": id_of(dia_id),
            "source_format": "locomo",
        }
        detail = f"{name}_date_time: expected a date such as 1:56 pm on 8 May, 2023, found none; add it"
        yield dated(number, fields, detail)


def _turn_numbers(turns: list[Fields]) -> list[int]:
    """The numbers behind the colons of the dia_ids; the place in the session where one is malformed or taken."""
    said = [m and int(m[1]) for m in (_DIA_ID.fullmatch(id_of(turn.get("dia_id")) or "") for turn in turns)]
    taken: set[int] = set()
    numbers = []
    for place, number in enumerate(said, start=1):
        chosen = number if number is not None and number not in taken else place
        while chosen in taken:
            chosen += len(turns)
        taken.add(chosen)
        numbers.append(chosen)
    return numbers


def _content(turn: Fields) -> Any:
    text, caption = turn.get("text"), turn.get("blip_caption")
    if isinstance(caption, str) and caption.strip() and isinstance(text, str | None):
        return f"{text or ''}\n[shared image: {caption.strip()}]"
    return text


FORMAT = Format("locomo", sniff, convert)
