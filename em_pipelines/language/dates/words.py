"""The words of dates: tokens, numbers, and the names of what recurs."""

import calendar
import re
from dataclasses import dataclass
from typing import Final

from em_pipelines.language.dates.calendar_spans import (
    WEEKEND,
    Recurring,
    day_of_year,
    from_easter,
    from_month,
    month_of_year,
    nth_weekday,
    weekday,
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word, number or mark. `low` is case-folded; `start` and `end` count whatever the caller's positions count."""

    low: str
    start: int
    end: int
    is_capital: bool = False


_WORD = re.compile(
    r"\d{4}-\d\d?-\d\d?(?!\d)|\d{4}-(?:0[1-9]|1[0-2])(?![\d-])|\d{4}/\d\d?/\d\d?(?!\d)"
    r"|\d{1,2}(?P<mark>[./-])\d{1,2}(?P=mark)(?:\d{4}|\d\d)(?![\d])|\d{1,2}/(?:19|20)\d\d(?!\d)|\d{1,2}[:/]\d{1,2}(?!\d)|\d{1,2}\.\d{1,2}\.(?!\d)"
    r"|\d+[.,]\d+|\d+(?:st|nd|rd|th|s)?(?![a-z])"
    r"|'s\b|[^\W\d_]+|\S",
    re.IGNORECASE,
)


def words_of(text: str, at: int | None = None, *, is_capital: bool | None = None) -> list[Word]:
    """The words of a text; those of a word that somebody else cut, all at position `at`."""
    straight = text.replace("’", "'")
    return [
        Word(
            m.group().lower(),
            m.start() if at is None else at,
            m.end() if at is None else at + 1,
            m.group()[0].isupper() if is_capital is None else is_capital,
        )
        for m in _WORD.finditer(straight)
    ]


def _numbered(names: str, first: int = 0, step: int = 1) -> dict[str, int]:
    return {name: first + step * n for n, name in enumerate(names.split())}


_UNITS = _numbered("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
                   " sixteen seventeen eighteen nineteen")  # fmt: skip
TENS = _numbered("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10)
NUMBERS: Final = _UNITS | TENS
ORDINALS = _numbered("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth"
                     " fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth", 1)  # fmt: skip
ORDINALS |= {"thirtieth": 30}
DECADES = {name[:-1] + "ies": n for name, n in TENS.items()}
WEEKDAYS = {name.lower(): n for n, name in enumerate(calendar.day_name)}
WEEKDAYS |= {name.lower(): n for n, name in enumerate(calendar.day_abbr)}
WEEKDAYS |= {"tues": 1, "thur": 3, "thurs": 3}
MONTHS = {name.lower(): n for n, name in enumerate(calendar.month_name) if name}
MONTHS |= {name.lower(): n for n, name in enumerate(calendar.month_abbr) if name} | {"sept": 9}
ALSO_WORDS = frozenset({"may", "march", "mar", "jan", "sep", "dec", "sat", "sun", "wed", "mon"})
"""Names of months and days that are words or names as well."""
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The month with which each begins, north of the equator."""
UNITS = {"day": "day", "week": "week", "weekend": "weekend", "month": "month", "quarter": "quarter", "year": "year",
         "decade": "decade"}  # fmt: skip
UNITS |= {f"{name}s": unit for name, unit in UNITS.items()}
UNITS |= {"wk": "week", "wks": "week", "yr": "year", "yrs": "year", "mth": "month", "mths": "month"}
DAY_WORDS = {"today": 0, "tonight": 0, "tonite": 0, "tomorrow": 1, "tmrw": 1, "tmr": 1, "yesterday": -1}
PARTS_OF_DAY = frozenset({"morning", "afternoon", "evening", "night", "lunchtime", "lunch", "noon", "midnight"})
SIGNS = {"next": 1, "coming": 1, "following": 1, "upcoming": 1, "last": -1, "past": -1, "previous": -1, "this": 0}

_CHRISTMAS, _NEW_YEAR, _EASTER = day_of_year(12, 25), day_of_year(1, 1), from_easter(0)
HOLIDAYS: dict[tuple[str, ...], Recurring] = {
    ("christmas",): _CHRISTMAS,
    ("xmas",): _CHRISTMAS,
    ("christmas", "eve"): day_of_year(12, 24),
    ("boxing", "day"): day_of_year(12, 26),
    ("new", "year"): _NEW_YEAR,
    ("new", "years"): _NEW_YEAR,
    ("new", "year", "eve"): day_of_year(12, 31),
    ("new", "years", "eve"): day_of_year(12, 31),
    ("nye",): day_of_year(12, 31),
    ("valentine",): day_of_year(2, 14),
    ("valentines",): day_of_year(2, 14),
    ("halloween",): day_of_year(10, 31),
    ("easter",): _EASTER,
    ("easter", "sunday"): _EASTER,
    ("easter", "monday"): from_easter(1),
    ("good", "friday"): from_easter(-2),
    ("thanksgiving",): nth_weekday(11, 3, 4),
}
"""Words, without a closing `day` and `'s` → the day."""
LONGEST_HOLIDAY = max(map(len, HOLIDAYS))


NAMES_OF_TIME = re.compile(
    r"\b(?:"
    + "|".join(sorted({*DAY_WORDS, *WEEKDAYS, *MONTHS, *SEASONS, *UNITS, *DECADES, *(name[0] for name in HOLIDAYS)}))
    + r"|fortnight|night|morning|afternoon|evening|\d+(?:st|nd|rd|th|s))\b|\d[./-]\d",
    re.IGNORECASE,
)
"""What a text that names a time has in it, unless it is a year alone; texts without it are not read for one."""


def recurring(low: str) -> Recurring | None:
    """What recurs and has a single word for a name: a weekday, a month, a season, the weekend."""
    if low in WEEKDAYS:
        return weekday(WEEKDAYS[low])
    if low in MONTHS:
        return month_of_year(MONTHS[low])
    if low in SEASONS:
        return from_month(SEASONS[low], "season")
    return WEEKEND if low == "weekend" else None


def is_year(low: str) -> bool:
    """Whether a word is a year from 1900 to 2099 in digits."""
    return len(low) == 4 and low.isdecimal() and low.isascii() and "1900" <= low <= "2099"


def ordinal(low: str) -> int | None:
    """The number of `17th`, `third`."""
    if low[-2:] in {"st", "nd", "rd", "th"} and low[:-2].isdecimal() and low.isascii():
        return int(low[:-2])
    return ORDINALS.get(low)


def day_number(low: str) -> int | None:
    """The day of a month: `17`, `17th`, `seventeenth`."""
    number = int(low) if low.isdecimal() and low.isascii() and len(low) <= 2 else ordinal(low)
    return number if number is not None and 1 <= number <= 31 else None
