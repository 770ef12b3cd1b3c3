"""Verb groups: auxiliaries, negation, adverbs and the main verb, read as one; and which verbs a word is a form of."""

from em_pipelines.language.en.lexicon import words
from em_pipelines.language.en.tokens import (
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
    WORD_BITS,
    Token,
    low_at,
    token_at,
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
_BEFORE_MAIN = AUX | NEG | ADV | SUBJECT
"""Only words of these classes, and `no longer`, stand before the main verb."""
_MODAL_NAMES = {"'ll": "will", "wo": "will", "'d": "would", "ca": "can", "sha": "shall"}


def unlisted(low: str) -> tuple[str, ...]:
    """What a verb that no list knows may be a form of."""
    return (low, low[:-1]) if low.endswith("s") else (low,)


def lemmas_of(token: Token, kind: int) -> tuple[str, ...]:
    """The verbs of which the token is a form of this kind (`word_classes.BASE`, …)."""
    if token.verbs is None:
        return ("be",) if kind & BASE and token.low == "be" else ()
    return tuple(lemma for lemma, kinds in token.verbs.items() if kinds & kind)


def base_after_to(tokens: list[Token], j: int, stop: int) -> bool:
    """Whether `to` and the base of a verb start at token j."""
    if j + 1 >= stop or tokens[j].low != "to":
        return False
    token = tokens[j + 1]
    return (
        bool(lemmas_of(token, BASE))
        or token.low in {"be", "have", "do"}
        or (WORD_BITS.get(token.low, 0) == 0 and token.verbs is None and not token.is_capital)
    )


def is_ing(token: Token) -> bool:
    """Whether the word is the -ing form of a verb, listed or not."""
    return bool(token.forms & ING) if token.verbs is not None else _ends_as_ing(token)


def _ends_as_ing(token: Token) -> bool:
    """Whether a word that no list knows looks like the -ing form of a verb."""
    return token.low.endswith("ing") and len(token.low) > 5 and token.bits == 0 and not token.is_capital


class VerbGroup:
    """Tokens `start` to `end`; `lemmas` are what the main verb may be a form of."""

    __slots__ = (
        "adverbs",
        "end",
        "has_begun",
        "has_ended",
        "inverted_subject",
        "is_future",
        "is_inverted",
        "is_negated",
        "is_participle",
        "is_passive",
        "is_past",
        "is_perfect",
        "is_progressive",
        "lemmas",
        "main",
        "modal",
        "start",
        "used_to",
    )  # fmt: skip

    def __init__(self, start: int) -> None:
        self.start = start
        self.end = start + 1
        self.main = start
        self.lemmas: tuple[str, ...] = ()
        self.modal: str | None = None
        self.adverbs: list[str] = []
        self.is_negated = False
        self.has_ended = False
        """`no longer`, `not … any more`, `stopped using`: it did hold before."""
        self.has_begun = False
        """`started using`: it holds since then."""
        self.used_to = False
        self.is_past = False
        self.is_perfect = False
        self.is_progressive = False
        self.is_passive = False
        self.is_future = False
        self.is_participle = False
        """`based in …`, without an auxiliary: passive where the subject is not said."""
        self.is_inverted = False
        self.inverted_subject: int | None = None


def parse_verb_group(tokens: list[Token], i: int, stop: int) -> VerbGroup:
    """Reads the group that starts at token i."""
    if tokens[i].bits & _BEFORE_MAIN or tokens[i].low == "no":
        group = _GroupReader(tokens, i, stop).read()
    else:
        group = VerbGroup(i)
        _set_finite(group, tokens, i, stop)
    _look_through(group, tokens, stop)
    if low_at(tokens, group.end, stop) == "neither" and any(t.low == "nor" for t in tokens[group.end : stop]):
        group.is_negated, group.end = True, group.end + 1  # "like neither olives nor capers"
    return group


class _GroupReader:
    """Reads one group: auxiliaries, negation and adverbs up to token `at`, then the main verb."""

    __slots__ = ("at", "group", "last", "last_at", "may_invert", "stop", "tokens")

    def __init__(self, tokens: list[Token], i: int, stop: int) -> None:
        self.tokens = tokens
        self.stop = stop
        self.group = VerbGroup(i)
        self.may_invert = i == 0 or not tokens[i - 1].bits & SUBJECT
        self.last: Token | None = None
        """The last auxiliary, which stands at `last_at`."""
        self.last_at = i
        self.at = i

    def read(self) -> VerbGroup:
        while self.at < self.stop and (length := self._take(self.tokens[self.at])):
            self.at += length
        main = token_at(self.tokens, self.at, self.stop)
        if self.last is None:
            if main is not None:
                _set_finite(self.group, self.tokens, self.at, self.stop)
        elif main is None or not self._try_main(main, self.last):
            self._make_main(self.last)
        return self.group

    def _take(self, token: Token) -> int:
        """Notes what the token says before the main verb; gives how many tokens it takes, none where it does not."""
        group = self.group
        if token.low == "no" and low_at(self.tokens, self.at + 1, self.stop) == "longer":
            group.is_negated = group.has_ended = True
            return 2
        if token.bits & NEG:
            group.is_negated = low_at(self.tokens, self.at + 1, self.stop) not in _MERELY
            group.adverbs.append(token.low)
            return 1
        if token.bits & AUX:
            return self._take_auxiliary(token)
        if token.bits & SUBJECT and self._is_inverted():
            group.is_inverted, group.inverted_subject = True, self.at
            return 1
        return self._take_adverb(token)

    def _take_auxiliary(self, token: Token) -> int:
        if self.last is not None and not _may_follow(self.last, token):
            return 0
        _note_auxiliary(self.group, token)
        self.last, self.last_at = token, self.at
        return 1

    def _is_inverted(self) -> bool:
        """`did she`: whether a subject pronoun here is that of the group."""
        is_behind = self.last is not None and self.at == self.last_at + 1
        return is_behind and self.may_invert and not self.group.is_inverted

    def _take_adverb(self, token: Token) -> int:
        if self.last is not None and token.low in _DAYS:
            return 0
        if not token.bits & ADV or (self.last is not None and _is_main(token, self.last)):
            return 0
        self.group.adverbs.append(token.low)
        return 1

    def _try_main(self, token: Token, last: Token) -> bool:
        """Makes the token the main verb where it can be one after this auxiliary."""
        group, at = self.group, self.at
        if last.bits & BE and f"{token.low}-{low_at(self.tokens, at + 1, self.stop)}" in _FEELINGS:
            return False
        if not _is_main_after(group, token, last):
            return False
        group.main, group.end = at, at + 1
        if "go" in group.lemmas and group.is_progressive and base_after_to(self.tokens, at + 1, self.stop):
            group.is_future, group.is_progressive = True, False
            _take_infinitive(group, self.tokens, at + 1)
        return True

    def _make_main(self, last: Token) -> None:
        """Makes the last auxiliary the main verb, with the negation and adverbs behind it."""
        group = self.group
        group.main, group.end = self.last_at, self.at if group.is_inverted else self.last_at + 1
        while group.end < self.at and _is_negation_or_adverb(self.tokens[group.end]):
            group.end += 1
        if last.bits & BE:
            group.lemmas = ("be",)
        elif last.bits & HAVE:
            group.lemmas = ("have",)
            group.is_past = group.is_past or last.low == "had"
        else:
            group.lemmas = ("do",) if last.bits & DO else (group.modal or "",)


def _is_negation_or_adverb(token: Token) -> bool:
    return bool(token.bits & (NEG | ADV)) or token.low in {"no", "longer"}


def _take_infinitive(group: VerbGroup, tokens: list[Token], to: int) -> None:
    """Makes the base verb after the `to` at this token the main verb."""
    group.main, group.end = to + 1, to + 2
    group.lemmas = lemmas_of(tokens[to + 1], BASE) or (tokens[to + 1].low,)


def _look_through(group: VerbGroup, tokens: list[Token], stop: int) -> None:
    """`seems to like` likes, `had to sell` sold, `stopped using` no longer uses, `started working` works since then."""
    if group.end >= stop or group.is_passive:
        return
    lemmas = group.lemmas
    is_of_infinitive = bool(_RAISING.intersection(lemmas)) or ("have" in lemmas and group.is_past)
    if is_of_infinitive and base_after_to(tokens, group.end, stop):
        _take_infinitive(group, tokens, group.end)
    elif not (group.is_negated or group.modal or group.is_progressive):
        _look_through_bound(group, tokens)


def _look_through_bound(group: VerbGroup, tokens: list[Token]) -> None:
    """`stopped`, `started` before a verb of state: the state ended or began."""
    is_ending = bool(_ENDING.intersection(group.lemmas))
    if not is_ending and _BEGINNING.isdisjoint(group.lemmas):
        return
    state = lemmas_of(tokens[group.end], ING)
    if _OF_STATE.intersection(state) and (group.is_past or group.is_perfect or "quit" in group.lemmas):
        group.has_ended, group.has_begun = is_ending, not is_ending
        group.lemmas, group.main, group.end = state, group.end, group.end + 1


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


def _is_main_after(group: VerbGroup, token: Token, last: Token) -> bool:
    """Whether the token is the main verb after this auxiliary; notes lemmas, aspect and voice when it is."""
    if token.low == "got" and (last.low == "'s" or (last.bits & HAVE and not last.bits & BE)):
        group.lemmas = ("have",)
    elif last.bits & BE:
        _note_after_be(group, token)
    elif last.bits & HAVE:
        group.lemmas = lemmas_of(token, PARTICIPLE)
        group.is_perfect = bool(group.lemmas)
    else:
        group.lemmas = lemmas_of(token, BASE)
        if not group.lemmas and _takes_any_verb(group, last) and _may_be_unlisted(token):
            group.lemmas = (token.low,)
    return bool(group.lemmas)


def _note_after_be(group: VerbGroup, token: Token) -> None:
    if token.low in _ADJECTIVES:
        return
    group.lemmas = lemmas_of(token, ING) or ((token.low,) if _ends_as_ing(token) else ())
    if group.lemmas:
        group.is_progressive = True
    else:
        group.lemmas = lemmas_of(token, PARTICIPLE)
        group.is_passive = bool(group.lemmas)


def _takes_any_verb(group: VerbGroup, last: Token) -> bool:
    """Whether only a verb can follow, be it listed or not: after a modal, and after a `do` that denies or asks."""
    return bool(last.bits & MODAL) or (bool(last.bits & DO) and (group.is_negated or group.is_inverted))


def _may_be_unlisted(token: Token) -> bool:
    return not token.bits & (NOT_IN_PHRASE | ADV) and not token.is_capital


def _set_finite(group: VerbGroup, tokens: list[Token], j: int, stop: int) -> None:
    """Makes the token, before which no auxiliary stands, the main verb."""
    token = tokens[j]
    kinds = token.forms
    group.main, group.end = j, j + 1
    group.lemmas = tuple(token.verbs or ()) or unlisted(token.low)
    if token.low == "used" and base_after_to(tokens, j + 1, stop):
        group.used_to = True
        _take_infinitive(group, tokens, j + 1)
    elif token.verbs:
        is_present = bool(kinds & (BASE | S_FORM))
        group.is_participle = bool(kinds & PARTICIPLE) and not is_present
        group.is_past = bool(kinds & PAST) and not is_present
        group.is_progressive = bool(kinds & ING) and not kinds & (BASE | S_FORM | PAST)
    else:
        group.is_past = token.low.endswith("ed")
