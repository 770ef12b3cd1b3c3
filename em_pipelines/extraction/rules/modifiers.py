"""What a clause is worth: hedged, asked, supposed, reported, mocked or vented. Computed once, for every pattern alike.

The phrases are data (`patterns/lexicon/hedges.yaml`); the scopes are here: a condition reaches to the next `but`, a
question from its inverted verb onward, a report over the clause after its verb.
"""

from em_pipelines.extraction.rules.clause import Clause
from em_pipelines.extraction.rules.lexicon import load_lexicon, words
from em_pipelines.extraction.rules.tokens import Token, tokenise
from em_pipelines.extraction.rules.word_classes import CONDITION, CONTRAST, PUNCT, WH
from em_pipelines.vocabulary import HedgeLevel

_LEVELS = {"slight": HedgeLevel.SLIGHT, "moderate": HedgeLevel.MODERATE, "strong": HedgeLevel.STRONG}
_ORDER = [HedgeLevel.NONE, HedgeLevel.SLIGHT, HedgeLevel.MODERATE, HedgeLevel.STRONG]
_REPORTING = words("verbs", "reporting")
_SELF_HEDGING = words("verbs", "self_hedging")
_FIRST_PERSON = words("words", "first_person")
_UNREAL = frozenset({"wish", "hope", "imagine", "pretend", "suppose"})
_TIMED = frozenset({"when", "whenever", "until", "till", "before", "after", "once", "while"})
_INVERTED_CONDITION = frozenset({"had", "were", "should"})
_SURE = words("words", "certainty")
_ENDED = (("any", "more"), ("anymore",), ("any", "longer"))


class Modifiers:
    """How one clause is meant. `is_supposed`: stands in an if; `is_hypothetical`: would hold only then."""

    __slots__ = (
        "has_ended", "hedge", "is_hypothetical", "is_question", "is_reported", "is_sarcastic", "is_secondhand",
        "is_supposed", "is_timed", "is_venting",
    )  # fmt: skip

    def __init__(self) -> None:
        self.hedge = HedgeLevel.NONE
        self.has_ended = False
        self.is_hypothetical = False
        self.is_question = False
        self.is_reported = False
        self.is_sarcastic = False
        self.is_secondhand = False
        self.is_supposed = False
        self.is_timed = False
        self.is_venting = False


Phrase = tuple[int, str]
"""(first token, tag)"""


def _phrases_by_first_word() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    index: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for tag, phrases in load_lexicon("hedges").items():
        for phrase in phrases:
            parts = tuple(token.low for token in tokenise(phrase.strip()))
            index.setdefault(parts[0], []).append((parts, tag))
    for parts in _ENDED:
        index.setdefault(parts[0], []).append((parts, "ended"))
    return index


_PHRASES = _phrases_by_first_word()


def find_phrases(tokens: list[Token]) -> list[Phrase]:
    """Every listed phrase in the message, in order."""
    found: list[Phrase] = []
    for i, token in enumerate(tokens):
        listed = _PHRASES.get(token.low)
        if listed is None:
            continue
        for parts, tag in listed:
            if len(parts) == 1 or tuple(t.low for t in tokens[i : i + len(parts)]) == parts:
                found.append((i, tag))
    return found


def set_modifiers(
    clauses: list[Clause], tokens: list[Token], start: int, stop: int, phrases: list[Phrase]
) -> list[Modifiers]:
    """The modifiers of the clauses of one sentence, from `start` to `stop`."""
    here = [phrase for phrase in phrases if start <= phrase[0] <= stop] if phrases else []
    is_sarcastic = any(tag == "sarcasm" for _, tag in here) or any(tag == "mockery" for _, tag in phrases)
    is_venting = any(tag == "venting" for _, tag in phrases)
    is_asked = stop < len(tokens) and tokens[stop].low == "?"
    all_modifiers: list[Modifiers] = []
    for n, clause in enumerate(clauses):
        mods = Modifiers()
        mods.is_sarcastic, mods.is_venting = is_sarcastic, is_venting
        before = all_modifiers[n - 1] if n else None
        previous = clauses[n - 1] if n else None
        lead = tokens[clause.left : clause.lead]
        _set_question(mods, before, clause, lead, is_asked)
        _set_condition(mods, before, previous, clause, lead, tokens)
        _set_report(mods, before, previous, clause, lead, tokens)
        _set_phrases(mods, clause, previous, clauses[n + 1] if n + 1 < len(clauses) else None, tokens, here)
        all_modifiers.append(mods)
    _suppose_backwards(clauses, all_modifiers)
    return all_modifiers


def _set_question(mods: Modifiers, before: Modifiers | None, clause: Clause, lead: list[Token], is_asked: bool) -> None:
    asks = clause.verb.is_inverted or (is_asked and any(t.bits & WH and t.low != "that" for t in lead))
    if not asks and is_asked and clause.pronoun is None and not clause.subject:
        asks = not clause.verb.is_past
    broken = any(t.bits & (PUNCT | CONTRAST) for t in lead)
    mods.is_question = asks or (before is not None and before.is_question and not broken)


def _set_condition(
    mods: Modifiers,
    before: Modifiers | None,
    previous: Clause | None,
    clause: Clause,
    lead: list[Token],
    tokens: list[Token],
) -> None:
    contrast = any(t.bits & CONTRAST for t in lead)
    first = tokens[clause.verb.start].low
    says_if = any(t.bits & CONDITION for t in lead) and not any(
        t.low in {"so", "but"} for t in lead[:-1] if t.low == "but"
    )
    inverted = clause.verb.is_inverted and first in _INVERTED_CONDITION and not mods.is_question
    unreal = previous is not None and bool(_UNREAL.intersection(previous.verb.lemmas)) and not contrast
    if clause.verb.is_inverted and first in {"had", "were"}:
        inverted, mods.is_question = True, False
    mods.is_supposed = says_if or inverted or unreal
    carried = before is not None and (before.is_supposed or before.is_hypothetical) and not contrast
    mods.is_hypothetical = carried
    mods.is_timed = any(t.low in _TIMED or (t.low == "since" and clause.verb.is_past) for t in lead)


def _suppose_backwards(clauses: list[Clause], all_modifiers: list[Modifiers]) -> None:
    """`I'd take X if …`: a conditional verb before the if is as hypothetical as one after it."""
    for n in range(len(clauses) - 1):
        if all_modifiers[n + 1].is_supposed and clauses[n].verb.modal in {"would", "could", "might"}:
            all_modifiers[n].is_hypothetical = True


def _set_report(
    mods: Modifiers,
    before: Modifiers | None,
    previous: Clause | None,
    clause: Clause,
    lead: list[Token],
    tokens: list[Token],
) -> None:
    if previous is None or before is None:
        return
    joined = {t.low for t in lead}
    if _REPORTING.intersection(previous.verb.lemmas) and not joined & {"and", "but", "because", "so", "who", "which"}:
        is_own = previous.pronoun is not None and tokens[previous.pronoun].low in _FIRST_PERSON
        mods.is_reported = not is_own and not clause.is_shared and previous.verb.lemmas != ("know",)
        mods.is_secondhand = mods.is_reported or "hear" in previous.verb.lemmas
    elif before.is_reported and (clause.is_shared or "that" in joined):
        mods.is_reported, mods.is_secondhand = True, True


def _set_phrases(
    mods: Modifiers,
    clause: Clause,
    previous: Clause | None,
    following: Clause | None,
    tokens: list[Token],
    here: list[Phrase],
) -> None:
    left, right = clause.left, clause.right
    if previous is not None and _only_hedges(previous, tokens):
        left = previous.left
    if following is not None and _only_hedges(following, tokens):
        right = following.right
    for at, tag in here:
        if not left <= at < max(right, clause.verb.end):
            continue
        if tag in _LEVELS:
            mods.hedge = max(mods.hedge, _LEVELS[tag], key=_ORDER.index)
        elif tag == "secondhand":
            mods.is_secondhand = True
        elif tag == "ended" and clause.verb.is_negated:
            mods.has_ended = True
    mods.has_ended = mods.has_ended or clause.verb.has_ended or clause.verb.used_to


def _only_hedges(clause: Clause, tokens: list[Token]) -> bool:
    """`I think`, `I guess`: said of oneself, and nothing but the next clause after it."""
    is_own = clause.pronoun is not None and tokens[clause.pronoun].low in _FIRST_PERSON
    if is_own and "be" in clause.verb.lemmas:
        complement = {token.low for token in tokens[clause.verb.end : clause.right]}
        return "sure" in complement and complement <= _SURE
    return is_own and bool(_SELF_HEDGING.intersection(clause.verb.lemmas)) and clause.right == clause.verb.end
