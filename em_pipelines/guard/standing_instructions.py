"""Finds the standing instructions about answers in a message: how a person wants to be answered from now on.

"Always use metric units" looks like an injected instruction, but only says how the user wants to be answered. The
difference is the subject, not the wording. A conditional random field, trained by training/instructions on labelled
messages, gives each sentence of a message one of three labels: `instruction` (about answers to the speaker), `refused`
(a standing instruction that must not be kept: about tools, permissions, money, other people, memory, secrets, products,
hidden risks, addresses, all users) or `other`. English only.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path

from em_pipelines.guard.contact import personal_spans
from em_pipelines.guard.injection import Stripped, is_quarantined
from em_pipelines.guard.passages import (
    CODE_OR_LINK,
    Span,
    folded,
    has_pasted_block,
    overlaps,
    quoted_blocks,
    sentences,
)
from em_pipelines.language.fitted_models import marginals, marks_of
from em_pipelines.schema.readings import Claim, Turn
from em_pipelines.schema.vocabulary import USER

MODEL = Path(__file__).with_name("instructions.crfsuite")
"""The file of the classifier, written by training/instructions."""
INSTRUCTION, REFUSED = LABELS = "instruction", "refused"
"""The labels that a sentence can have, besides `other`."""
STANDING = "standing_instruction"
"""The reason of words that are read and not quoted, because they are an instruction about answers."""
ORDERS = frozenset({"order", "trigger", "embedded"})
"""The kinds of injected instructions, by injection.yaml, that can be instructions about answers."""
TOLD = frozenset({"prefers", "has_name", "instruction", "preference"})
"""The relations that a claim about the speaker may have where it is read in such words ("call me Lu" is one, too), or
where they are kept whole."""
THRESHOLD = 0.5
"""The probability above which a sentence has a label."""

_WORD = re.compile(r"\w{2,80}")


def permitted(text: str, stripped: Stripped) -> list[Span]:
    """The spans of the instructions found in a text that stay in it: all of them if each is about answers, else none.
    Mild ones ("remember that …") do not count; a text that asks for something to be run has none."""
    grave = [(kind, span) for kind, span in stripped.found if span not in stripped.mild]
    if not grave or not {kind for kind, _ in grave} <= ORDERS or is_quarantined(text):
        return []
    told = instruction_spans(text)
    is_every = all(any(start <= span[0] and span[1] <= end for start, end in told) for _, span in grave)
    return [span for _, span in grave] if is_every else []


def beyond_answers(claim: Claim, turn: Turn) -> bool:
    """Whether a claim was read in words that `permitted` kept, and is no preference or name of the speaker."""
    left = [(one.span_start, one.span_end) for one in turn.withheld or () if one.reason == STANDING]
    is_told = claim.subject == USER and claim.relation in TOLD
    return not is_told and overlaps(_place(claim), left)


def is_refused(claim: Claim, text: str) -> bool:
    """Whether a claim comes from a refused sentence: of the sentences that the span of the claim overlaps, the one that
    shares most words with it."""
    refused = refused_spans(text)
    if not refused:
        return False
    words = _words(f"{claim.statement or ''} {claim.object or claim.value or ''}")
    near = [span for span in sentences(text) if overlaps(_place(claim), [span])]
    return max(near, key=lambda span: len(words & _words(text[slice(*span)])), default=None) in refused


def _place(claim: Claim) -> Span:
    return claim.start, max(claim.end, claim.start + 1)


def _words(text: str) -> set[str]:
    return {*_WORD.findall(folded(text))}


def instruction_spans(text: str) -> list[Span]:
    """The sentences of a text that are instructions about answers. None if the text has a pasted block; sentences in
    quotation marks, or with code, a link, a phone number or an address, are left out."""
    if has_pasted_block(text):
        return []
    told = [span for span, chances in _chances(text) if chances[INSTRUCTION] > THRESHOLD]
    unsafe = [*quoted_blocks(text), *chain.from_iterable(personal_spans(text).values())] if told else []
    return [span for span in told if not overlaps(span, unsafe) and not CODE_OR_LINK.search(text, *span)]


def refused_spans(text: str) -> list[Span]:
    """The sentences of a text that the classifier labels `refused`."""
    return [span for span, chances in _chances(text) if chances[REFUSED] > THRESHOLD]


@lru_cache(maxsize=256)
def _chances(text: str) -> tuple[tuple[Span, dict[str, float]], ...]:
    """Each sentence of a text, with the probability of each label."""
    spans = sentences(text)
    if not spans:
        return ()
    chances = marginals(MODEL, marks_in(text[slice(*span)] for span in spans), LABELS)
    return tuple((span, dict(zip(LABELS, its, strict=True))) for span, its in zip(spans, chances, strict=True))


def marks_in(of: Iterable[str]) -> list[list[str]]:
    """The features of each sentence of a message: its own (`marks_of`), and the words of the sentence before."""
    found: list[list[str]] = []
    before: Sequence[str] = ("first",)
    for sentence in of:
        plain = (
            folded(sentence).strip().encode("utf-8", "replace").decode()
        )  # halves of pairs are no text for the model
        own = sorted(marks_of(plain))
        found.append([*own, *before])
        before = [f"before {mark}" for mark in own if mark.startswith("\t") and " " not in mark]
    return found
