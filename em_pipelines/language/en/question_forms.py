"""What an answer of a few words states, by the form of the question: `When is Dana's birthday?` `12 May`.

The forms are data, word_lists/questions.yaml. Only sentences are made here, as in `acceptance`; whether anything
follows from `Dana's birthday is on 12 May.` is the reader's business.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from em_pipelines.language.dates.words import MONTHS, SEASONS, is_year
from em_pipelines.language.en.lexicon import guess_type, is_profession, load_lexicon, words
from em_pipelines.language.sentences import sentences_of
from em_pipelines.schema.vocabulary import EntityType

LONGEST_QUESTION = 600
_LONGEST_AFTER_QUESTION = 120
Fragment = Callable[[str], str]
"""The few words without a verb that a text is; empty where it is no such thing."""
_SLOT = re.compile(r"\{([a-z]+)\}")
_THING, _OTHER = r"(?P<thing>.{1,60}?)", r"(?P<other>.{1,60}?)"
_ARTICLE = re.compile(r"(?i)^(?:the|a|an|my|our|your) ")
_DATED = re.compile(
    r"(?i)^(?:(?:the )?(?:first|second|third|fourth|last) (?:week|weekend|day|half)|in|on|at|next|this|today|"
    r"tomorrow|tonight|early|late|mid|around|about|the (?:day|week|month)|"
    r"a (?:week|month|year)|end of|some ?time|not (?:before|until))\b"
)
_DATE_WORDS = re.compile(
    rf"{_DATED.pattern}(?: [\w']+){{0,5}}|(?:{'|'.join([*MONTHS, *SEASONS])})(?: \d{{1,2}}(?:st|nd|rd|th)?)?"
)
"""`next week`, `tomorrow`: no thing is named, and yet it is an answer."""
_NAMES = re.compile(
    r"[A-Z][\w.+#]*(?:(?:,| and|, and| or) [A-Z][\w.+#]*)*|[\w.+#]+(?:, [\w.+#]+){1,5}(?:,? (?:and|or) [\w.+#]+)?"
)
"""`Excel and Figma`, `excel, outlook, teams`: some names are verbs elsewhere."""
_ASKS_BACK = re.compile(r"[^.!?\n]*\?")
_YES = re.compile(r"(?i)\b(?:yes|yep|yeah)\b")
_NOT = re.compile(r"(?i)\b(?:no|not|never|but|nope)\b|n't\b")
_SO_NO = re.compile(r"(?i)\b(?:so|then|well) no\W*$")
_OF_A_KIND = re.compile(r"(?i)^(?:just )?(?:an?|one of my|some|our|my) (?:(?:very |really )?(?:old|good|dear|close) )?")
_HOW_OFTEN = re.compile(
    r"(?i)^(?:(?:my |a )?favou?rite|(?:very |quite |pretty )?often|now and then|every (?:day|week)|"
    r"all the time|once in a while|sometimes|just nice)\b"
)
_AN = re.compile(r"(?i)^[aeiou]")
_SHORTEST_DOING = 5
_LONGEST_ROLE = 3
_FINE = re.compile(r"(?i) (?:is (?:fine|good|great)|will do|works|please)$")
_MONTH_NAMES = "|".join(month for month in MONTHS if len(month) > len("sept"))
_DAY_SAID = re.compile(
    r"(?i)\b(?:on the \d{1,2}(?:st|nd|rd|th)|on (?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|"
    rf"next (?:week|month|year)|(?:on )?\d{{1,2}}(?:st|nd|rd|th)? (?:of )?(?:{_MONTH_NAMES})|"
    rf"in (?:{_MONTH_NAMES}|may))\b"
)
"""A day inside of a sentence: `we fly on the 22nd`."""
_COMMON = frozenset({EntityType.FOOD, EntityType.ACTIVITY, EntityType.VEHICLE})


@dataclass(frozen=True, slots=True)
class QuestionForm:
    """A form of question and the statements that answers to it amount to, with their slots."""

    asked: tuple[re.Pattern[str], ...]
    affirmed: str = ""
    denied: str = ""
    often: str = ""
    says: tuple[str, ...] = ()
    picks: str = ""

    def fits(self, question: str) -> dict[str, str] | None:
        """What the question asks about, by slot; None where it is of another form."""
        for pattern in self.asked:
            match = pattern.search(question)
            if match is not None:
                return {slot: text.strip() for slot, text in match.groupdict().items() if text}
        return None


@cache
def question_forms() -> tuple[QuestionForm, ...]:
    """The forms of questions.yaml, in order."""
    return tuple(
        QuestionForm(
            tuple(_compiled(one) for one in form["asked"]),
            form.get("affirmed", ""),
            form.get("denied", ""),
            form.get("often", ""),
            tuple(form.get("says", ())),
            form.get("picks", ""),
        )
        for form in load_lexicon("questions")["forms"]
    )


def _compiled(asked: str) -> re.Pattern[str]:
    return re.compile(rf"(?i)(?:^|[,:;–-] )(?:{asked.replace('THING', _THING).replace('OTHER', _OTHER)})$")


@cache
def _listed(key: str) -> str:
    """The phrases of a list, longest first, as alternatives of a regular expression."""
    phrases = sorted((p.strip() for p in load_lexicon("questions")[key].split(",")), key=len, reverse=True)
    return "|".join(map(re.escape, phrases))


@cache
def _unsaid() -> re.Pattern[str]:
    """Answers that are none."""
    return re.compile(rf"(?i)(?:(?:{_listed('unsaid_beginnings')})\b|(?:{_listed('unsaid')})\W*$)")


@cache
def _beginning(key: str) -> re.Pattern[str]:
    return re.compile(rf"(?i)\W{{0,3}}(?:{_listed(key)})(?![\w-])")


def asked_in(question: str) -> tuple[QuestionForm, dict[str, str]] | None:
    """The form of a question and what it asks about, by slot (`thing`, `other`); None where no form fits."""
    bare = re.sub(rf"(?i) (?:{_listed('anywhere')})\b", "", question.rstrip(" ?!.\n"))
    bare = re.sub(rf"(?i)(?:,? (?:{_listed('at_the_end')}))+$", "", bare)
    bare = re.sub(rf"(?i)^\W*(?:(?:{_listed('lead_ins')})\b,? )+(?=(?:\w+'s|\w+) )", "", bare)
    for form in question_forms():
        slots = form.fits(bare)
        if slots is not None:
            return form, slots
    return None


def stated_by_no(form: QuestionForm, slots: dict[str, str], rest: str, fragment: Fragment) -> list[str]:
    """What `no` and the words after it state: `No, Oslo now` ends the one and tells the other."""
    new = stated_by_words(form, slots, rest, fragment) if form.denied else []
    return [*_filled([form.denied], slots), *new]


def stated_by_words(form: QuestionForm, slots: dict[str, str], answered: str, fragment: Fragment) -> list[str]:
    """What an answer that is neither yes nor no states."""
    if plainly := _plainly(form, answered.strip()):
        return _filled([plainly], slots)
    text = _core(answered, fragment) or _day_said(form, answered)
    if not text:
        return []
    if form.picks:
        return _picked(form.picks, slots, text)
    return _said(form.says, slots, text)


def _plainly(form: QuestionForm, answered: str) -> str:
    """What it states to say yes, no or how often in other words: `every Tuesday`, `sold it`; empty where it is not."""
    if form.often and _HOW_OFTEN.match(answered):
        return form.often
    if form.denied and (_beginning("no_beginnings").match(answered) or _SO_NO.search(answered)):
        return form.denied
    is_yes = _beginning("yes_beginnings").match(answered) or (_YES.search(answered) and not _NOT.search(answered))
    return form.affirmed if is_yes else ""


def _day_said(form: QuestionForm, answered: str) -> str:
    """The day inside of a sentence that answers when something is."""
    found = _DAY_SAID.search(answered) if any("{when}" in statement for statement in form.says) else None
    return found.group() if found else ""


def _said(statements: tuple[str, ...], slots: dict[str, str], text: str) -> list[str]:
    """The first statement whose slots the words fill."""
    for statement in statements:
        made = {slot: FILLS[slot](text) for slot in _SLOT.findall(statement) if slot in FILLS}
        if all(made.values()):
            return _filled([statement], slots | {slot: value for slot, value in made.items() if value})
    return []


def stated_by_yes(form: QuestionForm, slots: dict[str, str], rest: str, fragment: Fragment) -> list[str]:
    """What `yes` and the words after it state."""
    return _filled([form.affirmed], slots) if form.affirmed else stated_by_words(form, slots, rest, fragment)


def _filled(statements: list[str], slots: dict[str, str]) -> list[str]:
    made = (_SLOT.sub(lambda match: slots[match[1]], one) for one in statements if one)
    return [one[0].upper() + one[1:] for one in made]


def _picked(statement: str, slots: dict[str, str], text: str) -> list[str]:
    options = [slots["thing"], slots["other"]]
    said = _plain(text)
    chosen = [one for one in options if _plain(one) in said or said in _plain(one)]
    if len(chosen) != 1:
        return []
    rest = options[1 - options.index(chosen[0])]
    return _filled(sentences_of(statement), {"answer": chosen[0], "rest": rest})


def _plain(text: str) -> str:
    return _ARTICLE.sub("", text.casefold().strip())


def _core(answered: str, fragment: Fragment) -> str:
    """The words of an answer that matter: `It's Bosse, haha!` is `Bosse`; empty where it says nothing."""
    if _ASKS_BACK.match(answered):
        return ""
    sentence = next(iter(sentences_of(answered.strip(" ,.!-–—:"))), "").rstrip(".!?")
    first = re.split(r";|(?: [–—-] )", sentence, maxsplit=1)[0]
    for part in _shorter(first):
        text = re.sub(rf"(?i)^(?:(?:{_listed('openers')})(?:,| |$) ?)+", "", part)
        text = re.sub(rf"(?i)(?:,? (?:{_listed('closers')}))+$", "", text).strip(" ,")
        if not text or _unsaid().match(text):
            return ""
        if found := fragment(text) or (text if _DATE_WORDS.fullmatch(text) or _NAMES.fullmatch(text) else ""):
            return found
    return ""


def _shorter(first: str) -> Iterator[str]:
    """A text and what stands before its first comma: `Graz, we moved there in May`."""
    yield first
    if "," in first:
        yield first.split(",", 1)[0]


def _work(text: str) -> str | None:
    """A profession: `a nurse at Fjordbank`, `Engineer`, `nursing`; `kids` is none."""
    bare = _ARTICLE.sub("", text)
    head = re.split(r" (?:at|for|in|with|and|on)\b|,", bare, maxsplit=1)[0].split()
    if not head:
        return None
    last = head[-1].casefold()
    if len(head) == 1 and last.endswith("ing") and len(last) > _SHORTEST_DOING:
        return last
    return f"{'an' if _AN.match(bare) else 'a'} {bare[0].lower() + bare[1:]}" if is_profession(last) else None


def _liked(text: str) -> str:
    """`Olives` begin an answer, and are no name."""
    return text[0].lower() + text[1:] if guess_type(text.casefold()) in _COMMON and not text.isupper() else text


def _role(text: str) -> str | None:
    """`lab tech`: the answer to what somebody does at a place, where it is short."""
    bare = _ARTICLE.sub("", text)
    is_short = len(bare.split()) <= _LONGEST_ROLE and bare.replace(" ", "").isalpha()
    return f"{'an' if _AN.match(bare) else 'a'} {bare[0].lower() + bare[1:]}" if is_short else None


def _name(text: str) -> str:
    """`Bea is fine`, `Kit, like the bag`."""
    return _FINE.sub("", text.split(",", maxsplit=1)[0])


def _one(text: str) -> str | None:
    return text if re.match(r"(?i)an? ", text) else None


def _place(text: str) -> str:
    return re.sub(r"(?i)^(?:in|to|at) ", "", text.split(",", maxsplit=1)[0])


def _when(text: str) -> str:
    """A date as it stands after `is`: `in March`, `on 12 May`, `next week`."""
    if re.match(r"(?i)(?:the )?(?:first|second|third|fourth|last) week", text):
        return f"in {text}"
    if _DATED.match(text):
        return text[0].lower() + text[1:]
    bare = text.casefold().removeprefix("the ").split()
    is_long = len(bare) <= 2 and (bare[0] in MONTHS or bare[0] in SEASONS or is_year(bare[0]))
    is_long = is_long and not (len(bare) > 1 and bare[1][:1].isdigit() and not is_year(bare[1]))
    return f"{'in' if is_long else 'on'} {text}"


def _mine(text: str) -> str:
    """`a friend from work` is the speaker's, and so is `a migration tool`."""
    return _OF_A_KIND.sub("my ", text) if _OF_A_KIND.match(text) else text[0].lower() + text[1:]


def _food(text: str) -> str:
    return _liked(re.sub(r"(?i)^no ", "", text))


def _diet(text: str) -> str | None:
    return text.casefold() if text.casefold() in words("nouns", "diets_and_faiths") else None


def _means(text: str) -> str | None:
    """`by bike and tram` names what is used."""
    named = [_ARTICLE.sub("", one) for one in re.split(r",? (?:and|or) |, ", re.sub(r"(?i)^(?:by|on|with) ", "", text))]
    known = words("questions", "transport")
    return (
        " and ".join(f"my {one.casefold()}" for one in named) if all(one.casefold() in known for one in named) else None
    )


def _kind_of_pet(text: str) -> str | None:
    bare = _ARTICLE.sub("", text.split(",", maxsplit=1)[0]).casefold()
    return f"{'an' if _AN.match(bare) else 'a'} {bare}" if bare.split()[-1] in words("people", "kinds_of_pet") else None


FILLS: dict[str, Callable[[str], str | None]] = {
    "answer": str,
    "liked": _liked,
    "work": _work,
    "one": _one,
    "role": _role,
    "name": _name,
    "place": _place,
    "when": _when,
    "mine": _mine,
    "food": _food,
    "diet": _diet,
    "means": _means,
    "kind": _kind_of_pet,
}
"""Slots of statements, and how an answer fills them; None where it does not."""


def last_sentences(text: str) -> list[str]:
    """The last sentences of a text that have a word."""
    return [one for one in sentences_of(text[-LONGEST_QUESTION:]) if one.strip(" .!?")]


def last_question(text: str) -> str:
    """The last question of a text, with at most one short sentence after it, which says what it is good for."""
    for sentence in last_sentences(text)[:-3:-1]:
        if sentence.endswith("?"):
            return sentence
        if len(sentence) > _LONGEST_AFTER_QUESTION:
            break
    return ""
