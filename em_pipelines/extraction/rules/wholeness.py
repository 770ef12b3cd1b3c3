"""Whether the object of a claim is whole, resolved, and says anything: `a special | meaning`, `their plan`, `a trip`.

Objects end where their grammar says, and that may be too early: what stands behind tells. The kinds of words are data
(`language/en/word_lists/worth.yaml`).
"""

from collections.abc import Callable

from em_pipelines.extraction.rules.cut_objects import is_cut
from em_pipelines.extraction.rules.names import is_name
from em_pipelines.extraction.rules.worth import (
    LASTING,
    OPINIONS,
    OTHERS,
    TASTES,
    WISHES,
    Stated,
    Unkept,
    is_among_people,
)
from em_pipelines.language.en.lexicon import listed_type, type_of_name, words
from em_pipelines.language.en.noun_phrases import NounPhrase
from em_pipelines.language.en.tokens import (
    ADV,
    EVALUATIVE,
    NUMBER,
    OBJECT,
    PREP,
    Token,
    low_at,
)
from em_pipelines.language.en.verb_groups import is_ing
from em_pipelines.schema.vocabulary import LITERAL_OBJECT, RELATIONS_BY_GROUP, EntityType

_ADJECTIVES = words("worth", "adjectives")
_EMPTY, _THIN, _THIN_RELATIONS = (words("worth", key) for key in ("empty", "thin", "thin_relations"))
_LIGHT = words("worth", "light_verbs")
_KINDS_WITH_THE = words("worth", "kinds_with_the")
_MASS = words("worth", "mass")
_DISPOSITIONS = words("worth", "dispositions")
_INITIALS = words("worth", "initials")
_MAX_INITIALS = 3
_EVERYBODY = words("worth", "everybody")
_HOUSEHOLD = words("worth", "household")
_PLACED = frozenset({"at", "in", "of", "for", "on", "with"})
_NEARLY = words("worth", "nearly")
_JUDGING = words("worth", "judging") | _NEARLY
_OWN = frozenset({"mine", "yours", "hers", "ours", "theirs"})
_GROUPS = frozenset({"club", "team", "group", "class", "league"})
_NEAR = frozenset({"local", "nearby", "neighborhood", "neighbourhood", "town"})
"""`a local club`, `the club team`: of what, nobody says."""
_FIRMS = words("nouns", "businesses") | words("nouns", "schools") | words("nouns", "clubs")
_KEPT_THINGS = words("nouns", "kept_things") | words("nouns", "products") | words("nouns", "gadgets")
_KEPT_TYPES = frozenset({EntityType.VEHICLE, EntityType.ORGANIZATION})
_STAYING = frozenset({EntityType.PLACE, EntityType.ORGANIZATION})
_SELDOM_OWNING = frozenset({"have", "buy", "get", "drive", "keep"})  # and of many things something else
_PUBLIC, _SERVICES = words("nouns", "public_vehicles"), words("nouns", "vehicle_services")
_EMPTY_VERBS, _LIGHT_VERBS = words("verbs", "empty"), words("verbs", "light")
_VAGUE = words("nouns", "vague") | words("words", "light_heads")
_UNPAID = frozenset({"amateur", "amateurs", "hobby"})
_CALLINGS = words("nouns", "callings")
_ADMITTING = words("nouns", "schools") | words("nouns", "courses") | words("nouns", "clubs") | {"program", "programme"}
_WHAT_ONE_IS = frozenset({"has_age", "has_name", "works_as", "is_a", "has_nationality"})
_THINKING = frozenset({"think", "reckon", "believe", "imagine", "fancy"})
_PREFERENCES = frozenset(RELATIONS_BY_GROUP["preference"])
_POINTING = frozenset({"this", "that", "these", "those", "such", "what"})
_TOO_FEW = frozenset({"enough", "more", "less", "much", "most"})
_OTHERS = frozenset({"other", "others", "other's", "each", "another's", "else"})
_ELSEWHERE = frozenset({"there", "here"})
_LISTENER = frozenset({"you", "your"})
_THIRD = frozenset({"his", "her", "its", "their"})
_OF_NAMED_THINGS = frozenset({"believes", "causes", "improves", "has_part", "owns"})
_CAUSES = frozenset({"causes", "improves", "conflicts_with"})
_DESCRIBING = LITERAL_OBJECT | {"has_nationality", "follows", "feels", "is_a", "made_of", "speaks", "has_name"}
"""What these take is said by adjectives, names and numbers."""
_NAMING = _DESCRIBING | {"believes", "works_as"}
"""What these take may be a noun that says nothing elsewhere: faith, head."""


def flaw(stated: Stated, *, is_named: bool) -> Unkept | None:
    """What is wrong with what is stated, above all with its object, which is whole if it is a name."""
    for reason, holds in _OF_ALL:
        if holds(stated):
            return reason
    if is_named:
        return None
    if _is_unresolved(stated):
        return Unkept.UNRESOLVED
    if stated.fill.when is not None or stated.fill.text is not None or stated.is_of_mood:
        return None
    if stated.phrase is not None and any(token.low == "and" for token in stated.said):  # "peace and quiet"
        return None
    return next((reason for reason, holds in _OF_PHRASES if holds(stated)), None)


def _is_of_mood_or_manner(stated: Stated) -> bool:
    """`made of your laughter`, `she's a different person at work`: no material and no kind of person."""
    phrase, tokens = stated.phrase, stated.tokens
    if phrase is None:
        return False
    if stated.relation == "made_of":
        return phrase.possessor is not None
    words_before = tokens[phrase.first : phrase.head]
    is_person = stated.relation == "is_a" and tokens[phrase.head].low == "person"
    return is_person and any(token.low in _ADJECTIVES for token in words_before)


def _is_of_whose(stated: Stated) -> bool:
    """`Mine are in Riga`, `resting is part of training`; among people also `my suitcase is in Riga`."""
    subject = stated.subject
    low = subject.name.casefold().rsplit(" ", 1)[-1]
    if low in _OWN or (stated.relation == "part_of" and is_ing(stated.tokens[subject.start])):
        return True
    if stated.relation != "located_in" or not is_among_people(stated):
        return False
    is_named = any(token.is_capital for token in stated.tokens[subject.start : subject.end])
    return not is_named and low not in _FIRMS and listed_type(low) not in _STAYING


def _is_person_liked(stated: Stated) -> bool:
    """`I want Jasmine` for the baby, `love Ida!` among people: no thing, and nothing that lasts."""
    phrase = stated.phrase
    if phrase is None or stated.relation not in {"likes", "wants"} or phrase.end != phrase.first + 1:
        return False
    token = stated.tokens[phrase.first]
    kind = type_of_name(stated.match.reading.text[token.start : token.end])
    if stated.relation == "wants":
        return kind is EntityType.PERSON or (kind is None and token.is_capital and is_among_people(stated))
    return kind is EntityType.PERSON and is_among_people(stated)


def _is_gone(stated: Stated) -> bool:
    """`Ida has gone to Riga`: she is there, and nobody says for how long."""
    verb = stated.match.clause.verb
    return stated.relation == "visited" and "go" in verb.lemmas and verb.is_perfect


def _is_own_view(stated: Stated) -> bool:
    """`Maisie thinks she's nineteen`: what somebody takes themselves for."""
    pronoun, tokens = stated.match.clause.pronoun, stated.tokens
    if pronoun is None or pronoun == 0 or stated.relation not in _WHAT_ONE_IS or tokens[pronoun].low not in OTHERS:
        return False
    before = tokens[pronoun - 2 if tokens[pronoun - 1].low == "that" else pronoun - 1]
    return not _THINKING.isdisjoint(before.verbs or {})


def _is_comparison(stated: Stated) -> bool:
    """`Like a good thunderstorm`: what something is like, not what is liked."""
    clause = stated.match.clause
    is_bare = stated.subject.start == clause.verb.start and clause.pronoun is None
    return is_bare and low_at(stated.tokens, clause.verb.start, len(stated.tokens)) == "like"


def _is_no_possession(stated: Stated) -> bool:
    """`have eighty centimetres`, `have a tree on the third floor`, `drive a mail boat`; not `have a loom`."""
    verbs, phrase = stated.match.clause.verb.lemmas, stated.phrase
    if stated.relation != "owns" or phrase is None or _SELDOM_OWNING.isdisjoint(verbs):
        return False
    head = stated.tokens[phrase.head].low
    if "drive" in verbs and (head in _PUBLIC or any(token.low in _SERVICES for token in stated.said)):
        return True
    names = {head, head.removesuffix("s"), head.removesuffix("es"), "-".join(t.low for t in stated.said)}
    is_listed = not _KEPT_THINGS.isdisjoint(names) or listed_type(head) in _KEPT_TYPES
    return not is_listed and not any(token.is_capital for token in stated.tokens[phrase.first : phrase.end])


def _is_unresolved(stated: Stated) -> bool:
    """`this`, `your plan`, `their rights` of nobody knows whom, `the theme`, `each other's company`."""
    phrase, tokens = stated.phrase, stated.tokens
    if phrase is None or stated.relation in LITERAL_OBJECT:
        return False
    if any(token.low in _OTHERS for token in tokens[phrase.start : phrase.head]) or _is_of_initials(stated, phrase):
        return True
    owner = phrase.possessor
    if owner in _THIRD and stated.is_own:
        return True
    if stated.relation not in LASTING | _OF_NAMED_THINGS:
        return False
    if owner == "your" or phrase.det in _POINTING:
        return not (_is_own_taste(stated) and phrase.det == "this" and tokens[phrase.head].low in _CALLINGS)
    is_of_clause = stated.match.pattern.spec.subject == "subject"
    return is_of_clause and stated.relation in OPINIONS and _has_the(stated) and not _is_known_with_the(stated, phrase)


def _is_of_initials(stated: Stated, phrase: NounPhrase) -> bool:
    """`a HD`: letters alone, which may be a disk, a grade or a bike."""
    if stated.relation != "owns" or phrase.end != phrase.first + 1:
        return False
    start, end = stated.tokens[phrase.first].start, stated.tokens[phrase.first].end
    text = stated.match.reading.text[start:end]
    return text.isalpha() and text.isupper() and len(text) <= _MAX_INITIALS and text.casefold() not in _INITIALS


def _is_own_taste(stated: Stated) -> bool:
    return stated.is_own and stated.relation in TASTES


def _has_the(stated: Stated) -> bool:
    """`the` before the object, or before the list that it is one of."""
    first = stated.match.objects[0].phrase
    return first is not None and first.det == "the"


def _is_known_with_the(stated: Stated, phrase: NounPhrase) -> bool:
    """`the sea`, `the Harbour Inn`, `the idea of moving`: which one is meant needs no pointing."""
    tokens = stated.tokens
    if stated.match.mods.is_settled or is_name(stated.match.reading, phrase):
        return True
    is_told = any(token.is_capital for token in tokens[phrase.first : phrase.end])
    return is_told or (stated.relation in _PREFERENCES and tokens[phrase.head].low in _KINDS_WITH_THE)


def _says_nothing(stated: Stated) -> bool:
    """Whether the object has no content of its own: `the vibes`, `a project`, `make this work`, `join in`."""
    if stated.relation in _NAMING:
        return False
    if stated.is_doing:
        if stated.is_appointed:
            return _is_pointing(stated.said)
        return stated.relation in LASTING | _CAUSES and _is_empty_doing(stated)
    phrase = stated.phrase
    return phrase is not None and _is_empty_phrase(stated, phrase)


def _is_empty_phrase(stated: Stated, phrase: NounPhrase) -> bool:
    tokens = stated.tokens
    head = tokens[phrase.head]
    if any(token.is_capital for token in tokens[phrase.first : phrase.end]):
        return False
    if head.low in _ADJECTIVES and phrase.end > phrase.head + 1:  # "the good of kindness"
        return True
    if stated.relation in _CAUSES:
        return head.low in _EMPTY and tokens[stated.subject.start].low.endswith("ing")
    if phrase.det in {"a", "an"} and stated.match.pattern.spec.subject == "speaker" and stated.relation in TASTES:
        return True  # "my favourite player is a midfielder"
    if head.low in _EMPTY or phrase.det in _TOO_FEW or _is_got_into(stated, phrase):
        return True
    return _is_any_group(stated, phrase) or (head.low in _THIN and _is_thin_here(stated, phrase))


def _is_any_group(stated: Stated, phrase: NounPhrase) -> bool:
    """`I joined a local club`."""
    before, head = stated.tokens[phrase.first : phrase.head], stated.tokens[phrase.head].low
    is_member = stated.relation == "member_of" and head in _GROUPS
    return is_member and all(_is_slight(token) or token.low in _GROUPS | _NEAR for token in before)


def _is_got_into(stated: Stated, phrase: NounPhrase) -> bool:
    """`I got into a fight`, `he got into nursing school`."""
    is_got = "get" in stated.match.clause.verb.lemmas and stated.relation == "interested_in"
    return is_got and (phrase.det in {"a", "an"} or stated.tokens[phrase.head].low in _ADMITTING)


def _is_thin_here(stated: Stated, phrase: NounPhrase) -> bool:
    """Whether a noun that may say little says nothing: `plans a trip`, but `likes books`; what ended was known."""
    if stated.match.pattern.spec.polarity < 0:
        return False
    low = stated.tokens[phrase.head].low
    if stated.relation in TASTES:  # "the jazz and love theme": no kind of thing
        return phrase.start == phrase.head and not low.endswith("s") and low not in _MASS
    words_before = stated.tokens[phrase.first : phrase.head]
    return stated.relation in _THIN_RELATIONS and all(_is_slight(token) for token in words_before)


def _is_slight(token: Token) -> bool:
    """Whether a word before a noun does not tell which one is meant."""
    return token.low in _ADJECTIVES or token.low in EVALUATIVE or bool(token.bits & ADV)


def _is_pointing(said: list[Token]) -> bool:
    """`send them by the 15th`, `moving there next month`: what it points at stands elsewhere."""
    return said[-1].low in _ELSEWHERE or any(token.bits & OBJECT for token in said[1:])


def _is_empty_doing(stated: Stated) -> bool:
    said = stated.said
    lows = [token.low for token in said]
    verbs = said[0].verbs or {}
    if not _LISTENER.isdisjoint(lows) or any(t.bits & OBJECT or t.low in _POINTING for t in said[1:]):
        return True
    if _EMPTY_VERBS.intersection(verbs) and lows[0] != "going":
        return True
    is_light = not (_LIGHT if stated.relation in WISHES else _LIGHT_VERBS).isdisjoint(verbs)
    if len(said) == 1 or said[-1].bits & (PREP | ADV):
        return is_light
    if lows[-1] in _EMPTY or ("of" in lows and lows[lows.index("of") - 1] in _EMPTY):
        return not any(token.is_capital for token in said)
    is_vague = lows[-1] in _VAGUE or lows[-1] in _EVERYBODY or (lows[-1] in _THIN and _is_bare(said))
    return is_light and is_vague


def _is_bare(said: list[Token]) -> bool:
    """Whether nothing but small words stand between a verb and the last of its words."""
    return all(token.bits or token.low in _ADJECTIVES or token.low in EVALUATIVE for token in said[1:-1])


def _is_no_calling(stated: Stated) -> bool:
    """`I'm a dreamer`, `I'm a terrible cook`, `so I'm the cook`: what somebody is, not what they do for a living."""
    if stated.relation != "works_as":
        return False
    phrase, said = stated.phrase, stated.said[-1].low
    words_before = stated.tokens[stated.match.clause.verb.start : phrase.head] if phrase is not None else []
    is_at_play = said in _HOUSEHOLD or is_among_people(stated)  # "so I'm the inspector"
    is_at_home = is_at_play and phrase is not None and phrase.det == "the" and stated.is_alone
    behind = [low_at(stated.tokens, stated.fill.end + k, len(stated.tokens)) for k in (0, 1)]
    is_placed = behind[0] in _PLACED
    return (
        said in _DISPOSITIONS
        or behind[behind[0] == ","] in _NEARLY
        or any(t.low in _JUDGING or t.bits & NUMBER for t in words_before)
        or (is_at_home and not is_placed)
    )


def _is_unpaid(stated: Stated) -> bool:
    """`I'm a cellist in an orchestra for amateurs`."""
    clause = stated.match.clause
    is_work = stated.relation == "works_as"
    return is_work and any(token.low in _UNPAID for token in stated.tokens[clause.verb.end : clause.right])


_OF_ALL: tuple[tuple[Unkept, Callable[[Stated], bool]], ...] = (
    (Unkept.NOT_ASSERTED, _is_own_view),
    (Unkept.NOT_ASSERTED, _is_gone),
    (Unkept.NOT_ASSERTED, _is_comparison),
    (Unkept.SUBJECT, _is_of_whose),
    (Unkept.SAYS_NOTHING, _is_person_liked),
)
"""Asked of every claim."""
_OF_PHRASES: tuple[tuple[Unkept, Callable[[Stated], bool]], ...] = (
    (Unkept.CUT, is_cut),
    (Unkept.SAYS_NOTHING, _is_of_mood_or_manner),
    (Unkept.SAYS_NOTHING, _is_no_possession),
    (Unkept.SAYS_NOTHING, _says_nothing),
    (Unkept.SAYS_NOTHING, _is_no_calling),
    (Unkept.SAYS_NOTHING, _is_unpaid),
)
"""Asked of claims with an object that is no name, no date and no list, said plainly."""
