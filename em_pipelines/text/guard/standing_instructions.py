"""Which sentences of a message are standing instructions about answers: how a person wants to be answered from now on.

"Always use metric units" orders the agent about, as an injected instruction does, and says how somebody wants to be
answered. What tells the two apart is what is ordered, not how: a conditional random field over the sentences of a
message, fitted to labelled messages by training/instructions, says of each whether it is about answers to the one who
speaks, is an order that nobody may leave behind (about tools, permissions, money, other people, memory, secrets, wares,
dangers), or neither.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path

from em_pipelines.schema.readings import Claim, Turn
from em_pipelines.schema.vocabulary import USER
from em_pipelines.text.guard.contact import personal_spans
from em_pipelines.text.guard.injection import Stripped, is_quarantined
from em_pipelines.text.guard.passages import (
    CODE_OR_LINK,
    Span,
    folded,
    has_pasted_block,
    overlaps,
    quoted_blocks,
    sentences,
)
from em_pipelines.text.guard.sensitive import marks_of
from em_pipelines.text.tagging import marginals

MODEL = Path(__file__).with_name("instructions.crfsuite")
"""Written by training/instructions."""
INSTRUCTION, REFUSED = LABELS = "instruction", "refused"
"""The labels of a sentence, besides `other`."""
STANDING = "standing_instruction"
"""Why words are not quoted that would be taken out, did they not only say how their speaker wants to be answered."""
ORDERS = frozenset({"order", "trigger", "embedded"})
"""The kinds of injected instructions that people give about answers as well."""
TOLD = frozenset({"prefers", "has_name"})
"""What such words may tell of their speaker: "call me Lu" is an instruction, too."""
THRESHOLD = 0.5
"""How likely a sentence has to be a standing instruction about answers, or a refused one, to be taken for it."""

_WORD = re.compile(r"\w{2,80}")


def permitted(text: str, stripped: Stripped) -> list[Span]:
    """What of the instructions found in a text is left there to be read: all of them where each only says how its
    speaker wants to be answered, else none."""
    grave = [(kind, span) for kind, span in stripped.found if span not in stripped.mild]
    if not grave or not {kind for kind, _ in grave} <= ORDERS or is_quarantined(text):
        return []
    told = instruction_spans(text)
    is_every = all(any(start <= span[0] and span[1] <= end for start, end in told) for _, span in grave)
    return [span for _, span in grave] if is_every else []


def beyond_answers(claim: Claim, turn: Turn) -> bool:
    """Whether a claim was read in words that `permitted` left, and is of anything but answers to their speaker."""
    left = [(one.span_start, one.span_end) for one in turn.withheld or () if one.reason == STANDING]
    is_told = claim.subject == USER and claim.relation in TOLD
    return not is_told and overlaps(_place(claim), left)


def is_refused(claim: Claim, text: str) -> bool:
    """Whether a claim tells what a text orders of a kind that nobody may leave behind: whether the sentence is such an
    order that has most of the claim's words, of those that the claim's place touches."""
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
    """The sentences of a text that are standing instructions about answers; none where it may be pasted, none that
    stands in quotation marks, and none with a link, a number to call or an address."""
    if has_pasted_block(text):
        return []
    told = [span for span, chances in _chances(text) if chances[INSTRUCTION] > THRESHOLD]
    unsafe = [*quoted_blocks(text), *chain.from_iterable(personal_spans(text).values())] if told else []
    return [span for span in told if not overlaps(span, unsafe) and not CODE_OR_LINK.search(text, *span)]


def refused_spans(text: str) -> list[Span]:
    """The sentences of a text that are standing orders of a kind that nobody may leave behind."""
    return [span for span, chances in _chances(text) if chances[REFUSED] > THRESHOLD]


@lru_cache(maxsize=256)
def _chances(text: str) -> tuple[tuple[Span, dict[str, float]], ...]:
    """Each sentence of a text with how likely each label is."""
    spans = sentences(text)
    if not spans:
        return ()
    chances = marginals(MODEL, marks_in(text[slice(*span)] for span in spans), LABELS)
    return tuple((span, dict(zip(LABELS, its, strict=True))) for span, its in zip(spans, chances, strict=True))


def marks_in(of: Iterable[str]) -> list[list[str]]:
    """The marks of each sentence of a message: its own, and the words of the one before."""
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
