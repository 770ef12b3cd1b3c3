"""Reads conversations again as they would stand after a cut, so that a cut never makes up a fact.

Where "Torvald came, too" goes, a following "he is forty" would be said of whoever was named before. What is read then
and was not before is cut as well.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date
from typing import cast

import pyarrow.compute as pc

from em_pipelines.extraction.assemble import readings
from em_pipelines.extraction.messages import withheld_rows
from em_pipelines.extraction.segmentation import segment_objects
from em_pipelines.guard.sensitive import SafetySettings
from em_pipelines.language.cleaning import clean_text
from em_pipelines.language.fact_keys import FactKey, fact_key
from em_pipelines.language.name_matching import Span, cut
from em_pipelines.redaction.reading_home import ReadingHome
from em_pipelines.schema.readings import Claim, LocalExtractor
from em_pipelines.schema.rows import MessageRow
from em_pipelines.schema.table import Record, rows_of
from em_pipelines.schema.tables.clean import MESSAGES

MAX_ROUNDS = 4


def message_place(session_id: str, turn_number: int) -> str:
    """Where a message of a user stands, as one text."""
    return f"{session_id}\x1f{turn_number}"


def without_new_claims(home: ReadingHome, day: date, user_id: str, changed: Mapping[str, Record]) -> dict[str, Record]:
    """The changed messages of a day, by `message_place`, without what would be read in them or around them anew.

    Only an extractor that asks nobody is asked; a model's reading of a cut text is checked against that text alone.
    A message of the same conversations that was not changed itself comes back as well where it has to be cut.
    """
    if not changed or not isinstance(home.extractor, LocalExtractor):
        return dict(changed)
    rows = _conversations(home, day, user_id, {place.split("\x1f")[0] for place in changed})
    texts = _cut_new_claims(home, rows, {place: clean_text(record["content"]) for place, record in changed.items()})
    landed = _landed(home, day, user_id, set(texts) - set(changed))
    return {place: _with_text(record, texts[place]) for place, record in {**changed, **landed}.items()}


def _cut_new_claims(home: ReadingHome, rows: list[MessageRow], changed: Mapping[str, str]) -> dict[str, str]:
    """Texts by place without what is read in their conversations only since they were changed.

    Texts that were not changed come back as well where they had to be cut. A cut may bring up a new reading itself, so
    it is read again, MAX_ROUNDS times at most.
    """
    before = {key for _, key, _ in _claims(home, rows)}
    texts = dict(changed)
    for _ in range(MAX_ROUNDS):
        spans_of: dict[str, list[Span]] = defaultdict(list)
        for place, key, span in _claims(home, rows, texts):
            if key not in before:
                spans_of[place].append(span)
        if not spans_of:
            break
        for place, spans in spans_of.items():
            text = texts.get(place) or next(row["content"] for row in rows if _place(row) == place)
            texts[place] = cut(text, spans)
    return texts


def _with_text(record: Record, text: str) -> Record:
    """The record with another text; its own stays, byte for byte, where cleaning alone tells the two apart."""
    return {**record, "content": text} if text != clean_text(record["content"]) else dict(record)


def _claims(
    home: ReadingHome, rows: list[MessageRow], texts: Mapping[str, str] | None = None
) -> list[tuple[str, FactKey, Span]]:
    """What is read in conversations, some messages of which say something else: place, fact and span of each claim. No
    observations: what is left of a sentence is one of another text."""
    said = [_saying(row, (texts or {}).get(_place(row), row["content"]), home.checks.safety) for row in rows]
    said = [{**row, "sentences": []} for row in said]
    segments = segment_objects(MESSAGES.from_rows(said), home.settings.segmentation)
    return [
        (message_place(segment.session_id, claim.turn_number), _key(claim), Span(claim.start, claim.end))
        for segment, reading in readings(segments, home.extractor, home.checks)
        for claim in reading.claims
    ]


def _saying(row: MessageRow, text: str, safety: SafetySettings) -> MessageRow:
    """The message with this text, which is guarded anew where it is another."""
    return row if row["content"] == text else {**row, "content": text, "withheld": withheld_rows(text, safety)}


def _key(claim: Claim) -> FactKey:
    said = claim.object if claim.object is not None else claim.value
    return fact_key(claim.subject, claim.relation, said or "", claim.attribute, claim.polarity)


def _conversations(home: ReadingHome, day: date, user_id: str, sessions: set[str]) -> list[MessageRow]:
    messages = home.store.lake.read(MESSAGES, day)
    theirs = messages.filter(pc.equal(messages["user_id"], user_id))
    return [row for row in cast("Iterator[MessageRow]", rows_of(theirs)) if row["session_id"] in sessions]


def _landed(home: ReadingHome, day: date, user_id: str, places: set[str]) -> dict[str, Record]:
    if not places:
        return {}
    return {
        message_place(record["session_id"], record["turn_number"]): record
        for record in home.store.log.read("interactions", day)
        if record["user_id"] == user_id and message_place(record["session_id"], record["turn_number"]) in places
    }


def _place(row: MessageRow) -> str:
    return message_place(row["session_id"], row["turn_number"])
