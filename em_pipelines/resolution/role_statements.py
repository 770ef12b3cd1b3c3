"""What a message says somebody is: `my roommate Kerem`, `Zoe, my daughter`, `Hasse is the coach`, `her mother Ruth`.

Also what stands before a name to tell whose it is, and behind it to tell which one is meant.
"""

import re
from dataclasses import dataclass, replace

from em_pipelines.language.name_keys import fold, name_key
from em_pipelines.resolution.name_parts import head_role, role_of
from em_pipelines.resolution.qualifiers import AT, OWN
from em_pipelines.resolution.word_lists import (
    UPPER,
    Place,
    roles,
    words,
)

_NO_PRONOUN = r"(?!(?:that|it|he|she|this|what|who|here|there)')"
_DETERMINER = (
    r"(?:(?P<own>my|our|your)|(?P<the>the)|(?P<other>his|her|their)"
    rf"|(?P<owner>{_NO_PRONOUN}[^\W\d_][\w-]*)(?:'s|(?<=s)'))"
)
_NO_POSSESSIVE = r"(?!(?:my|our|your|his|her|their) )"  # "how's your brother": nobody is called How
_NAMES_IT = r"(?:'s name)? (?:is|was|is called|is named|named|(?:has|got) (?:a|its) name,?)(?: also| just)? "
_BEFORE = re.compile(
    rf"(?<![\w'])(?i:{_DETERMINER}) (?P<phrase>{_NO_POSSESSIVE}[\w'-]+(?: [\w'-]+){{0,3}}?)"
    rf"(?P<link>{_NAMES_IT}|,? |, | \()$"
)
_IS_IT = (
    r",? (?:who is|who's|who was|that's|that is|is|was|as|will be|became|has become|has been)"
    r"(?: also| still| actually| really| now)? |'s |, | \(| [-–—] | (?=(?:my|our) )"
)
_AFTER = re.compile(rf"^(?P<link>{_IS_IT}){_DETERMINER} (?P<phrase>[\w'-]+(?: [\w'-]+){{0,4}})")
_WHOSE = re.compile(rf"(?<![\w'])(?i:{_DETERMINER}) (?:{_NO_POSSESSIVE}\w+ ){{0,2}}$")
_OWN_ROLE = re.compile(r"(?<![\w'])(?:my|our) [\w-]+(?: [\w-]+)? $", re.IGNORECASE)
_DEFINITE = re.compile(r"(?<![\w'])(?:the|my|our|this|that) $", re.IGNORECASE)
_ROOMS = (
    "team|desk|office|club|class|department|gym|shop|school|door|street|side|counter|store|floor|group|course"
    "|choir|garden|shift|crew|band|lab|ward|unit|clinic|league|circle|society|centre|center|room|building"
)
_WHERE = re.compile(
    r"^ (?P<how>from|at|in|on) (?P<place>(?:the |my |our )?"
    rf"(?:{UPPER}[\w'-]*(?: {UPPER}[\w'-]*)*|[\w'-]+ [\w'-]+ (?:{_ROOMS})\b|[\w'-]+(?: (?:{_ROOMS})\b)?))"
)
_BESIDE_NAME = re.compile(r"([^\W\d_][\w-]+)(?:'s)? $")
_NOT_IT = r"(?:,? (?:but )?not [^,.;()]{1,40})?"
_THE_ONE = re.compile(
    rf"^{_NOT_IT},? (?:the (?P<kind>[\w-]+) one|the one (?:from|at|in|on) (?:the |my |our )?(?P<place>[\w-]+)"
    r"|an? (?:old )?\w+ from (?:my |the )?(?P<past>[\w-]+)"
    r"|(?:the|an?) (?:guy|man|woman|girl|boy|lad|one) (?:that |who )?(?:I|we) [^,.;!?]{0,30}?\b(?:at|in|to|from)"
    r" (?:the |my )?(?P<shared>[\w-]+)"
    r"|(?P<near>next door|downstairs|upstairs|across the (?:road|street|hall)))\b"
)
# "Anna, not my sister", "Kofi (not the plumber)", "Ben isn't my brother": whom the bearer is not.
_DENIED_ROLE = re.compile(
    r"(?:^|[^.;!?]{0,50}?[,(–—-] ?|^ (?:is|was)|^,? who (?:is|was) )\s?not (?:the|my|our|your)"
    r" (?P<phrase>[\w'-]+(?: [\w'-]+){0,2})"
)
_IS_NOT_ROLE = re.compile(r"^,?(?: who)? (?:isn't|wasn't) (?:the|my|our|your) (?P<phrase>[\w'-]+(?: [\w'-]+){0,2})")
_DENIED_BEFORE = re.compile(r"(?<![\w'])not (?:the|my|our|your) (?P<phrase>[\w'-]+(?: [\w'-]+)?),? $", re.IGNORECASE)
_DENIED_PLACE = re.compile(
    r"^[^.;!?]{0,50}?[,(–—-]? ?not (?:the (?:one|guy|man|woman|girl|boy) )?(?:from|at|in) (?:the |my |our )?"
    r"(?P<place>[\w-]+)"
)
_WHO_WORKS = re.compile(
    r"^,? who (?:runs|works|sits|does|is|mans|helps|volunteers|drives|teaches|fixes|sells|plays|cooks|coaches|owns"
    r"|cleans|delivers|cuts|walks|repairs|grooms|trains|lives|moved)"
    r"(?: (?:at|in|on|to|the|our|my))* (?P<place>[\w-]+)\b"
)
_LOCATIVE = re.compile(r"\b(?:in|from|at|to|near|like|of|called|for|via|around) $", re.IGNORECASE)
_ASIDE = re.compile(r"^ (?:next to|from|at|in|on|with|beside) (?:[\w'-]+ ){1,3}?(\w+(?:ed|s|id|ote|ought))\b")
_PRONOUN = re.compile(r"\b(?:he|she|him|her|herself|himself)\b", re.IGNORECASE)
_CARRIED = (
    "pick|picked|picking|fetch|fetched|collect|collected|hear|heard|back|got|get|bought|came|drove|drive|bring|brought"
)
_CARRIES = re.compile(rf"\b(?:{_CARRIED})\b[^,.;]*$", re.IGNORECASE)
_MOVES = re.compile(
    rf"\b(?:{_CARRIED}|met|meet|meeting|saw|see|seen|visit|visited|left|joined|stay|stayed|find|found)\b[^,.;]*$",
    re.IGNORECASE,
)
_MARRY = re.compile(
    r"^(?: and I|,? whom I|,? who I)(?: am| are| were| got| have been|'m| will be| plan to be)*(?: finally| soon| now)?"
    r"(?: getting| get| be| been)? "
    r"(?:married|engaged|marrying|to marry|(?:having|expecting) (?:a baby|twins|our (?:first|second|third)))\b",
)
_MARRYING = re.compile(
    r"\bI(?:'m| am| was| got| will be|'ll be)?(?: finally)? (?:married|marrying|engaged|engaged to|married to|marry) $"
)
_AS_PRONOUN = re.compile(
    r"^,? [^.;!?A-Z]{0,60}\b(?:she|he|they)(?:'s|'re| is| are| was)(?: now| also| still| actually| really)? "
    r"(?i:my|our) (?P<phrase>[\w'-]+(?: [\w'-]+){0,2})"
)
_NAMED_SO = re.compile(
    r"\b(?:an?|the|our|my|this) (?P<noun>[\w-]+)\b[^.;!?]{0,50} (?:named|called|christened|calls?|name) "
    r"(?:her|him|it|them) $"
)
# "our car, the Bee": the article belongs to the name.
_BESIDE = re.compile(r", the $")
_SPECIES = re.compile(
    r"^(?: is|,| was|'s) an? (?P<noun>[\w-]+(?: [\w-]+){0,2})(?=[,.;!?]|$"
    r"| (?:and|who|that|for|with|from|in|of|by|at|on|this|which)\b)"
)
# "to a physio, Greta": whoever has not been spoken of yet.
_SOME = re.compile(r"(?<![\w'])an? (?P<noun>[\w-]+(?: [\w-]+){0,2}?)(?:, | (?:called|named) )$")
# "Ada Vos, consultant surgeon", without an article; "Kai the babysitter", without a comma.
_POST = re.compile(r"^, (?!(?:the|an?|my|our|his|her|their|not|no) )(?P<phrase>(?:[a-z-]+ ){0,3}[a-z-]+)(?=[,.;!?]|$)")
_THE_SORT = re.compile(r"^ (?:the|my|our) (?P<phrase>[\w-]+(?: [\w-]+)?)")
_STOPS = frozenset(
    "and who in at from that with to for is was has had of but or so because when while on by as now says said wants "  # noqa: SIM905
    "went will can could would just also still never always again which where if then than not isn't wasn't about "
    "here there this since until after before too are were be been".split()
)
_VAGUE = frozenset({"thing", "one", "kind", "sort", "stuff", "bit", "lot", "way"})
MAX_NOUN_WORDS = 3
WORK = "work"
_PASTIMES = frozenset(
    "home work lunch dinner breakfast night noon once last first least all that this it her him".split()  # noqa: SIM905
)


NEW = "new "
OTHER = "other "
"""Before a role: `my other friend Ben` is not the friend Ben spoken of before."""


@dataclass(frozen=True, slots=True)
class SaidRole:
    """A role that the message gives the mention: the phrase as compared, whose, and whether a list knows the role.

    Where it is not sure, it may be that of somebody else in the story ("Will, the son"), if none of one's own was
    spoken of. `text` is the role as worded, empty where it only follows ("I'm marrying Jonas").

    `owner` is empty for the remembered person's own and for "the"; else the name or the pronoun, folded.
    """

    role: str
    owner: str
    is_known: bool
    text: str
    is_sure: bool = True


def roles_said(place: Place, *, is_bare_noun_read: bool = False) -> list[SaidRole]:
    """The roles that the sentence gives the mention; where wanted also bare nouns ("our basset Gravy", "Gravy is a
    basset"), which say what a thing is."""
    found = [
        *_roles_before(place, is_bare_noun_read=is_bare_noun_read),
        *_roles_after(place),
        *_nouns_beside(place, is_bare_noun_read=is_bare_noun_read),
    ]
    if not found and not is_bare_noun_read:
        found = _roles_without_article(place)
    if _MARRY.search(place.after) or _MARRYING.search(place.before):
        found.append(SaidRole("partner", "", True, ""))
    return found


def nouns_said(place: Place) -> list[SaidRole]:
    """What the sentence says that a thing is ("our basset Gravy")."""
    return [said for said in roles_said(place, is_bare_noun_read=True) if not said.is_known and not said.owner]


def _roles_before(place: Place, *, is_bare_noun_read: bool) -> list[SaidRole]:
    """`My roommate Kerem`, `our car, the Bee`."""
    if _DENIED_BEFORE.search(place.before):
        return []
    before = _BEFORE.search(_BESIDE.sub(", ", place.before))
    is_listed = before is not None and before["link"] == ", " and re.match(r" and | or ", place.after) is not None
    if before is None or is_listed:
        return []
    is_apposed = before["link"] != " "
    return _read(before, before["phrase"].split(), is_noun_read=is_apposed or is_bare_noun_read, is_whole=True)


def _roles_after(place: Place) -> list[SaidRole]:
    """`Zoe, my daughter`, `Hasse is the coach`."""
    after = _AFTER.match(place.after)
    return _read(after, _until_stop(after["phrase"].split()), is_noun_read=True, is_whole=False) if after else []


def _nouns_beside(place: Place, *, is_bare_noun_read: bool) -> list[SaidRole]:
    """`Gravy is a basset`, `a physio, Greta`, `we got a python and called him Monty`."""
    species = _SPECIES.match(place.after) if is_bare_noun_read else None  # who is a dentist is not yet one's dentist
    found = []
    for noun in (species, _SOME.search(place.before), _NAMED_SO.search(place.before)):
        if noun and not _has_capital(noun["noun"]):
            found += _nouns(noun["noun"], is_person=not is_bare_noun_read)
    return found


def _roles_without_article(place: Place) -> list[SaidRole]:
    """`Kai the babysitter`, `Ada Vos, consultant surgeon`; or a role that only a pronoun gives."""
    beside = role_of(word_beside(place))
    if beside in roles().called_by:  # Grandma Ines
        return [SaidRole(beside, "", True, beside)]
    sort = _THE_SORT.match(place.after)
    post = _POST.match(place.after)
    found = _known(_until_stop(sort["phrase"].split()), "") if sort else roles_beside(place)
    return [*found, *(_known(post["phrase"].split()[-1:], "") if post else [])]


def roles_beside(place: Place) -> list[SaidRole]:
    """The remembered person's own roles that a pronoun gives the mention: "..., so she's my new manager"."""
    found = _AS_PRONOUN.match(place.after)
    return _known(found["phrase"].split(), "") if found else []


def roles_apposed(place: Place) -> list[SaidRole]:
    """What the remembered person calls somebody who is named by another role: "their grandma, my mother"."""
    found = _AFTER.match(place.after)
    return _known(_until_stop(found["phrase"].split()), "") if found and found["own"] else []


def _until_stop(words: list[str]) -> list[str]:
    return words[: next((n for n, word in enumerate(words) if word.casefold() in _STOPS), len(words))]


def _known(words: list[str], owner: str, *, is_whole: bool = False) -> list[SaidRole]:
    """The longest beginning that is a role of the lists."""
    for size in range(len(words), len(words) - 1 if is_whole else 0, -1):
        text = " ".join(words[:size])
        role = role_of(text)
        if role:
            return [SaidRole(role, owner, True, text)]
    return []


def _read(match: re.Match[str], words: list[str], *, is_noun_read: bool, is_whole: bool) -> list[SaidRole]:
    """The role of a phrase behind an article or an owner; where wanted, and nobody's own, the noun that it is."""
    said = next(filter(None, (match["other"], match["owner"], match["own"])), "")
    owner = "" if said.casefold() in OWN else fold(said)
    theirs = next((n for n, word in enumerate(words) if word.endswith("'s")), None)
    if theirs is not None:  # "my boss's wife"
        owner, words = name_key(fold(" ".join(words[: theirs + 1]))), words[theirs + 1 :]
    known = _known(words, owner, is_whole=is_whole)
    if known:
        is_anybodys = bool(match["the"]) and _is_anybodys(known[0].role)
        return [replace(known[0], is_sure=False)] if is_anybodys else known
    phrase = " ".join(words)
    is_noun = is_noun_read and not owner and 0 < len(words) <= MAX_NOUN_WORDS
    return [] if not is_noun or _has_capital(phrase) else _nouns(phrase, is_person=False)


def _nouns(phrase: str, *, is_person: bool) -> list[SaidRole]:
    """A phrase that says what something is, and its head: `ball python`, `python`; of people, the role it names."""
    words = phrase.split()
    known = _known(words, "", is_whole=True) or _known(words[-1:], "") if is_person else []
    if known:
        return [] if _is_anybodys(known[0].role) else known
    nouns = [" ".join(words[n:]) for n in range(len(words))]
    if len(words) > 1 and words[-1] in _VAGUE:
        nouns.append(" ".join(words[:-1]))
    return [SaidRole(name_key(fold(noun)), "", False, noun) for noun in nouns if noun not in _VAGUE]


def _has_capital(phrase: str) -> bool:
    return any(c.isupper() for c in phrase)


def _is_anybodys(role: str) -> bool:
    """Whether `the son` may be that of anybody who was spoken of; `the wife` is one's own."""
    return roles().kind.get(head_role(role)) == "kin" and head_role(role) not in roles().unique


def is_somebody(place: Place) -> bool:
    """Whether the sentence speaks of the mention as of a person: Paris killed the fern, she feels awful."""
    if _LOCATIVE.search(place.before):
        return False
    following = re.match(r"(?:,? (?:who|and I)\b|(?:'ll)? ([\w']+))", place.after)
    if following and (following[1] is None or following[1].casefold() in words("human_verbs")):
        return True
    aside = _ASIDE.match(place.after)  # "Linus next to me asked"
    if aside and aside[1] in words("human_verbs"):
        return True
    return bool(_PRONOUN.search(place.after))


def owner_of_mention(place: Place) -> str:
    """Whose the mention is, by the words before it, as worded: "", a possessive or a name ("my", "her", "Katya")."""
    found = _WHOSE.search(place.before)
    if not found:
        return ""
    group = next(name for name in ("own", "the", "other", "owner") if found[name])
    between = place.before[found.end(group) :].removeprefix("'s").removeprefix("'").strip()
    return "" if between and role_of(between) else str(found[group])


def is_definite(place: Place, name: str) -> bool:
    """Whether the mention is one that both know: the bus, our team bus."""
    return bool(_DEFINITE.search(place.before)) or name.split(" ", maxsplit=1)[0].casefold() in ("the", "my", "our")


def where_from(place: Place) -> str:
    """What behind a name tells which one is meant ("Sarah at reception"), as compared, or "".

    "I met Sarah at the gym" tells where it was; so "at" and "in" count only where the name opens its clause.
    """
    told = _THE_ONE.match(place.after) or _WHO_WORKS.match(place.after)
    if told:
        key = name_key(fold(next(filter(None, told.groups()))))
        return "" if key in _PASTIMES or role_of(key) else key
    return _stands_at(place)


def _stands_at(place: Place) -> str:
    where = _WHERE.match(place.after)
    if where is None:
        return ""
    is_from = where["how"] == "from"
    if (_CARRIES if is_from else _MOVES).search(place.before) or not (is_from or _opens_clause(place)):
        return ""
    key = name_key(fold(where["place"]))
    is_named = where["place"].isupper() and len(key) > 1  # the IT department
    is_place = key == WORK or is_named or (bool(key) and key not in _PASTIMES and not key.split()[0].isdigit())
    return key if is_place else ""


def word_beside(place: Place) -> str:
    """The word right before the name, folded: `choir Anna`, `Legal's Sofia`."""
    found = _BESIDE_NAME.search(place.before)
    return fold(found[1]) if found else ""


def denied_of(place: Place) -> tuple[str, ...]:
    """What the sentence says the mention is not, as it would be kept: "Anna, not my sister", "Ben (not from work)"."""
    if "not " not in place.after and "n't " not in place.after and "not " not in place.before.casefold():
        return ()
    found = (_DENIED_ROLE.search(place.after), _IS_NOT_ROLE.match(place.after), _DENIED_BEFORE.search(place.before))
    denied = [role.role for match in found if match for role in _known(_until_stop(match["phrase"].split()), "")]
    where = _DENIED_PLACE.match(place.after)
    return (*denied, *([f"{AT}{name_key(fold(where['place']))}"] if where else []))


def _opens_clause(place: Place) -> bool:
    before = _OWN_ROLE.sub("", place.before).rstrip()
    return not before or before.endswith((",", ":", "-", "and", "but", "that", "because"))
