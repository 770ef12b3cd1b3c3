"""Answers and take-ups: what a turn says only together with the one before it, put into the speaker's own words.

`Do you have pets?` `Yes, two cats.` is `I have two cats.`; `Where do you live?` `Delft` is `I live in Delft`. Nothing
of a question holds by itself: it must be answered, and ask for a fact (`Shall I …?`, `Do you want me to …?` ask for
none). Only sentences are made here; reading them is the reader's business.
"""

import re

from em_pipelines.extraction.rules.message import parse_message
from em_pipelines.language.en.dates import number_of
from em_pipelines.language.en.question_forms import (
    LONGEST_QUESTION,
    QuestionForm,
    asked_in,
    last_question,
    last_sentences,
    stated_by_no,
    stated_by_words,
    stated_by_yes,
)
from em_pipelines.language.en.tokens import Token, tokenise
from em_pipelines.language.sentences import sentences_of

_YES = re.compile(
    r"(?i)\W{0,3}(?:(?:oh|um|uh|haha|ah|well),? )?(?:yes|yeah|yep|yup|ja|indeed|correct|exactly|right|true|absolutely|"
    r"of course|that'?s (?:right|correct|true|me)|you (?:got|guessed) it|spot on|i do|i am|i have)\b(?! not\b)"
)
_FIRMLY = re.compile(r"(?i)\b(?:exactly|correct|right|true|spot on|indeed|you (?:got|guessed) it)\b")
_NO = re.compile(
    r"(?i)\W{0,3}(?:nope|nah|not anymore|not any more|not really|neither|"
    r"no(?=\W*$|[,.!;:]| [–—-]|\s+(?:i|we|not|never|sorry|that's|it's|they're)\b))\b"
)
"""`No new builds` answers, and denies nothing."""
_ENDED = re.compile(r"(?i)\W{0,3}not any ?more\b")
_OPENER = re.compile(
    r"(?i)^\W{0,3}(?:(?:and|so|ok|okay|great|nice|cool|then|got it|just to check|by the way|btw|"
    r"it (?:sounds|seems) (?:like|as if)|sounds like|i (?:see|gather|understand)(?: that)?|to confirm)\b[,:]? ?){0,3}"
)
_POLAR = re.compile(r"(?i)^(do|did|are|were|have) you (.{2,120})$")
_STATED = re.compile(r"(?i)^you(?:'re|'ve| [a-z]+) .{2,140}$")
_ASKED = re.compile(r"(?i)^(where|what|which|who|how old)(?: [a-z]+){0,2}? (do|are|did) you ?(.{0,80})$")
_WHAT_IS = re.compile(r"(?i)^what(?:'s| is| are) your (.{2,60})$")
_TAG = re.compile(r"(?i)(?:,? (?:right|correct|yes|no|don't you|aren't you|is that right|is it))?\?+$")
_NO_FACT = re.compile(
    r"(?i)^(?:want|wish|need|think|mean|see|know|remember|mind|agree|care|prefer me|understand|happen|sure|ready|okay|"
    r"able|looking|trying|asking|planning|going|tried|try|got)\b|\bme\b|\bI\b"
)
_OPEN = re.compile(r"(?i)\b(?:any|anything|something|some|other|else|anyone|someone|or)\b")
_PERSONS = {
    "you are": "I am", "you're": "I'm", "you were": "I was", "you've": "I've", "you'd": "I'd", "your": "my",
    "yours": "mine", "yourself": "myself", "you": "I",
}  # fmt: skip
_PERSON = re.compile(r"(?i)\b(?:you are|you're|you were|you've|you'd|yourself|yours|your|you)\b")
_TAKEN = re.compile(
    r"(?i)^\W{0,3}(?:(?:ok|okay|great|perfect|yes|yeah|nice|cool)\b,? ?)?"
    r"(?:i'?ll (?:take|go with|have|pick)|let'?s (?:go with|do|take)|i(?:'ve)? (?:pick|choose|chose|decided on)|"
    r"(?:i'm )?going with) (?:the )?(first|second|third|fourth|last)(?: one| option)?\b"
)
_NUMBERED = re.compile(r"(?m)^ {0,4}(?:\d{1,2}[.)]|[-*•]) {1,3}(.{2,120})$")
_NTH = {"first": 0, "second": 1, "third": 2, "fourth": 3, "last": -1}
_MAX_FRAGMENT = 10


def in_own_words(asked: str, answered: str) -> list[str]:
    """The sentences that an answer to the words `asked` amounts to; none where it is no answer."""
    asked, answered = asked.replace("’", "'"), answered.replace("’", "'")
    taken = _TAKEN.match(answered)
    if taken is not None:
        return _chosen(asked, taken[1])
    known = asked_in(last_question(asked))
    return _by_form(*known, answered) if known is not None else _by_shape(asked, answered)


def _by_shape(asked: str, answered: str) -> list[str]:
    """What an answer to words of no known form states."""
    yes = _YES.match(answered)
    may_ask = "?" in asked[-LONGEST_QUESTION:]
    last = next(reversed(last_sentences(asked)), "") if yes is not None or may_ask else ""
    if not last:
        return []
    is_question = last.endswith("?")
    question = _OPENER.sub("", _TAG.sub("", last.rstrip(".!\n "))).strip()
    if yes is not None and (is_question or _FIRMLY.search(yes.group())):
        return _affirmed(question, _fragment(answered[yes.end() :]))
    if not is_question:
        return []
    if _NO.match(answered) is not None:
        return _denied(question, has_ended=_ENDED.match(answered) is not None)
    return _filled(question, answered)


def _by_form(form: QuestionForm, slots: dict[str, str], answered: str) -> list[str]:
    """What an answer to a question of a known form states."""
    own = {slot: _own(text) for slot, text in slots.items()}
    if (yes := _YES.match(answered)) is not None:
        return stated_by_yes(form, own, answered[yes.end() :], _fragment)
    if (no := _NO.match(answered)) is not None:
        return stated_by_no(form, own, answered[no.end() :], _fragment)
    return stated_by_words(form, own, answered, _fragment)


def _chosen(asked: str, which: str) -> list[str]:
    """`The second one`, of the options listed in the words asked."""
    options = _NUMBERED.findall(asked)
    place = _NTH[which.lower()]
    return [f"I decided on {_named(options[place])}."] if place < len(options) and options else []


def _affirmed(question: str, fragment: str) -> list[str]:
    polar = _POLAR.match(question)
    if polar is None:
        is_statement = _STATED.match(question) is not None and not _OPEN.search(question)
        return [f"{_own(question)}."] if is_statement else []
    rest = polar[2]
    if _NO_FACT.search(rest):
        return []
    start = _start(polar[1])
    if fragment:
        return [f"{start} {rest.split()[0]} {fragment}." if start == "I" else f"{start} {fragment}."]
    return [] if _OPEN.search(rest) else [f"{start} {_own(rest)}."]


def _denied(question: str, *, has_ended: bool) -> list[str]:
    polar = _POLAR.match(question)
    if polar is None or _NO_FACT.search(polar[2]) or polar[1].lower() in {"did", "were"} or " or " in polar[2]:
        return []
    start = _start(polar[1])
    ending = " any more" if has_ended else ""
    rest = re.sub(r"\b(?:any|a|an)\b", "a", _own(polar[2]))
    return [f"{start} do not {rest}{ending}." if start == "I" else f"{start} not {rest}{ending}."]


def _filled(question: str, answered: str) -> list[str]:
    """An open question with its answer put in: `where do you live` and `Delft`."""
    what = _WHAT_IS.match(question)
    if what is not None:
        fragment = _fragment(answered)
        return [f"My {what[1]} is {fragment}."] if fragment else []
    asked = _ASKED.match(question)
    if asked is None or _NO_FACT.search(asked[3]):
        return []
    fragment = _fragment(answered)
    return [_statement(asked, fragment)] if fragment else []


def _statement(asked: re.Match[str], fragment: str) -> str:
    """What was asked (`_ASKED`), as a statement with the answer."""
    start, rest = _start(asked[2]), asked[3].strip()
    if rest in {"do", "do for a living", "do for work"}:
        return f"I am {fragment}."
    if asked[1].lower() == "where" and not rest.endswith((" in", " at", "from")):
        fragment = fragment if re.match(r"(?i)(?:in|at|near|on)\b", fragment) else f"in {fragment}"
    return " ".join(f"{start} {_own(rest)} {fragment}".split()) + "."


def _start(auxiliary: str) -> str:
    return {"are": "I am", "were": "I was", "have": "I have", "did": "I did"}.get(auxiliary.lower(), "I")


def _own(text: str) -> str:
    return _PERSON.sub(lambda match: _PERSONS[match.group().lower()], text)


def _fragment(text: str) -> str:
    """The first few words without a verb: an answer that is no sentence of its own."""
    first = next(iter(sentences_of(text.strip(" ,.!-–—:"))), "").rstrip(".!?")
    tokens = tokenise(first)
    if not first or len(tokens) > _MAX_FRAGMENT or _NO.match(first) or _YES.match(first):
        return ""
    if any(sentence.clauses for sentence in parse_message(tokens, first)[1]):
        return ""
    return first if any(_names_thing(tokens, n) for n in range(len(tokens))) else ""


def _names_thing(tokens: list[Token], i: int) -> bool:
    return tokens[i].bits == 0 or tokens[i].is_capital or number_of(tokens, i, len(tokens)) is not None


def _named(option: str) -> str:
    """`**The Harbour Inn** – quiet, by the water` is the Harbour Inn."""
    return re.split(r" [-–—(]|[:,;.(]", option.replace("*", "").strip(), maxsplit=1)[0].strip()
