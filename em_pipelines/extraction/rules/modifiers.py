"""What a clause is worth: hedged, asked, supposed, reported, mocked or vented. Computed once, for every pattern alike.

The phrases are data (`hedges.yaml` of the word lists); the scopes are here: a condition reaches to the next `but`, a
question from its inverted verb onward, a report over the clause after its verb. What a verb or a word of time before a
clause makes of it is `suppositions`' business.
"""

from itertools import pairwise

from em_pipelines.language.en.clauses import Clause, pronoun_of
from em_pipelines.language.en.cues import (
    AFTERTHOUGHT,
    LONGEST,
    Cue,
    between,
    is_denied,
    is_led_by_not,
    is_nearly,
    is_set_up,
    is_timed,
)
from em_pipelines.language.en.lexicon import words
from em_pipelines.language.en.tokens import ADV, CONDITION, CONJ, CONTRAST, PUNCT, WH, Token, low_at
from em_pipelines.schema.vocabulary import HedgeLevel

_REPORTING = words("verbs", "reporting")
_FIRST_PERSON = words("words", "first_person")
LEVELS = {"slight": HedgeLevel.SLIGHT, "moderate": HedgeLevel.MODERATE, "strong": HedgeLevel.STRONG}
_ORDER = [HedgeLevel.NONE, HedgeLevel.SLIGHT, HedgeLevel.MODERATE, HedgeLevel.STRONG]
_SELF_HEDGING = words("verbs", "self_hedging")
_UNREAL = frozenset({"wish", "hope", "imagine", "pretend", "suppose"})
_CERTAIN = frozenset({"sure", "certain", "positive", "convinced"})
_JOINTS = frozenset({"and", "but", "because", "so", "who", "which"})
_UNTIL = frozenset({"until", "till", "til"})
_ASSURED = frozenset({"definitely", "certainly", "undoubtedly", "absolutely"})
_MAY_BE = frozenset({"might", "may", "could"})
_INVERTED_CONDITION = frozenset({"had", "were"})
_INTERJECTIONS = words("words", "interjections")
_SURE = words("words", "certainty")
_HEDGES_BEFORE = 3
"""Clauses before one that may hedge it: `I mean, I think, I'm not sure, but …`."""


class Modifiers:
    """How one clause is meant. `is_supposed`: stands in an if; `is_hypothetical`: would hold only then."""

    __slots__ = (
        "has_ended", "hedge", "is_abandoned", "is_doubtful", "is_guess", "is_hypothetical", "is_question",
        "is_reported", "is_sarcastic", "is_secondhand", "is_supposed", "is_timed", "is_venting",
    )  # fmt: skip

    def __init__(self) -> None:
        self.hedge = HedgeLevel.NONE
        self.has_ended = False
        self.is_abandoned = False
        """Taken back at once: `buy a ladder, no wait`."""
        self.is_doubtful = False
        """A liking may be meant or mocked."""
        self.is_guess = False
        """What somebody else might be or do: `he might like it`."""
        self.is_hypothetical = False
        self.is_question = False
        self.is_reported = False
        self.is_sarcastic = False
        self.is_secondhand = False
        self.is_supposed = False
        self.is_timed = False
        self.is_venting = False


Modified = tuple[Clause, Modifiers]
"""A clause with how it is meant."""


class _Place:
    """A clause of a sentence, the clause before with its modifiers, and the words that lead into it: `if`, `and then`.

    `words` are those words, case-folded, and `bits` their classes together. `is_joined`: a joint among them parts the
    clause from the one before, so that it is no part of what is said there.
    """

    __slots__ = ("before", "bits", "clause", "is_joined", "previous", "words")

    def __init__(self, clause: Clause, tokens: list[Token], previous: Clause | None, before: Modifiers | None) -> None:
        self.clause = clause
        self.previous = previous
        self.before = before
        self.words: list[str] = []
        self.bits = 0
        for token in tokens[clause.left : clause.lead]:
            self.words.append(token.low)
            self.bits |= token.bits
        self.is_joined = not _JOINTS.isdisjoint(self.words)


def set_modifiers(
    clauses: list[Clause], tokens: list[Token], start: int, stop: int, cues: list[Cue]
) -> list[Modifiers]:
    """The modifiers of the clauses of one sentence, from `start` to `stop`."""
    here = between(cues, start, stop + 1)
    is_asked = low_at(tokens, stop, len(tokens)) == "?"
    all_modifiers: list[Modifiers] = []
    for n, clause in enumerate(clauses):
        before, previous = (all_modifiers[n - 1], clauses[n - 1]) if n else (None, None)
        place = _Place(clause, tokens, previous, before)
        mods = Modifiers()
        mods.is_guess = clause.verb.modal == "might" and _is_of_others(clause, tokens)
        mods.is_question = _is_question(place, tokens, is_asked=is_asked)
        _set_condition(mods, place, tokens, here)
        _set_denial(mods, place, tokens)
        _set_report(mods, place, tokens)
        mods.is_supposed = mods.is_supposed or is_nearly(clause, tokens)
        _set_phrases(mods, clauses, n, tokens, here)
        _share_modal(mods, place)
        all_modifiers.append(mods)
    _suppose_backwards(clauses, all_modifiers)
    _weaken_backwards(clauses, all_modifiers, here)
    return all_modifiers


def weaken(mods: Modifiers, tag: str) -> None:
    """Applies the hedge of an afterthought (`… but don't quote me`) to the clause before it."""
    if tag.startswith("secondhand"):
        mods.is_secondhand = True
    else:
        _hedge(mods, LEVELS[tag.removesuffix(AFTERTHOUGHT)])


def _hedge(mods: Modifiers, level: HedgeLevel) -> None:
    mods.hedge = max(mods.hedge, level, key=_ORDER.index)


def _weaken_backwards(clauses: list[Clause], all_modifiers: list[Modifiers], here: list[Cue]) -> None:
    """Afterthoughts weaken the clause before them, or the last one of a sentence that opens with them."""
    for at, stop, tag in here:
        if tag.endswith(AFTERTHOUGHT):
            before = [n for n, clause in enumerate(clauses) if clause.verb.start < at]
            if before or any(clause.verb.start >= stop for clause in clauses):
                weaken(all_modifiers[before[-1] if before else -1], tag)


def _is_of_others(clause: Clause, tokens: list[Token]) -> bool:
    is_pronoun = clause.pronoun is not None and pronoun_of(clause, tokens) not in _FIRST_PERSON
    return is_pronoun or bool(clause.subject)


def _is_question(place: _Place, tokens: list[Token], *, is_asked: bool) -> bool:
    """Whether a clause asks, or goes on with what the one before asks."""
    if place.clause.verb.is_inverted or (is_asked and _asks(place, tokens)):
        return True
    goes_on = place.before is not None and place.before.is_question
    return goes_on and not place.bits & (PUNCT | CONTRAST)


def _asks(place: _Place, tokens: list[Token]) -> bool:
    """Whether a clause before a question mark is what is asked: `what …`, or no subject: `Like it?`."""
    clause = place.clause
    if any(token.bits & WH and token.low != "that" for token in tokens[clause.left : clause.lead]):
        return True
    return not clause.has_subject and not clause.verb.is_past


def end_questions(clauses: list[Clause], all_modifiers: list[Modifiers], tokens: list[Token]) -> None:
    """In speech no mark ends a question: `okay yes I …` does, unless that is what was asked after."""
    for n, (previous, clause) in enumerate(pairwise(clauses), start=1):
        if _starts_anew(clause, tokens) and _REPORTING.isdisjoint(previous.verb.lemmas):
            for mods in all_modifiers[n:]:
                mods.is_question = False


def _starts_anew(clause: Clause, tokens: list[Token]) -> bool:
    """`okay yes I`, and no verb before it."""
    if clause.is_shared or clause.verb.is_inverted or pronoun_of(clause, tokens) != "i":
        return False
    lead = tokens[clause.left : clause.pronoun]
    return bool(lead) and all(token.low in _INTERJECTIONS for token in lead)


def _set_condition(mods: Modifiers, place: _Place, tokens: list[Token], here: list[Cue]) -> None:
    clause, verb = place.clause, place.clause.verb
    if verb.is_inverted and tokens[verb.start].low in _INVERTED_CONDITION:
        mods.is_supposed, mods.is_question = True, False
    elif _says_if(place, tokens, here):
        mods.is_supposed = True
    elif place.previous is not None and not place.bits & CONTRAST:
        mods.is_supposed = not _UNREAL.isdisjoint(place.previous.verb.lemmas)
    if place.before is not None:
        _carry_condition(mods, place, place.before, tokens)
    mods.is_timed = is_timed(clause, tokens)


def _carry_condition(mods: Modifiers, place: _Place, before: Modifiers, tokens: list[Token]) -> None:
    """What follows a supposition would hold only then, and is supposed, too, where it goes on with the same."""
    mods.is_hypothetical = (before.is_supposed or before.is_hypothetical) and not place.bits & CONTRAST
    if before.is_supposed and _goes_on_supposing(place, tokens):
        mods.is_supposed = True


def _says_if(place: _Place, tokens: list[Token], here: list[Cue]) -> bool:
    """Whether the words before the subject suppose it: `if`, `whether`, `say I …`."""
    if not place.words:
        return False
    return _holds_if(place, tokens, here) or "whether" in place.words or is_set_up(place.clause, tokens)


def _holds_if(place: _Place, tokens: list[Token], here: list[Cue]) -> bool:
    """Whether an `if` leads into the clause that no `but` ends, and that hedges nothing, as in `if memory serves`."""
    if not place.bits & CONDITION or "but" in place.words[:-1]:
        return False
    clause = place.clause
    hedged = {cue.start for cue in between(here, clause.left, clause.lead) if cue.tag in LEVELS}
    return any(tokens[k].bits & CONDITION and k not in hedged for k in range(clause.left, clause.lead))


def _goes_on_supposing(place: _Place, tokens: list[Token]) -> bool:
    """`if I moved and sold the mill`: nothing but `and` before the verb, and no modal that concludes."""
    clause = place.clause
    if clause.verb.modal is not None or "and" not in place.words:
        return False
    return all(token.low == "and" or token.bits & ADV for token in tokens[clause.left : clause.lead])


def _share_modal(mods: Modifiers, place: _Place) -> None:
    """`I would sell it and move`: a modal goes on over verbs that share their subject."""
    verb, previous = place.clause.verb, place.previous
    is_bare = not verb.modal and not verb.is_past
    if mods.is_hypothetical and place.clause.is_shared and previous is not None and is_bare:
        verb.modal = previous.verb.modal


def _suppose_backwards(clauses: list[Clause], all_modifiers: list[Modifiers]) -> None:
    """`I'd take X if …`: a conditional verb before the if is as hypothetical as one after it."""
    for n in range(len(clauses) - 1):
        if all_modifiers[n + 1].is_supposed and clauses[n].verb.modal in {"would", "could", "might"}:
            all_modifiers[n].is_hypothetical = True


def _set_denial(mods: Modifiers, place: _Place, tokens: list[Token]) -> None:
    if is_led_by_not(place.clause, tokens):
        mods.is_supposed = True
    elif place.previous is not None and not mods.is_supposed and not place.is_joined:
        mods.is_supposed = is_denied(place.previous, place.clause, tokens)


def _set_report(mods: Modifiers, place: _Place, tokens: list[Token]) -> None:
    clause, previous, before = place.clause, place.previous, place.before
    if previous is None or before is None:
        return
    if not place.is_joined and _REPORTING.intersection(previous.verb.lemmas):
        _set_told(mods, clause, previous, tokens)
    elif before.is_secondhand and _completes(place, previous):
        mods.is_secondhand = True
    elif before.is_reported and (clause.is_shared or "that" in place.words):
        mods.is_reported = mods.is_secondhand = True


def _completes(place: _Place, previous: Clause) -> bool:
    """Whether the verb before has no complement but this clause: `I hear they think it works`."""
    return previous.right <= previous.verb.end + 1 and not place.is_joined


def _set_told(mods: Modifiers, clause: Clause, reporting: Clause, tokens: list[Token]) -> None:
    """Notes that a clause is what the clause before it tells."""
    clause.holder = reporting
    mods.is_reported = _is_told_by_others(reporting, tokens) and not clause.is_shared
    mods.is_secondhand = mods.is_reported or "hear" in reporting.verb.lemmas


def _is_told_by_others(reporting: Clause, tokens: list[Token]) -> bool:
    """`Ida says`; not `I say`, `it says`, nor `Ida knows`, which holds what is known true."""
    pronoun = pronoun_of(reporting, tokens)
    return pronoun not in _FIRST_PERSON and pronoun != "it" and reporting.verb.lemmas != ("know",)


def _set_phrases(mods: Modifiers, clauses: list[Clause], n: int, tokens: list[Token], here: list[Cue]) -> None:
    verb = clauses[n].verb
    if n and _says_maybe(clauses[n - 1], tokens):
        mods.hedge = HedgeLevel.STRONG
    if here:
        _set_cued(mods, clauses, n, tokens, here)
    mods.hedge = mods.hedge if _ASSURED.isdisjoint(verb.adverbs) else HedgeLevel.NONE
    mods.has_ended = mods.has_ended or verb.has_ended or verb.used_to or _ends_later(clauses[n], tokens)


def _says_maybe(clause: Clause, tokens: list[Token]) -> bool:
    """`It may be`, and nothing more, before what may be."""
    verb = clause.verb
    if verb.modal not in _MAY_BE or verb.lemmas != ("be",):
        return False
    return pronoun_of(clause, tokens) == "it" and clause.right == verb.end


def _set_cued(mods: Modifiers, clauses: list[Clause], n: int, tokens: list[Token], here: list[Cue]) -> None:
    """What the cues around a clause make of it."""
    clause = clauses[n]
    left, right = _span_with_hedges(clauses, n, tokens, here)
    since = min(left, clauses[n - 1].verb.end) if n else left
    for at, _, tag in between(here, since, max(right, clause.verb.end)):
        if at < left:
            is_about = _opens(tokens, at)
        else:
            is_about = n + 1 == len(clauses) or at < clause.verb.end or not _opens(tokens, at)
        if is_about:
            _set_cue(mods, clause, tag)


def _set_cue(mods: Modifiers, clause: Clause, tag: str) -> None:
    if tag in LEVELS:
        _hedge(mods, LEVELS[tag])
    elif tag == "secondhand":
        mods.is_secondhand = True
    elif tag == "ended" and clause.verb.is_negated:
        mods.has_ended = True


def _span_with_hedges(clauses: list[Clause], n: int, tokens: list[Token], here: list[Cue]) -> tuple[int, int]:
    """The tokens of a clause together with those beside it that only hedge it."""
    left, right = clauses[n].left, clauses[n].right
    for before in reversed(clauses[max(0, n - _HEDGES_BEFORE) : n]):
        if not _only_hedges(before, tokens, here) or "know" in before.verb.lemmas:
            break
        left = before.left
    if n + 1 < len(clauses) and _only_hedges(clauses[n + 1], tokens, here) and _is_comment(clauses, n + 1, tokens):
        right = clauses[n + 1].right
    return left, right


def _opens(tokens: list[Token], at: int) -> bool:
    """`…, and, according to Ida, he sings`: after an `and` or `but` a cue is about what follows."""
    while at and tokens[at - 1].bits & PUNCT:
        at -= 1
    return at > 0 and tokens[at - 1].low in {"and", "but"}


def _ends_later(clause: Clause, tokens: list[Token]) -> bool:
    """`was a nurse until 2019`: a state that a year ended."""
    if not clause.verb.is_past or clause.verb.is_negated:
        return False
    complement = tokens[clause.verb.end : clause.right]
    return any(word.low in _UNTIL and following.low.isdigit() for word, following in pairwise(complement))


def _is_comment(clauses: list[Clause], n: int, tokens: list[Token]) -> bool:
    """Whether the hedge in clause n looks back: `…, I think, and …`, not `…, I think it …`."""
    if n + 1 == len(clauses):
        return True
    return any(t.bits & (PUNCT | CONJ | CONTRAST) for t in tokens[clauses[n].right : clauses[n + 1].lead])


def only_hedges(clauses: list[Clause], tokens: list[Token], cues: list[Cue]) -> bool:
    """Whether a sentence is nothing but a hedge of the one before: `I think?`."""
    return bool(clauses) and all(_only_hedges(clause, tokens, cues) for clause in clauses)


def _only_hedges(clause: Clause, tokens: list[Token], here: list[Cue]) -> bool:
    """`I think`, `I'm fairly sure`, `if memory serves`: nothing but a hedge of the clause beside it."""
    verb = clause.verb
    if any(_is_hedge_of(cue, clause) for cue in between(here, clause.right - LONGEST, clause.right)):
        return True
    if pronoun_of(clause, tokens) not in _FIRST_PERSON:
        return False
    complement = {token.low for token in tokens[verb.end : clause.right] if not token.bits & PUNCT}
    if "be" in verb.lemmas:
        return not _CERTAIN.isdisjoint(complement) and complement <= _SURE
    return not complement and not _SELF_HEDGING.isdisjoint(verb.lemmas)


def _is_hedge_of(cue: Cue, clause: Clause) -> bool:
    """Whether a cue that begins before the end of a clause takes in its verb and all that follows."""
    return cue.tag in LEVELS and clause.right <= cue.stop and clause.verb.start < cue.stop
