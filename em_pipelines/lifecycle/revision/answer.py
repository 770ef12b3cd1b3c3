"""From the text of a verifier's answer to a finding: read strictly, then judged like any text of a stranger.

A page can tell a model what to write. So nothing of an answer is believed for its own sake: a changed value has to be
a thing and no order, and to have a source that the search has really found. What fails is unknown, with the reason.
"""

import json
from dataclasses import asdict, dataclass

from pydantic import BaseModel, ConfigDict, StrictStr, ValidationError

from em_pipelines.errors import UnusableAnswerError
from em_pipelines.guard.screening import is_unsafe_content
from em_pipelines.language.name_keys import name_key
from em_pipelines.lifecycle.revision.model import FactQuestion, Finding, Outcome
from em_pipelines.lifecycle.revision.public import MAX_CHARACTERS, is_plain, is_public_name
from em_pipelines.lifecycle.revision.source import Page, same_page, source_of
from em_pipelines.llm.documents import without_reasoning
from em_pipelines.llm.protocol import ChatAnswer

MAX_PAGES = 40
MAX_NAME_WORDS = 8
_SENTENCE_MARKS = frozenset('!?;:…"“”«»|=')


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search model said, with what it looked at. It is kept in the answer store as the text of the answer.

    `n_searches` is None where the endpoint does not tell.
    """

    said: str
    pages: tuple[Page, ...] = ()
    n_searches: int | None = None

    def as_text(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def of_text(cls, text: str) -> "Searched":
        """From what `as_text` made."""
        kept = json.loads(text)
        return cls(kept["said"], tuple(Page(**page) for page in kept["pages"]), kept["n_searches"])


class _Said(BaseModel):
    """The answer as the schema has it; whatever else stands in it makes it unusable."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    outcome: Outcome
    new_object: StrictStr | None = None
    source: StrictStr | None = None


def read_finding(answer: ChatAnswer, question: FactQuestion) -> Finding:
    """Reads and judges an answer; raises UnusableAnswerError where it does not match the schema or was cut."""
    searched = Searched.of_text(answer.text)
    if answer.finish_reason in {"refusal", "content_filter"}:
        return Finding(Outcome.UNKNOWN, reason="refused")
    if answer.finish_reason != "stop":
        raise UnusableAnswerError("reading a finding: the answer was cut; ask again, or raise max_output_tokens")
    said = _parsed(searched.said)
    if said.outcome is Outcome.UNKNOWN:
        return Finding(Outcome.UNKNOWN, reason="not_decided")
    if searched.n_searches == 0 and not searched.pages:
        return Finding(Outcome.UNKNOWN, reason="not_searched")
    return _judged(said, searched.pages, question)


def _judged(said: _Said, pages: tuple[Page, ...], question: FactQuestion) -> Finding:
    """What may be believed of an outcome that was found by searching."""
    source, why_not = _source(said, pages)
    if said.outcome is Outcome.VERIFIED:
        return Finding(Outcome.VERIFIED, source=source)
    refused = _refused(said.new_object, question) or (None if source else why_not)
    if refused is not None:
        return Finding(Outcome.UNKNOWN, reason=refused)
    return Finding(Outcome.CHANGED, (said.new_object or "").strip(), source)


def _parsed(text: str) -> _Said:
    """Models without strict schemas fence their JSON, or write around it; nothing but the one object counts."""
    text = without_reasoning(text)
    first, last = text.find("{"), text.rfind("}")
    try:
        return _Said.model_validate(json.loads(text[first : last + 1]))
    except (ValueError, RecursionError, ValidationError):
        raise UnusableAnswerError("reading a finding: the answer does not match the schema; ask again") from None


def _source(said: _Said, pages: tuple[Page, ...]) -> tuple[str | None, str]:
    """The source as it is kept, or why there is none. Where the endpoint lists pages, it has to be one of them."""
    if not said.source:
        return None, "no_source"
    source = source_of(said.source)
    if source is None:
        return None, "unsafe_source"
    if pages and not any(same_page(said.source, page) for page in pages[:MAX_PAGES]):
        return None, "source_not_found"
    return source, ""


def _refused(new_object: str | None, question: FactQuestion) -> str | None:
    """Why a changed value is not taken, None where it is: it has to be a thing of the kind that the object was."""
    text = (new_object or "").strip()
    is_name = question.object_type is None or is_public_name(text, question.object_type)
    is_sentence = len(text.split()) > MAX_NAME_WORDS or bool(_SENTENCE_MARKS.intersection(text))
    reasons = {
        "no_new_object": not text,
        "too_long": len(text) > MAX_CHARACTERS,
        "several_lines": not text.isprintable(),
        "unsafe_object": is_unsafe_content(text),
        "private_object": not is_plain(text),
        "same_object": name_key(text) == name_key(question.object),
        "not_a_name": is_sentence or not is_name,
    }
    return next((reason for reason, is_so in reasons.items() if is_so), None)
