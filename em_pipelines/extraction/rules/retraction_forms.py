"""Where a message asks to forget something, and in which words: `forget what I said about …`, `scratch that`.

Only wordings are known here; which facts they mean is the business of `retractions`.
"""

import re
from enum import StrEnum
from typing import NamedTuple

from em_pipelines.extraction.rules.message import readable


class Means(StrEnum):
    """What the words of a retraction give."""

    CLAUSE = "clause"
    """The statement itself: `I said I work at Larsen, that was wrong`."""
    TOPIC = "topic"
    """What it was about: `forget what I said about Lena liking eels`, `the thing about the boat`."""
    MENTION = "mention"
    """Of whom nothing is to be known: `forget I mentioned my sister`."""
    LAST = "last"
    """The statement before it: `scratch that`."""


class Passage(NamedTuple):
    """Characters `start` to `end` of a text, and the words for what is taken back."""

    start: int
    end: int
    means: Means
    words: str
    is_struck: bool = False
    """`Scratch that`: of a plan, the plan is given up rather than never stated."""


_LEAD = (
    r"(?:^|(?<=[.,;!?:\n…–—()-]))[ '\"]{0,3}"
    r"(?:(?:please|pls|plz|ok|okay|so|and|but|oh|ah|um|uh|sorry|wait|no|hey|hi|hmm|well|right|actually|also|just|now|"
    r"then|btw|by the way|(?:can|could|would|will) you|you (?:can|should|may)|i(?:'d like| want| need) you to|let's|"
    r"haha|lol|yes|yeah|anyway|on second thoughts?)\b,? ?){0,5}"
)
_FORGET = r"(?:forget|disregard|ignore|scratch|scrap|strike|delete|erase|remove|retract|unsay|drop|take back|withdraw)"
_TOLD = r"(?:said|told you|wrote|mentioned|claimed|shared)"
_WHEN = r"(?: (?:earlier|before|yesterday|just now|last (?:time|week)|the other day))?"
_THING = r"(?:thing|bit|part|stuff|story|comment|remark|fact|statement|claim|info|information|business)s?"
_I_TOLD = rf"(?:that )?i(?:'ve)? (?:just |ever |once |earlier )?{_TOLD}{_WHEN}"
_OF_TOPIC = rf"(?:(?:everything|anything|all|whatever|what) {_I_TOLD} (?:about|on|regarding)|" + (
    rf"(?:the|that|this|my|all that) {_THING} (?:{_I_TOLD} )?(?:about|regarding|where|that|with))"
)
_STOP = r"(?= ?(?:[,.;!?\n]|[–—-] |$))"
_CLAUSE = r"((?!(?:that|this|it|so|anything|something|hi|hello|yes|no)\b[^\w']{0,2}(?:$|[,.;!?\n]))[^,.;!?\n]{3,120}?)"
_WRONG = (
    r"(?:(?:was|is|were)(?: (?:all|just|only|completely|totally|simply|obviously))?"
    r" (?:wrong|false|untrue|incorrect|not true|not right|made up|nonsense|an error|"
    r"(?:a|my) (?:mistake|joke|lie|typo|slip))"
    r"|'s (?:wrong|false|untrue|incorrect|not true|not right|a lie)|(?:wasn't|isn't) (?:true|right|correct|so))"
)
_OWN_FAULT = (
    r"i (?:was (?:wrong|(?:just |only )?(?:joking|kidding|lying))|lied|misspoke|made (?:that|it|him|her|them|this) up)"
)
_REASON = re.compile(
    r"(?i) ?[,.;–—-]* ?(?:(?:and|because|cause|as|since|sorry),? )?"
    r"(?:(?:that|it) (?:was|is) (?!not)|that's |i (?:mixed|confused|mistook|misremembered|misheard|was thinking of)\b|"
    r"my (?:mistake|bad)|i was (?:wrong|joking|kidding)|i made (?:that|it) up)[^.!?;\n]*"
)
"""Why it is taken back: nobody's fact."""
_ADDRESSED = re.compile(r"(?i)\b(?:can|could|would|will) you\b|\b(?:please|pls|plz|ok|okay|right|alright|yeah)\??\W*$")
_NEVER = r"i (?:have |'ve )?(?:never|didn't|did not)(?: actually| ever)? (?:said|say|claimed|claim)"
_CLAUSES = (
    rf"{_LEAD}i (?:think i |know i |may have |might have )?{_TOLD}{_WHEN} (?:that )?{_CLAUSE}"
    rf"(?:[,.;:–—-]+ ?| )(?:but |and |sorry,? |actually,? ){{0,2}}(?:(?:that|it|this|which) ?{_WRONG}|{_OWN_FAULT})",
    rf"{_LEAD}{_FORGET} (?:that |where )?i(?:'ve)? (?:ever |just |once )?{_TOLD}(?: that)? "
    rf"(?=(?:i|i'm|i've|we|my|our|he|she|they|his|her|their|it|[A-Z][a-z]+)\b){_CLAUSE}{_STOP}",
    rf"{_LEAD}(?:forget|disregard|delete|scratch|erase) that (?=(?:i|i'm|i've|we|my|our)\b){_CLAUSE}{_STOP}",
    rf"{_LEAD}{_NEVER} (?:that )?{_CLAUSE}{_STOP}",
    rf"{_LEAD}(?:it|that)(?:'s| is| was)(?: not true| untrue| a lie| false| not the case|n't true) that "
    rf"{_CLAUSE}{_STOP}",
)
_TOPICS = (
    rf"{_LEAD}(?:i(?:'ll|'d like to| want to| have to) |i (?=take|retract|withdraw))?"
    rf"{_FORGET} {_OF_TOPIC} (.{{2,120}}?){_STOP}",
    rf"{_LEAD}{_OF_TOPIC} ([^,.;!?\n]{{2,80}}?) {_WRONG}",
)
_MENTIONS = (
    rf"{_LEAD}{_FORGET} (?:that )?i (?:ever |even |just )?"
    r"(?:mentioned|told you about|brought up|talked about|spoke of) "
    rf"(?!(?:that|it|this|anything)\b)([^,.;!?\n]{{2,60}}?){_STOP}",
)
_AFTER_LAST = (
    r"(?= ?(?:[,.;!?\n…–—)]|- |$|(?:please|pls|sorry|again|right away|ok|okay|now|lol|haha)\b"
    r"|from (?:your|what|my|the (?:notes|record|memory))\b))"
)
_PART = r"(?:message|bit|part|one|sentence|statement|thing|comment|remark|answer)"
_LASTS = (
    rf"{_LEAD}{_FORGET} (?:that|this|(?:my|the|that) (?:last|previous) {_PART}|that (?:last )?{_PART}|"
    rf"what i(?: just)? {_TOLD}|(?:that )?i (?:ever |even |just )?{_TOLD} (?:that|it|this|anything)){_AFTER_LAST}",
    rf"{_LEAD}i(?:'ll| want to| have to)? take (?:that|it|this)(?: all)? back\b",
    rf"{_LEAD}{_OWN_FAULT}(?: about (?:that|it))?{_AFTER_LAST}",
    rf"{_LEAD}(?:that|it) was (?:just |only )?a (?:joke|lie){_AFTER_LAST}",
    rf"{_LEAD}(?:just|only) (?:kidding|joking){_AFTER_LAST}",
    rf"{_LEAD}i'?m (?:just|only) (?:kidding|joking){_AFTER_LAST}",
)
_FORMS = [
    (re.compile(rf"(?i){form}"), means)
    for means, forms in (
        (Means.MENTION, _MENTIONS),
        (Means.CLAUSE, _CLAUSES),
        (Means.TOPIC, _TOPICS),
        (Means.LAST, _LASTS),
    )
    for form in forms
]
_HINTS = (
    "forget", "disregard", "ignore", "scratch", "scrap", "strike", "delete", "erase", "remove", "retract", "unsay",
    "drop", "take ", "withdraw", "wrong", "lie", "misspoke", "made ", "never ", "say", "true", "false",
    "joke", "joking", "kidding", "mistake", "correct", "case that", "nonsense", "typo", "slip", "error", "n't right",
)  # fmt: skip
"""One of these stands in every retraction."""
_STRUCK = re.compile(r"(?i)\b(?:scratch|scrap|strike) that$")


def passages(text: str) -> list[Passage]:
    """The retractions in a text, in order; none overlaps another. A question retracts only where it asks to."""
    low = text.lower()
    if not any(hint in low for hint in _HINTS):
        return []
    text = readable(text)
    found: list[Passage] = []
    for pattern, means in _FORMS:
        for match in pattern.finditer(text):
            start, end = match.span()
            start += len(match.group()) - len(match.group().lstrip())
            is_asked = re.match(r"[^.!\n?]{0,80}\?", text[end:]) is not None
            is_known = any(start < other.end and other.start < end for other in found)
            if is_known or (is_asked and not _ADDRESSED.search(text[start : text.index("?", end)])):
                continue
            said = (match[1] if match.re.groups else "").strip(" '\"")
            found.append(Passage(start, end, means, said, _STRUCK.search(match.group()) is not None))
    return sorted(found)


def without(text: str, parts: list[Passage]) -> str:
    """The text without its retractions and the reasons given for them, of the same length; a full stop is left."""
    for part in parts:
        reason = _REASON.match(text, part.end) if part.means is not Means.LAST else None
        end = reason.end() if reason is not None else part.end
        text = text[: part.start] + " " * (end - part.start - 1) + "." + text[end:]
    return text
