"""What of an answer can be used: its sections, or the error that says why there are none; and how much of it holds."""

from em_pipelines.errors import AnswerCutError, AnswerRefusedError, UnusableAnswerError
from em_pipelines.extraction.llm.answer import ALL_SECTIONS, Section
from em_pipelines.extraction.llm.grounding import ground
from em_pipelines.extraction.llm.parsing import Parsed, parse
from em_pipelines.extraction.verification import HALLUCINATION, verify
from em_pipelines.llm.protocol import ChatAnswer
from em_pipelines.schema.readings import Extraction, Segment, Turn

CUT = frozenset({"length", "loop"})
DECLINED = frozenset({"refusal", "content_filter"})
"""Finish reasons."""


def sections_of(answer: ChatAnswer, wanted: tuple[Section, ...], *, can_be_smaller: bool) -> Parsed:
    """The sections of an answer. Raises UnusableAnswerError where none are there or a follow-up does not bring all,
    AnswerCutError where it was cut off, and AnswerRefusedError where it was declined. Of an answer that cannot be asked
    for in smaller parts, what came before the cut is used."""
    parsed = parse(answer.text, wanted=wanted)
    if not parsed.missing:
        return parsed
    must_be_whole = wanted != ALL_SECTIONS or set(parsed.missing) == set(wanted)
    if answer.finish_reason in CUT and (must_be_whole or can_be_smaller):
        raise AnswerCutError(_cut(answer))
    if answer.finish_reason in DECLINED:
        raise AnswerRefusedError(
            "reading an answer: the model, or a filter of the endpoint, declined to answer; fewer messages are asked "
            "about at once; look at the endpoint's content filter"
        )
    if must_be_whole:
        wrong = f"{', '.join(parsed.missing)} missing or not in the form asked for"
        what = wrong if answer.text.strip() else "it is empty"
        raise UnusableAnswerError(f"reading an answer: {what}; it is asked again; if this goes on, try another model")
    return parsed


def _cut(answer: ChatAnswer) -> str:
    """Why an answer is not whole."""
    if answer.finish_reason == "loop":
        return "reading an answer: the model repeated itself and was stopped; if this goes on, try another model"
    what = "it" if answer.text.strip() else "the model's reasoning, before any answer,"
    return (
        f"reading an answer: {what} was cut off at the limit of its tokens; fewer messages are asked about at once; if "
        "this goes on, raise reading.max_output_tokens or the server's context, or have the model reason less"
    )


def best_grounded(segment: Segment, targets: dict[int, Turn], parsed: Parsed) -> Extraction:
    """The reading of an answer; of one with several documents, of the one that raises the fewest doubts, the later one
    of equals: a draft comes before the answer, and what was denied is often written out behind it."""
    readings = [ground(segment, targets, one) for one in (parsed, *reversed(parsed.alternatives))]
    if len(readings) == 1:
        return readings[0]
    return min(readings, key=lambda reading: _n_doubts(verify(reading, segment)))


def _n_doubts(reading: Extraction) -> int:
    return sum(issue.reason == HALLUCINATION for issue in reading.issues)


def is_mostly_refused(reading: Extraction, segment: Segment, at_least: int) -> bool:
    """Whether verification refuses more than half of the mentions and claims of a reading, and at least so many."""
    refused = [i for i in verify(reading, segment).issues if i.reason == HALLUCINATION and i.severity == "error"]
    n_items = len(reading.mentions) + len(reading.claims)
    return len(refused) >= at_least and len(refused) * 2 > n_items
