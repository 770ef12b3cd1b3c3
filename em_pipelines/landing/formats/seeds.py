"""What all imports of facts share: the record of one fact, the user's own card, and dates as contacts have them.

An imported fact is feedback of the type `seed`: it says its fact, the file and the line, and waits for a review.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from em_pipelines.landing.formats.base import Fields, Parsed, Source, slug
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import Reason, RuleError
from em_pipelines.language.cleaning import clean_text
from em_pipelines.language.values import iso_instant
from em_pipelines.schema.ids import content_id
from em_pipelines.schema.vocabulary import USER, EntityType

CONTACT_CONFIDENCE = 0.70
"""Of imported contacts and calendars (specification, 1.3)."""
MAX_NAME_CHARACTERS = 200
MAX_NOTE_CHARACTERS = 160
EARLIEST_YEAR = 1850
"""Years before it stand for none: Apple writes 1604 where a birthday has no year."""
PERSON, ORGANIZATION, PLACE = EntityType.PERSON.value, EntityType.ORGANIZATION.value, EntityType.PLACE.value
WORDS = "seed_words.yaml"
_ISO_DAY = re.compile(r"(?P<year>\d{4}|--)-?(?P<month>\d{2})(?:-?(?P<day>\d{2}))?(?:[T ].*)?")
_SPACED_DAY = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
_YEAR = re.compile(r"\d{4}")


@cache
def words() -> dict[str, Any]:
    """The words by which labels of contacts and titles of events are understood: seed_words.yaml."""
    found: dict[str, Any] = yaml.safe_load((Path(__file__).parent / WORDS).read_text(encoding="utf-8"))
    return found


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry stands: its first line, what its file holds, and when the entry says it was written."""

    line: int
    source_kind: str
    dated: datetime | None = None
    privacy_floor: str | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact of an entry, in the words of feedback; `more` are further fields of it."""

    subject: str
    relation: str
    object: str
    more: Fields = field(default_factory=dict)


def seed(source: Source, place: Place, fact: Fact, type_: str = "seed") -> Parsed:
    """The record of a fact. Lines of one file share a session, by which they can be erased together.

    An answer was given on its own date; an imported fact is new to memory when it lands.
    """
    at = place.dated if type_ == "answer" and place.dated else source.landed_at
    fields = {
        "user_id": source.user(),
        "type": type_,
        "timestamp": iso_instant(at) if at else None,
        "session_id": content_id("import", source.name),
        "source_kind": place.source_kind,
        "file": source.name,
        "line": place.line,
        "dated": iso_instant(place.dated) if place.dated else None,
        "privacy_floor": place.privacy_floor,
        "confidence": CONTACT_CONFIDENCE,
        "subject": fact.subject,
        "relation": fact.relation,
        "object": fact.object,
        **fact.more,
    }
    return Parsed(place.line, "feedback", {name: value for name, value in fields.items() if value is not None})


def check_user(file: InputFile, source: Source) -> str:
    """Whose import it is. Raises RuleError for the whole file where nothing says so: one letter, not one a fact."""
    user_id = source.user()
    if isinstance(user_id, str):
        return user_id
    raise RuleError(
        Reason.MISSING_USER,
        f"nothing says whose {source.name} is; give --user-id",
        raw=file.document()[: file.settings.max_line_bytes],
    )


def is_own(name: str, user_id: str) -> bool:
    """Whether an entry is of the remembered person: it has the name that the user goes by."""
    return slug(name) == slug(user_id)


def subject_of(name: str, user_id: str) -> str:
    """The subject of what an entry says of a name."""
    return USER if is_own(name, user_id) else name


def one_line(text: str, limit: int = MAX_NAME_CHARACTERS) -> str:
    """A text in one line, without what cannot be seen, cut at the end of a word."""
    said = " ".join(clean_text(text).split())
    return said if len(said) <= limit else said[: limit - 1].rsplit(" ", 1)[0] + "…"


def day_of_birth(text: str, today: date) -> str:
    """A day as cards have it, as facts have it: 1988-04-12, 04-12 without its year, 1988-04, 1988.

    Takes ISO 8601, basic or extended, with --MM-DD for what has no year, and 1988/4/12. Raises ValueError, saying why,
    for anything else, for days that no calendar has and for days to come.
    """
    said = text.strip()
    if _YEAR.fullmatch(said):
        return _past(said, date(int(said), 1, 1) if int(said) else today, today)
    if spaced := _SPACED_DAY.fullmatch(said):
        said = f"{spaced[1]}-{spaced[2]:0>2}-{spaced[3]:0>2}"
    match = _ISO_DAY.fullmatch(said)
    if match is None:
        raise ValueError(f"{text!r:.40} is no date; expected YYYY-MM-DD, or --MM-DD without a year")
    year, month, day = match["year"], int(match["month"]), int(match["day"] or 0)
    has_year = year != "--" and int(year) >= EARLIEST_YEAR
    try:
        whole = date(int(year) if has_year else 2000, month, day or 1)  # 2000: the 29th of February is a day
    except ValueError as error:
        raise ValueError(f"{text!r:.40} is no day of the calendar") from error
    if not day:
        if not has_year:
            raise ValueError(f"{text!r:.40} is no date; expected YYYY-MM-DD, or --MM-DD without a year")
        return _past(f"{whole:%Y-%m}", whole, today)
    return _past(whole.isoformat(), whole, today) if has_year else f"{whole:%m-%d}"


def _past(said: str, day: date, today: date) -> str:
    if day > today:
        raise ValueError(f"{said} lies ahead")
    return said


def relation_of(label: str) -> tuple[str, bool] | None:
    """The relation that a label of a related person stands for, and whether it is told of the other one: of `mother`
    it is that they are a parent. None for labels that say nothing."""
    wanted = label.strip().strip("_$!<>").casefold()
    for relation, told in words()["relations"].items():
        for is_of_other, names in ((False, told.get("of_entry", [])), (True, told.get("of_other", []))):
            if wanted in names:
                return relation, is_of_other
    return None


def group_relation(labels: Iterator[str] | list[str]) -> str:
    """How the user stands to whoever is in these groups of contacts: `knows` unless one says more."""
    wanted = {label.strip().lstrip("*").strip().casefold() for label in labels}
    return next((relation for relation, names in words()["groups"].items() if wanted & set(names)), "knows")
