"""What a clause is worth: hedged, asked, supposed, reported, mocked or vented. Computed once, for every pattern alike.

The phrases are data (`patterns/lexicon/hedges.yaml`); the scopes are here: a condition reaches to the next `but`, a
question from its inverted verb onward, a report over the clause after its verb.
"""

from em_pipelines.extraction.rules.clause import Clause
from em_pipelines.extraction.rules.cues import AFTERTHOUGHT, LONGEST, Cue, between
from em_pipelines.extraction.rules.lexicon import words
from em_pipelines.extraction.rules.suppositions import is_denied, is_nearly, is_set_up
from em_pipelines.extraction.rules.timing import is_timed
from em_pipelines.extraction.rules.tokens import Token
from em_pipelines.extraction.rules.word_classes import ADV, CONDITION, CONJ, CONTRAST, PUNCT, WH
from em_pipelines.vocabulary import HedgeLevel

LEVELS = {"slight": HedgeLevel.SLIGHT, "moderate": HedgeLevel.MODERATE, "strong": HedgeLevel.STRONG}
_ORDER = [HedgeLevel.NONE, HedgeLevel.SLIGHT, HedgeLevel.MODERATE, HedgeLevel.STRONG]
_REPORTING = words("verbs", "reporting")
_SELF_HEDGING = words("verbs", "self_hedging")
_FIRST_PERSON = words("words", "first_person")
_UNREAL = frozenset({"wish", "hope", "imagine", "pretend", "suppose"})
_CERTAIN = frozenset({"sure", "certain", "positive", "convinced"})
_JOINTS = frozenset({"and", "but", "because", "so", "who", "which"})
_UNTIL = frozenset({"until", "till", "til"})
_ASSURED = frozenset({"definitely", "certainly", "undoubtedly", "absolutely"})
_MAY_BE = frozenset({"might", "may", "could"})
_INVERTED_CONDITION = frozenset({"had", "were", "should"})
_INTERJECTIONS = words("words", "interjections")
_SURE = words("words", "certainty")


class Modifiers:
    """How one clause is meant. `is_supposed`: stands in an if; `is_hypothetical`: would hold only then."""

    __slots__ = (
        "has_ended", "hedge", "is_abandoned", "is_doubtful", "is_guess", "is_hypothetical", "is_question",
        "is_reported", "is_sarcastic", "is_secondhand", "is_settled", "is_supposed", "is_timed", "is_venting",
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
        self.is_settled = False
        """Said while thinking aloud, in speech that corrects itself."""
        self.is_supposed = False
        self.is_timed = False
        self.is_venting = False


def set_modifiers(
    clauses: list[Clause], tokens: list[Token], start: int, stop: int, cues: list[Cue]
) -> list[Modifiers]:
    """The modifiers of the clauses of one sentence, from `start` to `stop`."""
    here = between(cues, start, stop + 1)
    is_asked = stop < len(tokens) and tokens[stop].low == "?"
    all_modifiers: list[Modifiers] = []
    for n, clause in enumerate(clauses):
        mods = Modifiers()
        before, previous = (all_modifiers[n - 1], clauses[n - 1]) if n else (None, None)
        lead = tokens[clause.left : clause.lead]
        mods.is_guess = clause.verb.modal == "might" and (
            bool(clause.subject) or (clause.pronoun is not None and tokens[clause.pronoun].low not in _FIRST_PERSON)
        )
        _set_question(mods, before, clause, lead, is_asked)
        _set_condition(mods, before, previous, clause, lead, tokens, here)
        _set_report(mods, before, previous, clause, lead, tokens)
        mods.is_supposed = mods.is_supposed or is_nearly(clause, tokens)
        _set_phrases(mods, clauses, n, tokens, here)
        if mods.is_hypothetical and clause.is_shared and previous and not clause.verb.modal and not clause.verb.is_past:
            clause.verb.modal = previous.verb.modal
        all_modifiers.append(mods)
    _suppose_backwards(clauses, all_modifiers)
    _weaken_backwards(clauses, all_modifiers, here)
    return all_modifiers


def weaken(mods: Modifiers, tag: str) -> None:
    """Applies the hedge of an afterthought (`… but don't quote me`) to the clause before it."""
    if tag.startswith("secondhand"):
        mods.is_secondhand = True
        return
    mods.hedge = max(mods.hedge, LEVELS[tag.removesuffix(AFTERTHOUGHT)], key=_ORDER.index)


def _weaken_backwards(clauses: list[Clause], all_modifiers: list[Modifiers], here: list[Cue]) -> None:
    """Afterthoughts weaken the clause before them, or the last one of a sentence that opens with them."""
    for at, stop, tag in here:
        if tag.endswith(AFTERTHOUGHT):
            before = [n for n, clause in enumerate(clauses) if clause.verb.start < at]
            if before or any(clause.verb.start >= stop for clause in clauses):
                weaken(all_modifiers[before[-1] if before else -1], tag)


def _set_question(mods: Modifiers, before: Modifiers | None, clause: Clause, lead: list[Token], is_asked: bool) -> None:
    asks = clause.verb.is_inverted or (is_asked and any(t.bits & WH and t.low != "that" for t in lead))
    if not asks and is_asked and clause.pronoun is None and not clause.subject:
        asks = not clause.verb.is_past
    goes_on = before is not None and before.is_question
    mods.is_question = asks or (goes_on and not any(t.bits & (PUNCT | CONTRAST) for t in lead))


def end_questions(clauses: list[Clause], all_modifiers: list[Modifiers], tokens: list[Token]) -> None:
    """In speech no mark ends a question: `okay yes I …` does, unless that is what was asked after."""
    for n in range(1, len(clauses)):
        clause, previous = clauses[n], clauses[n - 1]
        if clause.pronoun is None or clause.is_shared or tokens[clause.pronoun].low != "i":
            continue
        lead = tokens[clause.left : clause.pronoun]
        starts_anew = all(token.low in _INTERJECTIONS for token in lead) and bool(lead)
        if starts_anew and not clause.verb.is_inverted and _REPORTING.isdisjoint(previous.verb.lemmas):
            for mods in all_modifiers[n:]:
                mods.is_question = False


def _set_condition(
    mods: Modifiers, before: Modifiers | None, previous: Clause | None, clause: Clause, lead: list[Token],
    tokens: list[Token], here: list[Cue],
) -> None:  # fmt: skip
    bits, first, says_if = 0, tokens[clause.verb.start].low, False
    for t in lead:
        bits |= t.bits
    contrast = bool(bits & CONTRAST)
    if bits & CONDITION:
        hedged = {cue.start for cue in between(here, clause.left, clause.lead) if cue.tag in LEVELS}
        says_if = any(tokens[k].bits & CONDITION and k not in hedged for k in range(clause.left, clause.lead))
        says_if = says_if and not any(t.low == "but" for t in lead[:-1])
    says_if = says_if or (bool(lead) and (any(t.low == "whether" for t in lead) or is_set_up(clause, lead, tokens)))
    inverted = clause.verb.is_inverted and first in _INVERTED_CONDITION and not mods.is_question
    unreal = previous is not None and bool(_UNREAL.intersection(previous.verb.lemmas)) and not contrast
    if clause.verb.is_inverted and first in {"had", "were"}:
        inverted, mods.is_question = True, False
    mods.is_supposed = says_if or inverted or unreal
    carried = before is not None and (before.is_supposed or before.is_hypothetical) and not contrast
    mods.is_hypothetical = carried
    if before is not None and before.is_supposed and clause.verb.modal is None and any(t.low == "and" for t in lead):
        mods.is_supposed = mods.is_supposed or all(t.low == "and" or t.bits & ADV for t in lead)
    mods.is_timed = is_timed(clause, tokens)


def _suppose_backwards(clauses: list[Clause], all_modifiers: list[Modifiers]) -> None:
    """`I'd take X if …`: a conditional verb before the if is as hypothetical as one after it."""
    for n in range(len(clauses) - 1):
        if all_modifiers[n + 1].is_supposed and clauses[n].verb.modal in {"would", "could", "might"}:
            all_modifiers[n].is_hypothetical = True


def _set_report(
    mods: Modifiers, before: Modifiers | None, previous: Clause | None, clause: Clause, lead: list[Token],
    tokens: list[Token],
) -> None:  # fmt: skip
    if previous is None or before is None:
        return
    joined = {t.low for t in lead}
    if not joined & _JOINTS:
        mods.is_supposed = mods.is_supposed or is_denied(previous, clause, tokens)
    if _REPORTING.intersection(previous.verb.lemmas) and not joined & _JOINTS:
        is_own = previous.pronoun is not None and tokens[previous.pronoun].low in _FIRST_PERSON
        is_nobody = previous.pronoun is not None and tokens[previous.pronoun].low == "it"
        mods.is_reported = not is_own and not is_nobody and not clause.is_shared and previous.verb.lemmas != ("know",)
        mods.is_secondhand = mods.is_reported or "hear" in previous.verb.lemmas
        clause.holder = previous
    elif before.is_secondhand and previous.right <= previous.verb.end + 1 and not joined & _JOINTS:
        mods.is_secondhand = True
    elif before.is_reported and (clause.is_shared or "that" in joined):
        mods.is_reported, mods.is_secondhand = True, True


def _set_phrases(mods: Modifiers, clauses: list[Clause], n: int, tokens: list[Token], here: list[Cue]) -> None:
    clause, previous = clauses[n], clauses[n - 1] if n else None
    if previous is not None and previous.verb.modal in _MAY_BE and previous.verb.lemmas == ("be",):
        is_it = previous.pronoun is not None and tokens[previous.pronoun].low == "it"
        mods.hedge = HedgeLevel.STRONG if is_it and previous.right == previous.verb.end else mods.hedge
    if here:
        _set_cued(mods, clauses, n, tokens, here)
    mods.hedge = mods.hedge if _ASSURED.isdisjoint(clause.verb.adverbs) else HedgeLevel.NONE
    is_over = clause.verb.is_past and not clause.verb.is_negated and _ends_later(tokens[clause.verb.end : clause.right])
    mods.has_ended = mods.has_ended or clause.verb.has_ended or clause.verb.used_to or is_over


def _set_cued(mods: Modifiers, clauses: list[Clause], n: int, tokens: list[Token], here: list[Cue]) -> None:
    """What the cues around a clause make of it."""
    clause, previous = clauses[n], clauses[n - 1] if n else None
    following = clauses[n + 1] if n + 1 < len(clauses) else None
    left, right = clause.left, clause.right
    for k in range(n - 1, max(-1, n - 4), -1):
        if not _only_hedges(clauses[k], tokens, here) or "know" in clauses[k].verb.lemmas:
            break
        left = clauses[k].left
    if following is not None and _only_hedges(following, tokens, here) and _is_comment(clauses, n + 1, tokens):
        right = following.right
    since = min(left, previous.verb.end) if previous is not None else left
    for at, _, tag in between(here, since, max(right, clause.verb.end)):
        opens_next = following is not None and at >= clause.verb.end and _opens(tokens, at)
        opened = previous is not None and previous.verb.end <= at < left and _opens(tokens, at)
        if opens_next or not (opened or left <= at < max(right, clause.verb.end)):
            continue
        if tag in LEVELS:
            mods.hedge = max(mods.hedge, LEVELS[tag], key=_ORDER.index)
        elif tag == "secondhand":
            mods.is_secondhand = True
        elif tag == "ended" and clause.verb.is_negated:
            mods.has_ended = True


def _opens(tokens: list[Token], at: int) -> bool:
    """`…, and, according to Ida, he sings`: after an `and` or `but` a cue is about what follows."""
    while at and tokens[at - 1].bits & PUNCT:
        at -= 1
    return at > 0 and tokens[at - 1].low in {"and", "but"}


def _ends_later(after: list[Token]) -> bool:
    """`was a nurse until 2019`: a state that a year ended."""
    return any(t.low in _UNTIL and after[k + 1].low.isdigit() for k, t in enumerate(after[:-1]))


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
    near = between(here, clause.right - LONGEST, clause.right)
    if near and any(c.tag in LEVELS and clause.right <= c.stop and clause.verb.start < c.stop for c in near):
        return True
    is_being = "be" in clause.verb.lemmas
    is_own = clause.pronoun is not None and tokens[clause.pronoun].low in _FIRST_PERSON
    if not is_own or (not is_being and _SELF_HEDGING.isdisjoint(clause.verb.lemmas)):
        return False
    complement = {token.low for token in tokens[clause.verb.end : clause.right] if not token.bits & PUNCT}
    return (not _CERTAIN.isdisjoint(complement) and complement <= _SURE) if is_being else not complement
