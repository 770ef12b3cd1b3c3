"""This project's own format: JSON Lines, one record a line, of any of the four kinds.

    {"user_id": …, "session_id": …, "turn_number": 0, "role": "user", "content": …, "timestamp": …, …}
    {"kind": "feedback", "user_id": …, "type": "forget", "timestamp": …, …}
    {"kind": "skill_invocation", …}    {"kind": "world_event", …}

`kind` may be left out where the fields tell it. --user-id and the folder fill in only what a record leaves open.
"""

from collections.abc import Iterator
from typing import get_args

from em_pipelines.landing.formats.base import Fields, Format, Item, Parsed, Rejected, Sample, Source, json_lines
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.records import FeedbackType

_KINDS = {
    name: kind
    for kind, names in {
        "interactions": ("interaction", "interactions", "message"),
        "skill_invocations": ("skill_invocation", "skill_invocations"),
        "feedback": ("feedback",),
        "world_events": ("world_event", "world_events"),
    }.items()
    for name in names
}
_FEEDBACK_TYPES = frozenset(get_args(FeedbackType))


def kind_of(record: Fields) -> str:
    """The kind of a record, as it says or as its fields tell; what says an unknown kind gives that back."""
    if (said := record.get("kind")) is not None:
        return _KINDS.get(said, said) if isinstance(said, str) else type(said).__name__
    if "role" in record:
        return "interactions"
    if "skill_name" in record:
        return "skill_invocations"
    if isinstance(record.get("type"), str) and record["type"] in _FEEDBACK_TYPES:
        return "feedback"
    if "title" in record and "content" not in record:
        return "world_events"
    return "interactions"


def sniff(sample: Sample) -> bool:
    """Whether any of the first lines is a record of ours."""
    return any(_is_ours(record) for record in sample.objects)


def _is_ours(record: Fields) -> bool:
    kind = kind_of(record)
    if "kind" in record:
        return kind in _KINDS.values()
    marks = {"interactions": {"session_id", "turn_number", "role", "content"}, "feedback": {"user_id", "timestamp"}}
    return len(marks.get(kind, {"timestamp"}) & record.keys()) >= (3 if kind == "interactions" else 1)


def convert(file: InputFile, source: Source) -> Iterator[Item]:
    """Yields the records as they are, the user filled in where a record names none."""
    fallback = source.user_id or source.folder_user
    for item in json_lines(file):
        if isinstance(item, Rejected):
            yield item
            continue
        line, record = item
        kind = kind_of(record)
        record.pop("kind", None)
        if fallback and record.get("user_id") is None and kind != "world_events":
            record["user_id"] = fallback
        yield Parsed(line.number, kind, record, line.raw)


FORMAT = Format("native", sniff, convert, has_folders_of_users=True)
