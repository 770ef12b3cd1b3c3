"""The words that resolution reads by: lists kept as data, and statements in messages that two names are one."""

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from em_pipelines.language.document import english
from em_pipelines.language.name_keys import compact_key, fold
from em_pipelines.language.sentences import sentences_around
from em_pipelines.language.values import read_yaml

DATA = Path(__file__).with_name("data")


@cache
def load(name: str) -> Any:
    """The content of one file of `data/`, without its `.yaml`."""
    return read_yaml((DATA / f"{name}.yaml").read_text(encoding="utf-8"))


@cache
def words(key: str) -> frozenset[str]:
    """One flat list of words.yaml."""
    return frozenset(load("words")[key].split())


@cache
def kind_words(entity_type: str) -> frozenset[str]:
    """Words that say what kind of thing a name of that type names, and add nothing to it."""
    return frozenset(str(load("words")["kind_words"].get(entity_type, "")).split())


@cache
def abbreviations() -> dict[str, str]:
    """Words by the abbreviation that they are compared as."""
    return dict(load("words")["abbreviations"])


@cache
def full_forms() -> dict[str, frozenset[str]]:
    """Given names that a familiar form may stand for."""
    found: dict[str, set[str]] = defaultdict(set)
    for full, familiar in load("nicknames").items():
        for nickname in str(familiar).split():
            found[fold(nickname)].add(fold(full))
    return {nickname: frozenset(full) for nickname, full in found.items()}


@cache
def familiar_forms() -> dict[str, frozenset[str]]:
    """Familiar forms of a given name."""
    return {fold(full): frozenset(fold(n) for n in str(names).split()) for full, names in load("nicknames").items()}


def is_given_name(name: str) -> bool:
    """Whether a folded name is a given name, in full or familiar, of those listed."""
    return name in familiar_forms() or name in full_forms()


def are_both_known(one: str, other: str) -> bool:
    """Whether both folded names are listed given names."""
    return is_listed_name(one) and is_listed_name(other)


def is_listed_name(name: str) -> bool:
    """Whether a folded name is a given name of any list."""
    return is_given_name(name) or name in female_names() or name in male_names()


def gender_of(given: str) -> str:
    """`f` or `m` for a folded given name that is listed as one of these alone, else an empty string."""
    is_female, is_male = given in female_names(), given in male_names()
    return "" if is_female == is_male else "f" if is_female else "m"


@cache
def female_names() -> frozenset[str]:
    """Given names of women, folded."""
    return frozenset(map(fold, english.words("names", "female")))


@cache
def male_names() -> frozenset[str]:
    """Given names of men, folded."""
    return frozenset(map(fold, english.words("names", "male")))


@dataclass(frozen=True, slots=True)
class Roles:
    """What people are to somebody. `canonical` maps every word for a role to the one it is compared as; `kind` says
    of those whether they are kin, social or professional, `line` the first of the line of work that a role is of."""

    canonical: dict[str, str]
    kind: dict[str, str]
    unique: frozenset[str]
    partners: tuple[frozenset[str], ...]
    plain_modifiers: frozenset[str]
    telling_modifiers: frozenset[str]
    same_modifiers: dict[str, str]
    formal_titles: frozenset[str]
    titles: frozenset[str]
    people: frozenset[str]
    particles: frozenset[str]
    called_by: frozenset[str]
    general: frozenset[str]
    distant: frozenset[str]
    line: dict[str, str]
    title_genders: dict[str, str]


@cache
def roles() -> Roles:
    """The roles of roles.yaml."""
    data = load("roles")
    canonical: dict[str, str] = {}
    kind: dict[str, str] = {}
    for name in ("kin", "social", "professional"):
        for role, synonyms in data[name].items():
            kind.setdefault(role, name)
            for word in (role, *str(synonyms).split()):
                canonical.setdefault(word, role)
    lists = (
        "unique",
        "plain_modifiers",
        "telling_modifiers",
        "formal_titles",
        "titles",
        "people",
        "particles",
        "called_by",
        "general",
        "distant",
    )
    split = {key: frozenset(data[key].split()) for key in lists}
    partners = tuple(frozenset(group.split()) for group in data["partners"])
    genders = {title: group for group in data["title_genders"] for title in group.split()}
    line = {role: group.split()[0] for group in data["lines"] for role in group.split()}
    same = data["same_modifiers"]
    return Roles(canonical, kind, partners=partners, title_genders=genders, line=line, same_modifiers=same, **split)


@cache
def known_names(entity_type: str) -> dict[str, str]:
    """What everybody knows to be one, by compact key: any of its names → the name it is compared as."""
    found: dict[str, str] = {}
    for name, others in (load("known_names").get(entity_type) or {}).items():
        for worded in (name, *str(others).split("|")):
            found[compact_key(worded)] = compact_key(name)
    return found


@cache
def homes() -> dict[str, frozenset[str]]:
    """Lands that add nothing to a place's name, by compact keys."""
    return {
        compact_key(place): frozenset(compact_key(land) for land in str(lands).split("|"))
        for place, lands in load("known_names")["homes"].items()
    }


MENTION = "\ue000"
UPPER = r"[^\W\d_a-zß-öø-ÿ]"
_WORD = rf"(?!I\b){UPPER}(?:[\w-]|\.(?=\w)|['’](?={UPPER}))*"
_LINKS = r"(?:(?:de|da|do|di|van|von|of|la|le|del|el|the|&) )*"
_IDENTIFIER = r"[^\W\d_A-Z][\w]*(?:[_/-][\w]+)+"
NAME = rf"(?:(?:(?:Mr|Mrs|Ms|Dr|Prof|St)\. |(?:{UPPER}\. ?)+)?{_WORD}(?: {_LINKS}(?:{_WORD}|\d[\w-]*))*|{_IDENTIFIER})"
_CUES = re.compile(
    r"known|called|calls?\b|names?\b|named|says?\b|short|goes by|went by|answers|stands for|signs|trades|performs|renam"
    r"|rebrand|alias|a\.?k\.?a|n[ée]e|formerly|i\.e|same|mean|rather|sorry|well|that's|that is|which is|namely|it's"
    r"|who is|who's|used to|our|nick|dubbed|being| for |turn|spell|so |\bas |\(|/|=|, or"
    r"| to (?:every|friends|us|me|his|her|my|most|family|the)|is\b|was\b|'s",
    re.IGNORECASE,
)
_DENIAL_CUES = re.compile(
    r"different|other|second|third|new|wrong|relat|nothing|same|connection|namesake|confus|mix|mistake|who|which|not\b"
    r"|unlike|opposed|instead|rather than|too\b|as well|also|link",
    re.IGNORECASE,
)
MAX_SENTENCE = 400


_ARTICLE = re.compile(r"(?<!\w)(?:an?|one) (?:(?:Mr|Mrs|Ms|Dr|Prof)\.? )?$", re.IGNORECASE)
_ARTICLE_OF_FULL = re.compile(
    r"(?<!\w)(?:is|was|be|there's|have|has|had|got|met|sent|hired|calls?|called) (?:also )?an? "
    r"(?:(?:Mr|Mrs|Ms|Dr|Prof)\.? )?$"
)
_CALLED_SO = re.compile(
    r"(?<!\w)(?:been|called|named|nicknamed|calls?(?: (?:her|him|me|it|them))?|goes by|answers to|just|plain"
    r"|to (?:me|us))(?: just| only| always)? $",
    re.IGNORECASE,
)


_JOINED_AFTER = re.compile(rf"^ (?:and|&|or|nor|versus|vs\.?) (?P<name>{NAME})")
_JOINED_BEFORE = re.compile(rf"(?<![\w.])(?P<name>{NAME}) (?:and|&|or|nor|versus|vs\.?) $")


@dataclass(frozen=True, slots=True)
class Partner:
    """Another name that a message says is the mention's: `strength` is sure, likely or alike."""

    name: str
    strength: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a mention stands: its sentence, cut at the mention."""

    before: str
    after: str
    name: str = ""

    @property
    def text(self) -> str:
        """The sentence, with a sign in place of the mention wherever it stands."""
        text = f"{self.before}{MENTION}{self.after}"
        return re.sub(rf"(?<![\w-]){re.escape(self.name)}(?![\w-])", MENTION, text) if self.name in text else text


_APPOSED = re.compile(rf"^, (?P<name>{NAME}),(?! (?:and|or) )")
NOWHERE = Place("", "")


def locate(content: str, name: str, start: int, end: int) -> Place:
    """The sentence around a mention. The span counts where the name stands in it, else its first occurrence as a
    word; a name that does not stand in the text has none."""
    if not content:
        return NOWHERE
    if name.casefold() not in content[start:end].casefold():
        found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", content) or re.search(
            rf"(?<!\w){re.escape(name)}", content, re.IGNORECASE
        )
        if not found:
            return NOWHERE
        start, end = found.span()
    elif len(name) < end - start:
        offset = content[start:end].casefold().find(name.casefold())
        start, end = start + offset, start + offset + len(name)
    first, last = sentences_around(content, start, end)
    first, last = max(first, start - MAX_SENTENCE), min(last, end + MAX_SENTENCE)
    clean = re.compile(r"\s+")
    return Place(
        clean.sub(" ", content[first:start]).replace("’", "'"),
        clean.sub(" ", content[end:last]).replace("’", "'"),
        clean.sub(" ", content[start:end]).replace("’", "'"),
    )


@cache
def _patterns(strength: str) -> tuple[re.Pattern[str], ...]:
    """Each wording in both directions: the mention as A, and as B."""
    data = load("statements")
    found = []
    for wording in data[strength]:
        text = str(wording)
        for fragment, meaning in data["fragments"].items():
            text = text.replace(f"<{fragment}>", str(meaning))
        text = text.replace(r"\b<", r"(?<!\w)<").replace(r">\b", r">(?!\w)")  # the sign of a mention is no letter
        directions = (("A", "B"),) if strength in ("denied", "other", "more") else (("A", "B"), ("B", "A"))
        for mention, other in directions:
            sides = text.replace(f"<{mention}>", MENTION).replace(f"<{other}>", rf"(?P<name>{NAME})")
            found.append(re.compile(sides, 0 if len(directions) > 1 else re.IGNORECASE))
    return tuple(found)


@lru_cache(maxsize=4096)
def partners(place: Place) -> tuple[Partner, ...]:
    """The other names by which the sentence calls the mention, surest first."""
    text = place.text
    if not _CUES.search(text):
        return ()
    found: dict[str, Partner] = {}
    for strength in ("sure", "likely", "alike"):
        for pattern in _patterns(strength):
            for match in pattern.finditer(text):
                name = match["name"].strip()
                if MENTION not in name:
                    found.setdefault(name, Partner(name, strength))
    return tuple(found.values())


def apposed(place: Place) -> str:
    """The name that stands behind a role between commas ("my boss, Yolanda, left"), or ""."""
    found = _APPOSED.match(place.after)
    return found["name"] if found else ""


def is_denied(place: Place) -> bool:
    """Whether the sentence says that the mention is not what it could be taken for."""
    text = place.text
    return bool(_DENIAL_CUES.search(text)) and any(pattern.search(text) for pattern in _patterns("denied"))


def is_told_from_part(content: str, name: str) -> bool:
    """Whether the message says that the bearer of a full name is not whom it names by a part of it: "Adam Whitfield
    rang. He's a customer, not my Adam." """
    words = name.split()
    if len(words) < 2 or "not " not in content:
        return False
    parts = "|".join(re.escape(word) for word in words)
    return re.search(rf"\bnot (?:my|our|the|that|your) (?:own )?(?:{parts})(?![\w-]| {UPPER})", content) is not None


def joined_names(place: Place) -> list[str]:
    """Names that the sentence counts beside the mention: who speaks of Ana and Ana Paula speaks of two."""
    found = (_JOINED_AFTER.match(place.after), _JOINED_BEFORE.search(place.before))
    return [match["name"] for match in found if match]


def is_called_so(place: Place) -> bool:
    """Whether the sentence says that the mention is how somebody is called: "she's been Gosia since the cradle"."""
    return bool(_CALLED_SO.search(place.before))


def is_another(place: Place) -> bool:
    """Whether the mention is said to be another one of the very same name, known already or not."""
    text = place.text
    return bool(_DENIAL_CUES.search(text)) and any(pattern.search(text) for pattern in _patterns("other"))


def is_one_more(place: Place) -> bool:
    """Whether the mention is said to be yet another one of the very same name, of whom nothing was said before."""
    text = place.text
    return bool(_DENIAL_CUES.search(text)) and any(pattern.search(text) for pattern in _patterns("more"))


def is_introduced(place: Place, *, is_single: bool) -> bool:
    """Whether an article makes somebody one of several of the name: `a Craig`; of a full name only where it says who
    there is ("she's an Odile Marchetti", not "the bank knows an Odile Marchetti")."""
    return bool((_ARTICLE if is_single else _ARTICLE_OF_FULL).search(place.before))
