"""Tells formats apart: by content, and by the name where content leaves it open."""

import orjson

from em_pipelines.landing.formats.base import Format, Sample
from em_pipelines.landing.reader import HEAD_BYTES, InputFile
from em_pipelines.landing.reasons import Reason, RuleError
from em_pipelines.landing.registry import FORMATS, format_named

_SAMPLE_LINES = 20
_BY_SUFFIX = {".jsonl": "native", ".ndjson": "native", ".csv": "csv", ".tsv": "csv"}


def sample_of(file: InputFile) -> Sample:
    """The beginning of a file as far as it can be read. Raises RuleError where nothing can."""
    head = file.head
    lines = head.splitlines()
    if len(head) == HEAD_BYTES:
        lines = lines[:-1]  # most likely cut
    objects = []
    for line in lines[:_SAMPLE_LINES]:
        try:
            found = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(found, dict):
            objects.append(found)
    return Sample(file.path.name, head.decode("utf-8", "replace"), tuple(objects))


def detect(file: InputFile) -> Format:
    """The format of a file. Raises RuleError where it cannot be read or is of no known format."""
    sample = sample_of(file)
    for candidate in FORMATS:
        if candidate.sniff(sample):
            return candidate
    suffixes = [s.lower() for s in file.path.suffixes if s.lower() != ".gz"]
    if suffixes and suffixes[-1] in _BY_SUFFIX:
        return format_named(_BY_SUFFIX[suffixes[-1]])
    raise RuleError(
        Reason.UNKNOWN_FORMAT,
        f"{file.path.name} is of no known format; give --format if it is one of {', '.join(f.name for f in FORMATS)}",
        raw=file.head[: file.settings.max_letter_bytes],
    )
