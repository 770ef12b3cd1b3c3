"""Whether the turns around a claim say a statement that a model worded of it: its words, and its calendar dates.

A statement that is clear by itself says `3 May 2024` where the turn says `last Friday`: each date has to be what the
words of a turn mean, and the other words are looked for in the turns. The ends and the relation of the claim are not
looked for again.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import chain, zip_longest

from em_pipelines.extraction.spans import is_unspaced
from em_pipelines.extraction.support import Said, content_stems, is_supported
from em_pipelines.guard.passages import clause_around
from em_pipelines.language.dates.calendar_spans import LENGTHS, Tense, last_of, period
from em_pipelines.language.dates.resolver import LONGEST_TEXT, resolve
from em_pipelines.language.document import document, english
from em_pipelines.language.name_keys import noun_of
from em_pipelines.schema.readings import ENGLISH, MAX_STATEMENT_CHARACTERS, Claim, Turn
from em_pipelines.schema.vocabulary import DATED, USER, EntityType


@dataclass(frozen=True, slots=True)
class _Named:
    """The words of a date, its first and its last day, and whether they are one whole month, year or other unit."""

    words: str
    first: date
    last: date
    is_unit: bool


_OF_OTHERS = (
    (
        english.words("words", "subject_pronouns")
        | english.words("words", "object_pronouns")
        | english.words("words", "possessives")
    )
    - english.own_words
    - {"you", "your", "yours"}
)
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_YEAR = re.compile(r"[\s,]*\b\d{4}$")
_WEEK = timedelta(days=7)
MIN_STATED_SHARE = 0.75
"""Of the words of a statement that carry meaning: more than of a name, for what it adds is what could be invented."""


MIN_GROUNDING_SHARE, MIN_END_SHARE = 0.7, 0.4
"""Of the words of a statement that shows what an end means, and of the words of that end."""


def is_stated(statement: str, claim: Claim, near: Sequence[Turn], said: Said) -> bool:
    """Whether turns say nearly every word of a statement, and its dates in these words or others; whether it denies
    where its turn does, and names the ends of its claim.

    `near` are the turn of the claim and, before it, those shortly before; `said` is what they say.
    """
    if len(statement) > MAX_STATEMENT_CHARACTERS or not _denies_alike(statement, claim, near[-1]):
        return False
    if not words_its_fact(statement, claim, near[-1]):
        return False
    undated = without_stated_dates(statement, claim, near)
    if undated is None:
        return False
    parts = [part for part in (claim.subject, claim.object, claim.value) if part]
    known = [*said.near, *parts, claim.relation.replace("_", " "), *(turn.role for turn in near)]
    return is_supported(undated, replace(said, near=known), MIN_STATED_SHARE, is_sentence=True)


def _denies_alike(statement: str, claim: Claim, turn: Turn) -> bool:
    """Whether a statement denies what its claim denies, and nothing that the turn does not. A denial in the turn's own
    words ("didn't even blink") is always allowed; a claim with negative polarity may rest on any denial of its turn."""
    text, language = turn.text, turn.language or ENGLISH
    said, quoted = _denials(statement, language), _denials(text, language)
    is_denied = bool(_denials(clause_around(text, claim.start, claim.end, len(text)), language))
    if claim.polarity > 0:
        return is_denied or said <= quoted
    return bool(said) == is_denied or bool(said and quoted)


def _denials(text: str, language: str) -> set[tuple[str, str]]:
    """The words of a text that deny, each with the word behind it; in scripts without blanks with the character."""
    signs = (
        english.words("words", "negations") if language == ENGLISH else english.words_of_language("negations", language)
    )
    if is_unspaced(text):
        return {(at[0], text[at.end() : at.end() + 1]) for sign in signs for at in re.finditer(re.escape(sign), text)}
    lows = [word.casefold().replace("’", "'") for word in _WORD.findall(text)]
    pairs = zip_longest(lows, lows[1:], fillvalue="")
    return {pair for pair in pairs if pair[0] in signs or (language == ENGLISH and pair[0].endswith("n't"))}


def grounds_ends(claim: Claim, unsaid: Sequence[str], near: Sequence[Turn], said: Said) -> bool:
    """Whether the statement of a claim shows what is meant by ends of it that no turn words so: turns say the statement
    but for a few words, and some words of the end. What a fact is about may be called by a noun that nobody says ("the
    grant" where turns have the fund and the sum); a person, a name or a number may not.

    `near` and `said` are as for `is_stated`.
    """
    if not claim.statement or not words_its_fact(claim.statement, claim, near[-1]):
        return False
    undated = without_stated_dates(claim.statement, claim, near)
    if undated is None:
        return False
    known = replace(said, near=[*said.near, *(turn.role for turn in near)])
    if not is_supported(undated, known, MIN_GROUNDING_SHARE, is_sentence=True):
        return False
    return all(_is_plain_noun(end, claim) or is_supported(end, said, MIN_END_SHARE) for end in unsaid)


def _is_plain_noun(end: str, claim: Claim) -> bool:
    is_subject = end == claim.subject and claim.subject_type is not EntityType.PERSON
    return is_subject and end.islower() and not any(character.isdigit() for character in end)


def without_stated_dates(statement: str, claim: Claim, near: Sequence[Turn]) -> str | None:
    """The statement with blanks in place of its dates; None where one of them is in no turn of `near`, neither in the
    same words nor in words for those days, and is not what the claim was resolved to. A month or a year may stand for a
    day in it, and a range for the days at its ends.

    `near` ends with the turn of the claim.
    """
    known = [*chain.from_iterable(map(_days_of_turn, near)), *_days_of_claim(claim)]
    rest = statement
    for named in _dates_in(statement, near[-1].timestamp):
        if not any(_is_worded(named, turn) for turn in near) and not _is_known(named, known):
            return None
        rest = rest.replace(named.words, " ", 1)
    return rest


def tells_days(words: str, near: Sequence[Turn]) -> bool:
    """Whether words for dates mean days that turns speak of, the last of `near` or those before it."""
    named = _dates_in(words, near[-1].timestamp)
    known = [*chain.from_iterable(map(_days_of_turn, near))]
    return bool(named) and all(_is_known(one, known) for one in named)


def _is_worded(named: _Named, turn: Turn) -> bool:
    """Whether a turn has the words of a date, or those before its year where that is the turn's or the next to it."""
    bare = (_YEAR.sub("", named.words) if abs(named.first.year - turn.timestamp.year) <= 1 else "") or named.words
    return re.search(rf"(?<!\w){re.escape(bare)}(?!\w)", turn.text, re.IGNORECASE) is not None


def _is_known(named: _Named, known: Sequence[tuple[date, date]]) -> bool:
    if named.is_unit:
        return any(named.first <= first and last <= named.last for first, last in known)
    firsts, lasts = zip(*known, strict=True) if known else ((), ())
    return named.first in firsts and named.last in lasts


@lru_cache(maxsize=1024)  # a turn has many claims
def _days_of_turn(turn: Turn) -> tuple[tuple[date, date], ...]:
    """The days that a turn speaks of; of one in another language than English only its claims know them.

    Of a day without its year, those of either year: `the deadline moved to June 3` is told in the past, and ahead. Of
    `Friday`, the last and the next: `report from Friday!` has no tense.
    """
    if turn.language not in {None, ENGLISH}:
        return ()
    meant = [(named.first, named.last) for named in _dates_in(turn.text, turn.timestamp)]
    days_of_year = {(first.month, first.day) for first, _ in meant}
    text = turn.text[:LONGEST_TEXT].replace("’", "'")
    tense_at, written_on = document(turn.text, turn.timestamp).tense_at, turn.timestamp.date()
    in_any_tense = (resolve(text, written_on, tense) for tense in Tense if meant)
    in_other_tenses = (
        (found.start, found.end)
        for found in chain.from_iterable(in_any_tense)
        if (found.start.month, found.start.day) in days_of_year
        or (tense_at(found.span[0]) is Tense.PRESENT and abs(found.start - written_on) <= _WEEK)
    )
    return (*meant, *in_other_tenses)


def _days_of_claim(claim: Claim) -> Iterator[tuple[date, date]]:
    for day in (claim.valid_from, claim.valid_to):
        if day is not None:
            whole = period(claim.valid_precision or "day", day)
            yield whole.start, whole.end


@lru_cache(maxsize=1024)
def _dates_in(text: str, written_at: datetime) -> tuple[_Named, ...]:
    """The dates of a text, each by itself: of what lasts `since` May those of May."""
    named = []
    for found in document(text, written_at).dates:
        is_since = text[: found.span[0]].rstrip().casefold().endswith("since")
        unit_end = last_of(found.start, found.precision) if found.precision in LENGTHS else None
        last = unit_end if is_since and unit_end else found.end
        named.append(_Named(text[slice(*found.span)], found.start, last, is_unit=last == unit_end))
    return tuple(named)


def words_its_fact(statement: str, claim: Claim, turn: Turn) -> bool:
    """Whether a statement names both ends of its claim: by name, by a pronoun, or by most of their words' stems.

    The speaker is named by `I` or `my`, by their name or as the user; of dates no words are compared. Other languages
    than English are not judged.
    """
    if turn.language not in {None, ENGLISH} or claim.pattern_id is not None:
        return True
    lows = frozenset(word.low for word in document(statement, turn.timestamp).words)
    stems = content_stems(statement)
    ends = [claim.subject, *([] if claim.relation in DATED else [claim.object or claim.value or ""])]
    return all(_is_end_worded(end, lows, stems, turn) for end in ends)


def _is_end_worded(end: str, lows: frozenset[str], stems: frozenset[str], turn: Turn) -> bool:
    """Whether a statement, given its words and their stems, names an end of a claim."""
    if end.casefold() in {USER, (turn.subject or USER).casefold()}:
        return not lows.isdisjoint(english.own_words | {USER, *end.casefold().split()})
    wanted = content_stems(noun_of(end))
    return not lows.isdisjoint(_OF_OTHERS) or not wanted or len(wanted & stems) * 2 >= len(wanted)
