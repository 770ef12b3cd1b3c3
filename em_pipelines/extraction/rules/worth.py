"""Whether what a clause states is worth keeping: whose it is, whether it is asserted, whether it holds tomorrow.

A frame that fits says that the words are there. What is told of everybody, wished along with something else, quoted or
over by tomorrow is not kept, and `em why-not` names the reason. Whether the object is whole and says anything is
`wholeness`' business. The kinds of words are data (`worth.yaml` of the word lists), and so is how sure a claim is that
is kept (`sureness.yaml`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from em_pipelines.extraction.rules.kinds import names_program
from em_pipelines.extraction.rules.matching import Match
from em_pipelines.extraction.rules.people import Referent
from em_pipelines.extraction.rules.slots import Fill
from em_pipelines.language.en.clauses import (
    is_told_before,
    is_told_behind,
    may_stand_inside,
    pronoun_of,
    shares_unreal,
)
from em_pipelines.language.en.lexicon import PLACES, listed_type, load_lexicon, reliability, words
from em_pipelines.language.en.noun_phrases import KIN, NounPhrase
from em_pipelines.language.en.tokens import (
    BASE,
    NUMBER,
    PUNCT,
    RELATIVE,
    Token,
    is_quoted,
    low_at,
)
from em_pipelines.schema.vocabulary import RELATIONS_BY_GROUP, USER, EntityType

_ADJECTIVES = words("worth", "adjectives")
_SAYING_LITTLE = words("worth", "thin") | words("worth", "empty")
_EVERYDAY, _ORDINALS = words("worth", "everyday"), words("worth", "ordinals")
_NOW = words("worth", "now")
_BODIES = words("worth", "bodies")
_GROUNDS = words("worth", "grounds")
_FLEETING = words("worth", "fleeting")
_RATES, _TIME_UNITS = words("worth", "rates"), words("words", "time_units") | {"day", "hour", "minute", "morning"}
_EVERYBODY = words("worth", "everybody")
_ONLY_NAMED = words("people", "only_named")
TASTES = frozenset({"likes", "dislikes"})
WISHES = frozenset({"wants", "needs", "plans", "decided"})
OPINIONS = frozenset(RELATIONS_BY_GROUP["preference"]) | WISHES
LASTING = OPINIONS | {"did"}
SELDOM_NAMED = OPINIONS | {"visited", "located_in", "part_of"}
"""Relations of which something may be wrong though the object has a name."""
_FIGURES = tuple(tuple(str(figure).split()) for figure in load_lexicon("worth")["figures"])
_IN_PART = frozenset({"much", "many", "enough"})
_LONGEST_FIGURE = max(map(len, _FIGURES))
_SURENESS = load_lexicon("sureness")
OTHERS = frozenset({"he", "she", "they", "it"})
_MANY = 3
"""Things in a list from which each alone may say less than all."""
_UNREAD = 8
"""Words behind an object from which much of the clause was not read."""
_DECEASED = "deceased"
_SIGN_OFFS = frozenset({("love", "you"), ("love", "ya"), ("love", "u"), ("miss", "you")})
_REFERENCE = 3
"""Words between `our` and the group it belongs to."""


class Unkept(StrEnum):
    """Why what a fitting frame states is not kept."""

    CUT = "object_cut_short"
    SAYS_NOTHING = "object_says_nothing"
    UNRESOLVED = "object_unresolved"
    MOMENTARY = "of_the_moment"
    OVER = "taste_of_the_past"
    EVERYBODYS = "not_said_of_one_person"
    NOT_ASSERTED = "not_asserted"
    PARTNER = "of_the_one_spoken_to"
    SUBJECT = "subject_says_nothing"
    FIGURE = "figure_of_speech"
    SELDOM_RIGHT = "seldom_right"


@dataclass(frozen=True, slots=True)
class Stated:
    """A claim about to be made: a match, its relation, and the subject and the filler that are its ends."""

    match: Match
    relation: str
    subject: Referent
    fill: Fill

    @property
    def tokens(self) -> list[Token]:
        return self.match.reading.tokens

    @property
    def phrase(self) -> NounPhrase | None:
        return self.fill.phrase

    @property
    def said(self) -> list[Token]:
        """The tokens of the object."""
        return self.tokens[self.fill.start : self.fill.end]

    @property
    def is_doing(self) -> bool:
        """Whether the object is a verb with what it takes."""
        fill = self.fill
        return fill.phrase is None and fill.when is None and fill.text is None

    @property
    def is_of_mood(self) -> bool:
        """Whether somebody thinks aloud or lets off steam, which is kept for what it is, with little confidence."""
        return self.match.mods.is_settled or self.match.mods.is_venting

    @property
    def is_appointed(self) -> bool:
        """A plan read for its day."""
        return self.match.pattern.spec.dates == "ahead"

    @property
    def is_alone(self) -> bool:
        """Whether the speaker says `I`."""
        return self.is_own and pronoun_of(self.match.clause, self.tokens) == "i"

    @property
    def is_own(self) -> bool:
        """Whether the speaker is the subject."""
        return self.subject.is_own and not self.subject.kin


def unkept(stated: Stated) -> Unkept | None:
    """The first reason not to keep what is stated; None where it is kept."""
    for reason, holds in _CHECKS:
        if holds(stated) and not (reason is Unkept.MOMENTARY and stated.is_of_mood):
            return reason
    return None


def sureness(stated: Stated) -> float:
    """How likely the claim is right, 0 to 1: how often its pattern was, times what its context takes from that."""
    share = reliability(stated.match.pattern.pattern_id, is_talk=is_among_people(stated), is_by_i=stated.is_alone)
    for name, holds in _CONTEXTS:
        if holds(stated):
            share *= _SURENESS["context"][name]
    return share


def _is_plural(stated: Stated) -> bool:
    return pronoun_of(stated.match.clause, stated.tokens) == "we"


def is_among_people(stated: Stated) -> bool:
    """Whether somebody else than the user and an assistant speaks."""
    return len(stated.match.reading.speakers - {USER}) > 1


def _is_of_pronoun(stated: Stated) -> bool:
    return pronoun_of(stated.match.clause, stated.tokens) in OTHERS


def _is_unsaid(stated: Stated) -> bool:
    clause = stated.match.clause
    return clause.is_shared or (stated.is_own and clause.pronoun is None and not clause.subject)


def _is_unread(stated: Stated) -> bool:
    return stated.match.clause.right - stated.fill.end > _UNREAD


def _is_move_of_programs(stated: Stated) -> bool:
    """`we moved from DeskHub to Larkpost`: no homes."""
    if stated.relation != "lives_in" or "move" not in stated.match.clause.verb.lemmas:
        return False
    text, clause = stated.match.reading.text, stated.match.clause
    return any(names_program(text[t.start : t.end]) for t in stated.tokens[clause.verb.end : clause.right])


def _is_move_of_tools(stated: Stated) -> bool:
    """`we moved from Mailgun to Postmark`: where neither is a known place, it may be what a firm works with.

    The fold, which knows what they use, tells which it is.
    """
    if stated.relation != "lives_in" or "move" not in stated.match.clause.verb.lemmas:
        return False
    tokens, clause = stated.tokens, stated.match.clause
    lows = [token.low for token in tokens[clause.verb.end : clause.right]]
    is_both = "from" in lows and "to" in lows
    names = " ".join(lows)
    return is_both and not any(f" {place} " in f" {names} " for place in PLACES) and not stated.is_alone


_CONTEXTS: tuple[tuple[str, Callable[[Stated], bool]], ...] = (
    ("plural", _is_plural),
    ("pronoun", _is_of_pronoun),
    ("unsaid", _is_unsaid),
    ("listed", lambda stated: len(stated.match.objects) >= _MANY),
    ("unread", _is_unread),
    ("moved", _is_move_of_tools),
)


def _is_of_partner(stated: Stated) -> bool:
    return not stated.is_own and stated.subject.name.casefold() in stated.match.reading.speakers


def _subject_says_nothing(stated: Stated) -> bool:
    """`great happened`, `others have`: no subject is named; `a picnic was last week`: one of many."""
    subject, tokens = stated.subject, stated.tokens
    if stated.is_own or subject.kin or not subject.start < subject.end <= len(tokens):
        is_whose = subject.is_own and KIN.get(subject.kin) not in _ONLY_NAMED  # not "boss", nor somebody else's husband
        return subject.is_unnamed and not is_whose and is_among_people(stated)
    if tokens[subject.start].bits & NUMBER:  # "eighteen, ten of them girls"
        return True
    low = subject.name.casefold().rsplit(" ", 1)[-1]
    if low in _ADJECTIVES | _EVERYBODY | _ORDINALS or " of mine" in subject.name or " of ours" in subject.name:
        return True
    return stated.relation in {"happened_on", "scheduled_for"} and _is_any_event(stated)


def _is_any_event(stated: Stated) -> bool:
    """`a picnic was last week`; among people `the deadline is on Friday`, `the first lesson is in May`."""
    tokens, name = stated.tokens, stated.subject.name.casefold()
    before = low_at(tokens, stated.subject.start - 1, len(tokens))
    if stated.relation == "happened_on" and (before in {"a", "an", "some"} or _is_thin(name)):
        return True
    is_lone = all(word in _ADJECTIVES | _ORDINALS for word in name.split()[:-1])
    return is_lone and before not in {"my", "our"} and is_among_people(stated)


def _is_thin(name: str) -> bool:
    return name.casefold() in _SAYING_LITTLE


def _is_momentary(stated: Stated) -> bool:
    """`tonight`, `I'm going to make tea`, `I need coffee`, `two teas a day`, `Love the colours!`: over by tomorrow."""
    if stated.relation == "owns":
        return _is_consumed(stated)
    if stated.relation == "feels":
        return not stated.match.mods.is_venting
    phrase = stated.phrase
    if (
        phrase is not None
        and phrase.possessor
        and low_at(stated.tokens, phrase.start - 1, len(stated.tokens)) == "into"
    ):
        return stated.relation == "likes"  # "I'm into my second coffee"
    is_dropped = stated.subject.start == stated.match.clause.verb.start
    if phrase is not None and is_dropped and phrase.det == "the" and stated.relation in LASTING:
        return True
    return stated.relation in WISHES and (_is_of_now(stated) or _is_everyday(stated))


def _is_of_now(stated: Stated) -> bool:
    clause = stated.match.clause
    return any(token.low in _NOW for token in stated.tokens[clause.left : clause.right])


def _is_everyday(stated: Stated) -> bool:
    """`I need coffee`, `I'm going to wash the car`."""
    if stated.is_doing:
        is_named = stated.is_appointed or any(token.is_capital for token in stated.said)
        is_plan = stated.relation in {"plans", "decided"}
        return is_plan and not is_named and not _EVERYDAY.isdisjoint(stated.said[0].verbs or {})
    return stated.relation != "plans" and listed_type(stated.said[-1].low) is EntityType.FOOD


def _is_figure(stated: Stated) -> bool:
    """`a frog in my throat`, `a mountain of laundry`: no animal, no mountain; nobody says `I'm dead` who is."""
    if stated.is_own and stated.match.pattern.spec.value == _DECEASED:
        return True
    first = stated.phrase.first if stated.phrase is not None else stated.fill.start
    return stated.relation in {"owns", "has_pet"} and is_figure(stated.tokens, first)


def is_figure(tokens: list[Token], first: int) -> bool:
    """Whether a saying begins at token `first` that speaks of things which nobody has."""
    lows = [token.low for token in tokens[first : first + _LONGEST_FIGURE]]
    return any(tuple(lows[: len(figure)]) == figure for figure in _FIGURES)


def _is_consumed(stated: Stated) -> bool:
    """`flowers`, `three espressos a day`: nothing that one has for long."""
    tokens, end = stated.tokens, stated.fill.end
    last = stated.said[-1].low
    is_rate = low_at(tokens, end, len(tokens)) in _RATES and low_at(tokens, end + 1, len(tokens)) in _TIME_UNITS
    return is_rate or last in _FLEETING or listed_type(last) is EntityType.FOOD


def _is_over(stated: Stated) -> bool:
    """`I loved taking lessons`: a taste of then; what has ended says so by itself (`used to love`)."""
    verb, mods = stated.match.clause.verb, stated.match.mods
    if (
        stated.said[0].is_capital
        or stated.relation not in TASTES
        or mods.has_ended
        or verb.used_to
        or verb.has_begun
        or verb.is_perfect
    ):
        return False
    return verb.is_past and stated.match.pattern.spec.tense == "any" and "always" not in verb.adverbs


def _is_everybodys(stated: Stated) -> bool:
    """`we all need a push`, `our group … we plan campaigns`, `we need better schools`."""
    match, tokens = stated.match, stated.tokens
    if pronoun_of(match.clause, tokens) != "we":
        return False
    if stated.relation == "has_age" or (stated.relation in {"has_name", "needs"} and not match.mods.is_settled):
        return True  # "we're four": at table
    if "all" in match.clause.verb.adverbs or low_at(tokens, (match.clause.pronoun or 0) + 1, len(tokens)) == "all":
        return True
    ours = [k for k in range(match.clause.lead) if tokens[k].low == "our"]
    return any(token.low in _BODIES for k in ours for token in tokens[k + 1 : k + 2 + _REFERENCE])


def _is_not_asserted(stated: Stated) -> bool:
    """A verb that shares an infinitive's `to` or a modal verb, a bare verb after its own object, what others tell."""
    clause, tokens = stated.match.clause, stated.tokens
    verb = clause.verb
    if is_quoted(stated.tokens, stated.match.reading.text, verb.start):
        return True
    if verb.start == verb.end:  # `a project, a robot`: what stands beside a thing is no possession
        return "have" in verb.lemmas and stated.relation == "owns" and stated.match.reading.has_capitals
    if stated.match.pattern.spec.needs or verb.start >= len(tokens):
        return False
    is_bare = bool(tokens[verb.start].forms & BASE) and verb.modal is None and not verb.is_progressive
    if is_bare and clause.is_shared and shares_unreal(tokens, verb.start):
        return True
    if (
        stated.subject.start == verb.start
        and clause.pronoun is None
        and _has_nobody_to_it(tokens, verb.start, is_bare=is_bare)
    ):
        return True
    is_told = stated.is_own and is_told_before(clause, tokens)
    return is_told or _is_emphatic_like(stated)


def _has_nobody_to_it(tokens: list[Token], at: int, *, is_bare: bool) -> bool:
    """Whether a verb without a subject has none to it: `a big plus of being a freelancer`."""
    return tokens[at].low == "being" or (is_bare and at > 0 and may_stand_inside(tokens[at - 1]))


def _is_sign_off(stated: Stated) -> bool:
    """`love you. love Barry.`: a greeting at the end."""
    verb = stated.match.clause.verb
    if "love" not in verb.lemmas or stated.subject.start != verb.start:
        return False
    before = [token.low for token in stated.tokens[: verb.start] if not token.bits & PUNCT]
    return tuple(before[-2:]) in _SIGN_OFFS


def _is_denied_in_part(stated: Stated) -> bool:
    """`She doesn't speak much English`: some."""
    tokens, first = stated.tokens, stated.fill.start
    before = {low_at(tokens, k, len(tokens)) for k in (first - 1, first)}
    return stated.match.clause.verb.is_negated and not _IN_PART.isdisjoint(before)


def _is_where_one_works(stated: Stated) -> bool:
    """`I work on the wards`: a place, not what the work is about."""
    is_thing = stated.relation == "works_on" and stated.phrase is not None and stated.phrase.det in {"the", "a", "an"}
    return is_thing and stated.said[-1].low in _GROUNDS


def _is_emphatic_like(stated: Stated) -> bool:
    """`which she does like a lunatic`: no liking."""
    verb, lead, tokens = stated.match.clause.verb, stated.match.clause.lead, stated.tokens
    is_do = tokens[verb.start].low in {"do", "does", "did"} and not verb.is_negated
    return is_do and "like" in verb.lemmas and lead > 0 and bool(tokens[lead - 1].bits & RELATIVE)


_CHECKS: tuple[tuple[Unkept, Callable[[Stated], bool]], ...] = (
    (Unkept.PARTNER, _is_of_partner),
    (Unkept.NOT_ASSERTED, _is_not_asserted),
    (Unkept.NOT_ASSERTED, _is_sign_off),
    (Unkept.NOT_ASSERTED, _is_denied_in_part),
    (Unkept.NOT_ASSERTED, _is_where_one_works),
    (Unkept.NOT_ASSERTED, lambda stated: stated.is_own and is_told_behind(stated.match.clause, stated.tokens)),
    (Unkept.EVERYBODYS, _is_everybodys),
    (Unkept.SUBJECT, _subject_says_nothing),
    (Unkept.UNRESOLVED, _is_move_of_programs),
    (Unkept.FIGURE, _is_figure),
    (Unkept.OVER, _is_over),
    (Unkept.MOMENTARY, _is_momentary),
)
