"""Whether two names can be one person's, by their wording alone."""

from rapidfuzz import fuzz
from rapidfuzz.distance import DamerauLevenshtein

from em_pipelines.resolution.clusters import (
    ACRONYM,
    CONFLICT,
    IN_FULL,
    INITIALS,
    NICKNAME,
    PART,
    SHORT_FORM,
    SPELLING,
    WORD_ORDER,
    Verdict,
)
from em_pipelines.resolution.name_parts import UMLAUTS, Name, Person, sounds
from em_pipelines.resolution.word_lists import are_both_known, familiar_forms, full_forms, gender_of, roles

LEAST_SHORT_FORM = 3
TITLED_GIVEN = Verdict("part", 0.88)
"""Dr. Emi: below the Dr. Yamamoto that it might be instead."""
LEAST_MISSPELT = 4
LEAST_MISSPELT_ANYHOW = 8
"""Letters of a name in which any one letter may be wrong, but the first and the last; in short ones that is another
name: Marta, Maria."""


def compare_people(one: Name, a: Person, other: Name, b: Person) -> Verdict | None:
    """Returns the verdict on two people's names, neither of them a role alone."""
    if are_of_other_titles(a, b):
        return CONFLICT
    if len(a.parts) > 1 and a.parts != b.parts and sorted(a.parts) == sorted(b.parts):
        return WORD_ORDER
    short, long = sorted((a.parts, b.parts), key=len)
    if len(short) > 1 and long[: len(short)] == short:
        return PART
    return _compare_with_surnames(a, b) if a.surname and b.surname else _compare_singles(one, a, other, b)


def _compare_with_surnames(a: Person, b: Person) -> Verdict | None:
    if not _is_surname(a.surname, b.surname):
        return TITLED_GIVEN if _is_titled_given(a, b) or _is_titled_given(b, a) else CONFLICT
    return _compare_full(a, b) if a.given and b.given else PART


def _compare_singles(one: Name, a: Person, other: Name, b: Person) -> Verdict | None:
    """At least one of the two is a lone name."""
    if a.given or b.given:
        return _compare_with_full(*((a, b) if a.given else (b, a)))
    if a.surname or b.surname:
        return PART if _is_surname(a.surname or a.single, b.surname or b.single) else None
    return _compare_given(a.single, b.single, one, other) or CONFLICT


def are_of_other_titles(a: Person, b: Person) -> bool:
    """A Mr is no Mrs, a -san no -sensei, and a junior neither the senior nor the one who needs no such word."""
    titles = roles().title_genders
    if _is_other_gender(a, b) or _is_other_gender(b, a):
        return True
    if a.title and b.title and titles.get(a.title, "") and titles.get(b.title, ""):
        return titles[a.title] != titles[b.title]
    if a.title != b.title and {a.title, b.title} <= {"san", "sensei", "kun", "chan", "sama"}:
        return True
    return a.generation != b.generation and "junior" in (a.generation, b.generation)


def _is_other_gender(titled: Person, named: Person) -> bool:
    """A Mrs Halloran is no Sean Halloran."""
    gender = roles().title_genders.get(titled.title, "")
    return bool(gender) and gender_of(named.given) not in ("", "m" if " sir " in f" {gender} " else "f")


def _compare_full(a: Person, b: Person) -> Verdict | None:
    if a.given == b.given:
        return PART if a.surname != b.surname else SPELLING
    if 1 in (len(a.given), len(b.given)):
        return INITIALS if a.given[0] == b.given[0] else CONFLICT
    found = compare_given_names(a.given, b.given)
    return Verdict(found.method, IN_FULL) if found else CONFLICT


def _compare_with_full(full: Person, part: Person) -> Verdict | None:
    if part.single in (full.given, full.surname) or _plain(part.single) == _plain(full.surname):
        return PART
    if len(full.given) == 1:
        return None
    found = compare_given_names(full.given, part.single)
    return found or CONFLICT


def _is_titled_given(titled: Person, full: Person) -> bool:
    """`Dr. Emi` of Emi Yamamoto."""
    return not titled.given and titled.surname == full.given


def _is_surname(one: str, other: str) -> bool:
    """Equal but for umlauts written in two letters, or one the initial of the other."""
    return _plain(one) == _plain(other) or (1 in (len(one), len(other)) and one[0] == other[0])


def _plain(name: str) -> str:
    """A folded name with umlauts in one letter: Müller and Mueller, Jørgen and Joergen."""
    for written, letter in UMLAUTS:
        name = name.replace(written, letter)
    return name


def _compare_given(one: str, other: str, first: Name, second: Name) -> Verdict | None:
    found = PART if one == other else compare_given_names(one, other)
    if found:
        return found
    short, long = sorted((first, second), key=lambda name: len(name.compact))
    if len(short.compact) == 2 and "-" in long.text:
        parts = long.text.casefold().split("-")
        return ACRONYM if "".join(part[:1] for part in parts) == short.compact else None
    return None


def compare_given_names(one: str, other: str) -> Verdict | None:
    """A given name and its familiar form, a slip of the pen, or the same name shortened."""
    if _is_familiar(one, other) or _are_familiar_of_one(one, other):
        return NICKNAME
    if min(len(one), len(other)) >= LEAST_MISSPELT and _is_misspelt(one, other):
        return Verdict("similarity", round(max(0.85, fuzz.ratio(one, other) / 100), 4))
    short, long = sorted((one, other), key=len)
    if _is_shortened(short, long):
        return SHORT_FORM
    return None


def _is_familiar(one: str, other: str) -> bool:
    """Whether one is a familiar form of the other, and not a full name as well."""
    are_both_full = one in familiar_forms() and other in familiar_forms()
    return (one in full_forms().get(other, ()) or other in full_forms().get(one, ())) and not are_both_full


def _are_familiar_of_one(one: str, other: str) -> bool:
    """Whether both are familiar forms of one name, one of them the beginning of the other."""
    is_shared = not full_forms().get(one, frozenset()).isdisjoint(full_forms().get(other, ()))
    return is_shared and one != other and (one.startswith(other) or other.startswith(one))


def _is_misspelt(one: str, other: str) -> bool:
    """One sound spelt in two ways, two letters swapped, or one letter wrong in a long name; but Christian and Christina
    are two names. Another last vowel is another person: Daniel, Daniela."""
    if sounds(one) == sounds(other):
        return True
    if are_both_known(one, other):
        return False
    is_long = min(len(one), len(other)) >= LEAST_MISSPELT_ANYHOW and (one[0], one[-1]) == (other[0], other[-1])
    is_slip = is_long or sorted(one) == sorted(other)
    return is_slip and DamerauLevenshtein.distance(one, other) == 1


def _is_shortened(short: str, long: str) -> bool:
    """`Xime` of Ximena: its beginning, and no full name of its own, so far as is known; not Daniel of Daniela."""
    is_beginning = len(short) >= LEAST_SHORT_FORM and len(long) - len(short) >= 2 and long.startswith(short)
    return is_beginning and short not in familiar_forms()
