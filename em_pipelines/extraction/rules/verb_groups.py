"""Verb groups: auxiliaries, negation, adverbs and the main verb, read as one."""

from em_pipelines.extraction.rules.lexicon import words
from em_pipelines.extraction.rules.tokens import Token
from em_pipelines.extraction.rules.verb_forms import base_after_to, lemmas_of, unlisted
from em_pipelines.extraction.rules.verb_group import VerbGroup
from em_pipelines.extraction.rules.word_classes import (
    ADV,
    AUX,
    BASE,
    BE,
    DO,
    HAVE,
    ING,
    MODAL,
    NEG,
    NOT_IN_PHRASE,
    PARTICIPLE,
    PAST,
    S_FORM,
    SUBJECT,
)

_DAYS = frozenset({"today", "tonight", "tomorrow", "yesterday"})
_BE_PAST = words("words", "be_past")
_HAVE_PAST = words("words", "have_past")
_ADJECTIVES = words("verbs", "participial_adjectives")
_FEELINGS = frozenset(feeling for feeling in words("nouns", "feelings") if "-" in feeling)
"""`I'm fed up` says how somebody feels, not what was done to them."""
_MERELY = frozenset({"just", "only", "merely", "simply"})
"""`not just a nurse` is a nurse, too."""
_RAISING = words("verbs", "raising")
_ENDING = words("verbs", "ending")
_BEGINNING = words("verbs", "beginning")
_OF_STATE = words("verbs", "of_state")
_MODAL_NAMES = {"'ll": "will", "wo": "will", "'d": "would", "ca": "can", "sha": "shall"}


def parse_verb_group(tokens: list[Token], i: int, stop: int) -> VerbGroup:
    """Reads the group that starts at token i."""
    group = VerbGroup(i)
    may_invert = i == 0 or not tokens[i - 1].bits & SUBJECT
    last: Token | None = None
    last_at = i
    j = i
    while j < stop:
        token = tokens[j]
        bits = token.bits
        if token.low == "no" and j + 1 < stop and tokens[j + 1].low == "longer":
            group.is_negated = group.has_ended = True
            j += 2
            continue
        if bits & NEG:
            group.is_negated = j + 1 >= stop or tokens[j + 1].low not in _MERELY
            group.adverbs.append(token.low)
        elif bits & AUX:
            if last is not None and not _may_follow(last, token):
                break
            _note_auxiliary(group, token)
            last, last_at = token, j
        elif bits & SUBJECT and may_invert and last is not None and not group.is_inverted and j == last_at + 1:
            group.is_inverted, group.inverted_subject = True, j
        elif token.low in _DAYS and last is not None:
            break
        elif bits & ADV and not (last is not None and _is_main(token, last)):
            group.adverbs.append(token.low)
        else:
            break
        j += 1
    _set_main(group, tokens, j, stop, last, last_at)
    _look_through(group, tokens, stop)
    return group


def _look_through(group: VerbGroup, tokens: list[Token], stop: int) -> None:
    """`seems to like` likes, `had to sell` sold, `stopped using` no longer uses, `started working` works since then."""
    lemmas = group.lemmas
    following = tokens[group.end] if group.end < stop else None
    if following is None or group.is_passive:
        return
    if _RAISING.intersection(lemmas) and base_after_to(tokens, group.end, stop):
        group.lemmas = lemmas_of(tokens[group.end + 1], BASE) or (tokens[group.end + 1].low,)
        group.main, group.end = group.end + 1, group.end + 2
        return
    if "have" in lemmas and group.is_past and base_after_to(tokens, group.end, stop):
        group.lemmas = lemmas_of(tokens[group.end + 1], BASE) or (tokens[group.end + 1].low,)
        group.main, group.end = group.end + 1, group.end + 2
        return
    is_ending = bool(_ENDING.intersection(lemmas))
    if not (is_ending or _BEGINNING.intersection(lemmas)) or group.is_negated or group.modal or group.is_progressive:
        return
    inner = lemmas_of(following, ING)
    if _OF_STATE.intersection(inner) and (group.is_past or group.is_perfect or "quit" in lemmas):
        group.has_ended, group.has_begun = is_ending, not is_ending
        group.lemmas, group.main, group.end = inner, group.end, group.end + 1


def _may_follow(last: Token, token: Token) -> bool:
    """`have been`, `will have`, `do have`: an auxiliary after another; `is had` is not."""
    if last.bits & BE:
        return token.low == "being" or (last.low == "'s" and token.low == "been")
    if last.bits & HAVE:
        return token.low in {"been", "had"}
    if last.low == "'d" and token.low in {"been", "had"}:
        return True
    return token.low in {"be", "have", "do"}


def _note_auxiliary(group: VerbGroup, token: Token) -> None:
    if token.bits & MODAL:
        group.modal = _MODAL_NAMES.get(token.low, token.low)
    elif token.low in _BE_PAST or token.low in _HAVE_PAST or token.low == "did":
        group.is_past = True
    elif token.low == "been":
        group.is_perfect = True
        if group.modal == "would" and "have" not in group.adverbs:
            group.modal, group.is_past = None, True


def _is_main(token: Token, last: Token) -> bool:
    if last.bits & (DO | MODAL):
        return bool(token.forms & BASE)
    return bool(token.forms & (ING | PARTICIPLE))


def _set_main(group: VerbGroup, tokens: list[Token], j: int, stop: int, last: Token | None, last_at: int) -> None:
    token = tokens[j] if j < stop else None
    if last is None:
        if token is not None:
            _set_finite(group, tokens, j, stop)
        return
    is_feeling = j + 1 < stop and last.bits & BE and f"{tokens[j].low}-{tokens[j + 1].low}" in _FEELINGS
    if token is not None and not is_feeling and _try_main(group, token, last):
        group.main, group.end = j, j + 1
        if "go" in group.lemmas and group.is_progressive and base_after_to(tokens, j + 1, stop):
            group.is_future, group.is_progressive = True, False
            group.main, group.end = j + 2, j + 3
            group.lemmas = lemmas_of(tokens[j + 2], BASE) or (tokens[j + 2].low,)
        return
    group.main, group.end = last_at, max(j if group.is_inverted else last_at + 1, last_at + 1)
    while (group.end < j and tokens[group.end].bits & (NEG | ADV)) or (
        group.end < j and tokens[group.end].low in {"no", "longer"}
    ):
        group.end += 1
    if last.bits & BE:
        group.lemmas = ("be",)
    elif last.bits & HAVE:
        group.lemmas = ("have",)
        group.is_past = group.is_past or last.low == "had"
    elif last.bits & DO:
        group.lemmas = ("do",)
    else:
        group.lemmas = ("would",) if group.modal == "would" else (group.modal or "",)


def _try_main(group: VerbGroup, token: Token, last: Token) -> bool:
    """Whether the token is the main verb after this auxiliary; notes aspect and voice when it is."""
    if last.low == "'s" and token.low == "got":
        group.lemmas = ("have",)
        return True
    if last.bits & BE:
        group.lemmas = () if token.low in _ADJECTIVES else lemmas_of(token, ING)
        if group.lemmas or (
            token.low.endswith("ing")
            and len(token.low) > 5
            and token.low not in _ADJECTIVES
            and not token.is_capital
            and token.bits == 0
        ):
            group.lemmas = group.lemmas or (token.low,)
            group.is_progressive = True
            return True
        group.lemmas = () if token.low in _ADJECTIVES else lemmas_of(token, PARTICIPLE)
        group.is_passive = bool(group.lemmas)
        return group.is_passive
    if last.bits & HAVE:
        group.lemmas = lemmas_of(token, PARTICIPLE)
        if token.low == "got":
            group.lemmas = ("have",)
            return True
        group.is_perfect = bool(group.lemmas)
        return group.is_perfect
    group.lemmas = lemmas_of(token, BASE)
    if (
        not group.lemmas
        and (last.bits & MODAL or (last.bits & DO and (group.is_negated or group.is_inverted)))
        and not token.bits & (NOT_IN_PHRASE | ADV)
        and not token.is_capital
    ):
        group.lemmas = (token.low,)
    return bool(group.lemmas)


def _set_finite(group: VerbGroup, tokens: list[Token], j: int, stop: int) -> None:
    token = tokens[j]
    group.main, group.end = j, j + 1
    group.lemmas = tuple((token.verbs or {}).keys()) or unlisted(token.low)
    kinds = 0
    for kind in (token.verbs or {}).values():
        kinds |= kind
    if token.low == "used" and base_after_to(tokens, j + 1, stop):
        group.used_to = True
        group.main, group.end = j + 2, j + 3
        group.lemmas = lemmas_of(tokens[j + 2], BASE) or (tokens[j + 2].low,)
    elif token.verbs:
        group.is_participle = bool(kinds & PARTICIPLE) and not kinds & (BASE | S_FORM)
        group.is_past = bool(kinds & PAST) and not kinds & (BASE | S_FORM)
        group.is_progressive = bool(kinds & ING) and not kinds & (BASE | S_FORM | PAST)
    else:
        group.is_past = token.low.endswith("ed")
