"""Writes the JSON export, a record at a time.

Every record has a line of its own that begins with what joins it to the one before, so that no line passes for a log.
"""

from collections.abc import Iterable
from itertools import chain, groupby
from typing import BinaryIO

import orjson

from em_pipelines.schema.table import Record
from em_pipelines.serving.export.document import FORMAT, KINDS, VERSION, Tally, line_of
from em_pipelines.serving.export.exported_facts import Memory, Row


def write_json(
    handle: BinaryIO, records: Iterable[tuple[str, Record]], memory: Memory, settings: dict[str, str]
) -> dict[str, int]:
    """Writes one document and returns how many records of each kind it holds; `records` come kind by kind.

    The same records, memory and settings give the same bytes.
    """
    tally = Tally()
    head = {"format": FORMAT, "version": VERSION, "user_id": memory.user_id, "settings": settings}
    handle.write(b"{" + b",\n".join(_member(name, value) for name, value in head.items()) + b',\n"records": {')
    by_kind = dict.fromkeys(KINDS, False)
    separator = b"\n"
    for kind, found in groupby(records, key=lambda item: item[0]):
        handle.write(separator + orjson.dumps(kind) + b": [")
        for number, (_, record) in enumerate(found):
            line = line_of(record)
            tally.add(kind, line)
            handle.write((b"\n," if number else b"") + line)
        handle.write(b"]")
        by_kind[kind] = True
        separator = b",\n"
    for kind in (kind for kind, is_written in by_kind.items() if not is_written):
        handle.write(separator + orjson.dumps(kind) + b": []")
        separator = b",\n"
    handle.write(b"},\n" + _member("counts", tally.counts) + b",\n" + _member("digests", tally.digests))
    handle.write(b',\n"memory": {' + _member("as_of", memory.as_of.isoformat()))
    for name, rows in (("entities", memory.entities), ("facts", memory.facts)):
        handle.write(b",\n" + orjson.dumps(name) + b": [")
        handle.writelines(chain.from_iterable(_joined(rows)))
        handle.write(b"]")
    handle.write(b"}}\n")
    return tally.counts


def _member(name: str, value: object) -> bytes:
    return orjson.dumps(name) + b": " + orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _joined(rows: Iterable[Row]) -> Iterable[tuple[bytes, bytes]]:
    for number, row in enumerate(rows):
        yield (b"\n," if number else b"", line_of(row))
