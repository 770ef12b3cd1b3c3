"""The wordings of retractions: where a message asks to forget something, and the statement that it takes back.

`forget what I said about …`, `scratch that`; `Lena liking eels` was `Lena likes eels`. Only wordings are known here;
which facts they mean is the business of `retractions`.
"""

import re
from enum import StrEnum
from typing import NamedTuple

from em_pipelines.extraction.rules.message import readable
from em_pipelines.language.en.tokens import ING, PAST, Token, tokenise
from em_pipelines.language.en.verb_groups import lemmas_of


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
    is_all: bool = False
    """`Everything I said about …`: not one statement alone."""
    is_request: bool = False
    """`Forget that`; not `just kidding`."""


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
    rf"{_LEAD}{_OWN_FAULT} about (?!(?:that|it|this)\b)([^,.;:!?\n]{{2,80}}?){_STOP}",
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
_REQUEST = re.compile(rf"(?i)\b{_FORGET}\b")
_ALL = re.compile(r"(?i)\b(?:everything|anything|all|whatever)\b")
_NEGATION = (
    (re.compile(r"(?i)\b(?:do|does|did)(?:n't| not) (?:actually |really |even )?"), ""),
    (re.compile(r"(?i)\b(am|is|are|was|were|have|has|'m|'re|'s)(?:n't| not)\b(?: actually| really)?"), r"\1"),
    (re.compile(r"(?i)\b(?:never|no longer) (?:actually |really )?"), ""),
)
_SUBJECTS = {
    "me": "I",
    "my": "I",
    "us": "we",
    "our": "we",
    "him": "he",
    "his": "he",
    "her": "she",
    "them": "they",
    "their": "they",
}
_PLURAL = frozenset({"i", "we", "they", "you"})
_IRREGULAR = {"be": "is", "have": "has", "do": "does", "go": "goes"}


def passages(text: str) -> list[Passage]:
    """The retractions in a text, in order; none overlaps another. A question retracts only where it asks to."""
    low = text.lower()
    if not any(hint in low for hint in _HINTS):
        return []
    text = readable(text)
    parts: list[Passage] = []
    for pattern, means in _FORMS:
        for match in pattern.finditer(text):
            part = _passage(match, means)
            is_known = any(part.start < other.end and other.start < part.end for other in parts)
            if not is_known and not _only_asks(text, part):
                parts.append(part)
    return sorted(parts)


def _passage(match: re.Match[str], means: Means) -> Passage:
    whole = match.group()
    start = match.start() + len(whole) - len(whole.lstrip())
    said = (match[1] if match.re.groups else "").strip(" '\"")
    is_all = means is Means.MENTION or _ALL.search(whole.removesuffix(said)) is not None
    return Passage(
        start, match.end(), means, said, _STRUCK.search(whole) is not None, is_all, _REQUEST.search(whole) is not None
    )


def _only_asks(text: str, part: Passage) -> bool:
    """Whether the passage is of a question that is no request."""
    if re.match(r"[^.!\n?]{0,80}\?", text[part.end :]) is None:
        return False
    return _ADDRESSED.search(text[part.start : text.index("?", part.end)]) is None


def without(text: str, parts: list[Passage]) -> str:
    """The text without its retractions and the reasons given for them, of the same length; a full stop is left."""
    for part in parts:
        reason = _REASON.match(text, part.end) if part.means is not Means.LAST else None
        end = reason.end() if reason is not None else part.end
        text = text[: part.start] + " " * (end - part.start - 1) + "." + text[end:]
    return text


def affirmed(sentence: str) -> str | None:
    """What a sentence denies (`I don't have a sister`: `I have a sister`); None where it denies nothing."""
    for pattern, instead in _NEGATION:
        said, n = pattern.subn(instead, sentence, count=1)
        if n:
            return said
    return None


def in_present(clause: str) -> str | None:
    """What reported speech puts back in time: `I liked eels` of `I said I liked eels`; None where nothing is past."""
    tokens = tokenise(clause)
    for n, token in enumerate(tokens[1:], start=1):
        is_be = token.low in {"was", "were"}
        past = lemmas_of(token, PAST)
        if (past or is_be) and n <= 4:
            verb = _present(past[0] if past else "be", [t.low for t in tokens[:n]])
            return clause[: token.start] + verb + clause[token.end :]
    return None


def finite(topic: str) -> str | None:
    """The statement behind a doing: `Lena liking eels` is `Lena likes eels`; None where there is no doing in it."""
    tokens = tokenise(topic)
    for n, token in enumerate(tokens):
        lemma = _doing(token)
        if lemma is None or n > 5 or n + 1 >= len(tokens):
            continue
        subject = _subject(topic[: token.start].strip())
        return f"{subject} {_present(lemma, subject.lower().split())} {topic[token.end :].strip()}."
    return None


def _doing(token: Token) -> str | None:
    if token.low == "being":
        return "be"
    lemmas = lemmas_of(token, ING)
    return lemmas[0] if lemmas and token.low.endswith("ing") else None


def _subject(text: str) -> str:
    if not text:
        return "I"
    known = _SUBJECTS.get(text.lower())
    return known or (text[:-2] if text.endswith("'s") else text)


def _present(lemma: str, subject: list[str]) -> str:
    last = subject[-1] if subject else "i"
    if last in _PLURAL:
        return ("am" if last == "i" else "are") if lemma == "be" else lemma
    if lemma in _IRREGULAR:
        return _IRREGULAR[lemma]
    if lemma.endswith(("s", "sh", "ch", "x", "o", "z")):
        return lemma + "es"
    return lemma[:-1] + "ies" if lemma.endswith("y") and lemma[-2:-1] not in "aeiou" else lemma + "s"
