"""Matching one frame on one clause: the conditions on its verb, the slots on both sides of it, and whom it is about:
the speaker, somebody named, the one a pronoun can mean, or a thing.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from em_pipelines.extraction.rules.kinds import is_kind
from em_pipelines.extraction.rules.modifiers import Modifiers
from em_pipelines.extraction.rules.names import Reading, is_name
from em_pipelines.extraction.rules.patterns import Element, Pattern, PatternSpec
from em_pipelines.extraction.rules.people import People, Referent, refer, speaker
from em_pipelines.extraction.rules.slots import Fill, fill_slot
from em_pipelines.language.en.clauses import Clause
from em_pipelines.language.en.noun_phrases import FIRST_PERSON, NounPhrase, parse_noun_phrase
from em_pipelines.language.en.tokens import ADV, POSS, PREP, PUNCT
from em_pipelines.language.en.verb_groups import VerbGroup
from em_pipelines.schema.vocabulary import EntityType

Slots = dict[str, list[Fill]]

_MAX_GUESSES = 3
_PERSON, _EVENT, _OCCASION = frozenset({"person"}), frozenset({"event"}), frozenset({"occasion"})
_SOMEBODY = frozenset({"somebody", "someone"})
_MAX_GAP = 8
_ADV_OR_PREP = ADV | PREP
"""Adverbs may stand before what is looked for, but none that is a preposition as well, which may begin it."""


@dataclass(frozen=True, slots=True)
class Match:
    """A frame that fits a clause: how the clause is meant, whom it is about, and what fills the frame's slots."""

    reading: Reading
    pattern: Pattern
    clause: Clause
    mods: Modifiers
    subjects: list[Referent]
    slots: Slots

    @property
    def objects(self) -> list[Fill]:
        """What fills the slot of the claim's other end."""
        return self.slots.get(self.pattern.spec.object, [])


class ClauseMatcher:
    """Fits patterns on one clause: first their conditions on its verb, then the elements of their frames.

    `is_lasting`: the clause says that what it tells still holds.
    """

    def __init__(self, reading: Reading, clause: Clause, mods: Modifiers, *, is_lasting: bool) -> None:
        self.reading = reading
        self.clause = clause
        self.mods = mods
        self._is_bare = clause.is_shared or (clause.pronoun is None and not clause.subject)
        self._is_lasting = is_lasting
        self._walk = _Walk(reading, clause.right, either=clause.verb.is_negated)

    def allowed(self, patterns: list[Pattern]) -> list[Pattern]:
        """Those with which tense, modal verb and their own needs allow this verb; many make the same conditions."""
        known: dict[str, bool] = {}
        allowed = []
        for pattern in patterns:
            conditions = pattern.verb_conditions
            if conditions not in known:
                known[conditions] = self._fits(pattern.spec)
            if known[conditions]:
                allowed.append(pattern)
        return allowed

    def slots(self, pattern: Pattern) -> Slots | None:
        """What fills the slots of the frame on both sides of the verb; None where its words do not fit."""
        left: Slots | None = None
        if not pattern.takes_clause_subject:
            left = self._left(pattern)
            if left is None:
                return None
        right = self._walk.fill(pattern.right, self.clause.verb.end)
        return left | right if left and right is not None else right

    def _left(self, pattern: Pattern) -> Slots | None:
        """The slots of a frame that spells out its subject, `my favourite {key} <be> …`; it must fit whole."""
        clause = self.clause
        if clause.pronoun is not None or len(clause.subject) != 1 or clause.is_relative:
            return None
        phrase = clause.subject[0]
        return _Walk(self.reading, phrase.end, either=False).fill(pattern.left, phrase.start, is_whole=True)

    def _fits(self, spec: PatternSpec) -> bool:
        verb, mods = self.clause.verb, self.mods
        if mods.is_timed and not spec.may_be_timed:
            return False
        if verb.modal is not None and not _modal_fits(spec, verb, mods):
            return False
        if verb.is_future:  # most of what people are going to do is over by tomorrow
            return False
        return self._tense_fits(spec) and self._meets_needs(spec)

    def _tense_fits(self, spec: PatternSpec) -> bool:
        verb = self.clause.verb
        is_passive_of_notes = self._is_bare and verb.is_participle and "passive" in spec.needs
        if spec.tense == "any" or is_passive_of_notes or _tells_when_it_held(verb, self.mods):
            return True
        is_past = _is_past(verb, is_lasting=self._is_lasting)
        if spec.tense == "past":
            return is_past
        return not is_past and not (spec.tense == "simple" and verb.is_progressive)

    def _meets_needs(self, spec: PatternSpec) -> bool:
        verb, mods = self.clause.verb, self.mods
        if not spec.needs:
            return not verb.is_passive
        has = {
            "modal": verb.modal in spec.modals,
            "negation": verb.is_negated,
            "progressive": verb.is_progressive,
            "rather": verb.modal == "would" and "rather" in verb.adverbs,
            "hypothetical": mods.is_hypothetical,
            "passive": verb.is_passive or (verb.is_participle and spec.may_drop_subject and self._is_bare),
        }
        return all(has[need] for need in spec.needs) and (not verb.is_passive or "passive" in spec.needs)


def _modal_fits(spec: PatternSpec, verb: VerbGroup, mods: Modifiers) -> bool:
    if verb.modal in spec.modals:
        return True
    is_condition = mods.is_hypothetical and verb.modal == "would"
    return is_condition or (mods.is_guess and verb.modal == "might" and not spec.needs)


def _tells_when_it_held(verb: VerbGroup, mods: Modifiers) -> bool:
    """`has never`, `used to`, `started`, `no longer`: the verb says itself whether it holds, whatever its tense."""
    if verb.used_to or verb.has_begun:
        return True
    return (verb.is_perfect and "never" in verb.adverbs) or (mods.has_ended and (verb.is_past or verb.is_perfect))


def _is_past(verb: VerbGroup, *, is_lasting: bool) -> bool:
    return verb.is_past or (verb.is_perfect and not verb.is_progressive and not is_lasting)


class _Walk:
    """Fits the elements of one frame after the other on the tokens up to `stop`; it fills `slots` on its way."""

    __slots__ = ("either", "elements", "reading", "slots", "stop", "tokens")

    def __init__(self, reading: Reading, stop: int, *, either: bool) -> None:
        self.reading = reading
        self.tokens = reading.tokens
        self.elements: tuple[Element, ...] = ()
        self.stop = stop
        self.either = either
        self.slots: Slots = {}

    def fill(self, elements: tuple[Element, ...], i: int, *, is_whole: bool = False) -> Slots | None:
        """What fills the slots when the first element is looked for at token i; None where the elements do not fit.

        `is_whole`: they must take all tokens.
        """
        self.elements, self.slots = elements, {}
        end = self.end_of(0, i)
        return None if end is None or (is_whole and end != self.stop) else self.slots

    def end_of(self, n: int, i: int) -> int | None:
        """The token after the elements from n on, when the first of them is looked for at token i; None: no fit."""
        if n == len(self.elements):
            return i
        element = self.elements[n]
        if element.kind == "slot":
            return self._slot(element, n, i)
        if element.kind == "word":
            return self._word(element, n, i)
        if element.kind == "gap":
            return self._gap(n, i)
        is_barred = i < self.stop and self.tokens[i].low in element.words
        return None if is_barred else self.end_of(n + 1, i)

    def _slot(self, element: Element, n: int, i: int) -> int | None:
        while (filled := fill_slot(self.reading, element.words, i, self.stop, either=self.either)) is None:
            if i >= self.stop or self.tokens[i].bits & _ADV_OR_PREP != ADV:
                return None
            i += 1
        fills, end = filled
        self.slots[element.name] = fills
        return self.end_of(n + 1, end)

    def _word(self, element: Element, n: int, i: int) -> int | None:
        at, tokens = i, self.tokens
        while at < self.stop and tokens[at].low not in element.words and tokens[at].bits & _ADV_OR_PREP == ADV:
            at += 1
        if at < self.stop and tokens[at].low in element.words:
            return self.end_of(n + 1, at + 1)
        return self.end_of(n + 1, i) if element.is_optional else None

    def _gap(self, n: int, i: int) -> int | None:
        wanted = self._word_needed(n + 1)
        for k in range(i, min(self.stop, i + _MAX_GAP) + 1):
            if k > i and self._ends_gap(k - 1):
                return None
            if wanted and not self._leads_to(wanted, k):
                continue
            end = self.end_of(n + 1, k)
            if end is not None:
                return end
        return None

    def _ends_gap(self, i: int) -> bool:
        """No gap goes across a mark, but for commas."""
        return bool(self.tokens[i].bits & PUNCT) and self.tokens[i].low != ","

    def _leads_to(self, wanted: frozenset[str], i: int) -> bool:
        return i < self.stop and (self.tokens[i].low in wanted or bool(self.tokens[i].bits & ADV))

    def _word_needed(self, n: int) -> frozenset[str]:
        """The words of which one must come next, but for adverbs; empty where none must."""
        if n < len(self.elements) and self.elements[n].kind == "word" and not self.elements[n].is_optional:
            return self.elements[n].words
        return frozenset()


class Subjects:
    """Whom the clauses of one message are about: its speaker, somebody named, whom a pronoun means, or a thing."""

    def __init__(self, reading: Reading, people: People, speaker_name: str) -> None:
        self.reading = reading
        self.people = people
        self.speaker_name = speaker_name

    def of(self, pattern: Pattern, clause: Clause, slots: Slots) -> list[Referent]:
        """The subjects of a matched pattern; none where they are not certain."""
        said = pattern.spec.subject
        if said == "speaker":
            return [speaker(self.speaker_name, clause.lead)]
        if said == "unnamed":
            return [self.people.unnamed[0]] if self.people.unnamed is not None else []
        if said != "subject" or not pattern.takes_clause_subject:
            return [who for fill in slots.get(said, ()) for who in self._in_slot(fill)]
        return self._of_clause(pattern, clause)

    def _in_slot(self, fill: Fill) -> list[Referent]:
        """`Lena's`, and `her` where that is one person."""
        if fill.phrase is not None:
            return [refer(self.reading, fill.phrase)]
        return self._pronoun(fill.start, _PERSON) if self.reading.tokens[fill.start].bits & POSS else []

    def meet_speakers(self, clauses: list[Clause]) -> None:
        """Whoever is reported to say or think something is a person, at the start of a sentence too."""
        for clause in clauses:
            for phrase in clause.holder.subject if clause.holder is not None else ():
                if phrase.det is None and is_name(self.reading, phrase):
                    self.people.meet(refer(self.reading, phrase))

    def _of_clause(self, pattern: Pattern, clause: Clause) -> list[Referent]:
        kinds = pattern.left[0].words
        if clause.is_own:
            return [speaker(self.speaker_name, clause.lead)] if "person" in kinds else []
        if clause.pronoun is not None:
            meant = self._pronoun(clause.pronoun, kinds)
            return meant if pattern.spec.object == "companion" else meant + self._companion(clause, kinds)
        if "person" in kinds and (guessed := self._somebody(clause, kinds)):
            return guessed
        if clause.subject:
            return self._named(clause, kinds)
        return self._dropped(pattern, clause, kinds)

    def _companion(self, clause: Clause, kinds: frozenset[str]) -> list[Referent]:
        """Ida, in `Ida and I`."""
        if clause.companion is None:
            return []
        other = refer(self.reading, clause.companion)
        return [other] if other.entity_type is EntityType.PERSON and self._fits(other, clause.companion, kinds) else []

    def _dropped(self, pattern: Pattern, clause: Clause, kinds: frozenset[str]) -> list[Referent]:
        """`Prefer aisle seats`, `Finished it`: no verb in the third person, nor of `someone`, nor behind a noun."""
        if clause.is_behind_verb or not pattern.spec.may_drop_subject or kinds.isdisjoint({"person", "self"}):
            return []
        before, low = (self.reading.tokens[max(0, k)].low for k in (clause.verb.start - 1, clause.verb.start))
        is_own = not low.endswith("s") or low.endswith("ss") or low in {"was", "'s"}
        return [speaker(self.speaker_name, clause.verb.start)] if is_own and before not in _SOMEBODY else []

    def _named(self, clause: Clause, kinds: frozenset[str]) -> list[Referent]:
        fitting = self._fitting(clause.subject, kinds)
        for person in fitting:
            self.people.meet(person)
        clause.is_uncertain = len(fitting) > 1 and self._has_or(clause.subject)
        return fitting

    def _has_or(self, phrases: list[NounPhrase]) -> bool:
        return any(self.reading.tokens[k].low == "or" for k in range(phrases[0].end, phrases[-1].start))

    def _fitting(self, phrases: list[NounPhrase], kinds: frozenset[str]) -> list[Referent]:
        meant = [(refer(self.reading, phrase), phrase) for phrase in phrases]
        return [referent for referent, phrase in meant if self._fits(referent, phrase, kinds)]

    def _somebody(self, clause: Clause, kinds: frozenset[str]) -> list[Referent]:
        """`somebody here hates cumin, Jonne or maybe Ida`: the names after a clause about somebody."""
        before = self.reading.tokens[max(clause.left, clause.verb.start - 4) : clause.verb.start]
        if not any(token.low in _SOMEBODY for token in before):
            return []
        clause.is_uncertain = True
        guesses: list[Referent] = []
        for phrase in self._names_from(clause.verb.end):
            guesses += self._fitting([phrase], kinds)
            if len(guesses) == _MAX_GUESSES:
                break
        return guesses

    def _names_from(self, i: int) -> Iterator[NounPhrase]:
        """The names from a token to the end of its sentence."""
        tokens = self.reading.tokens
        while i < len(tokens) and tokens[i].low not in ".!?\n":
            phrase = parse_noun_phrase(tokens, i, len(tokens)) if tokens[i].is_capital else None
            if phrase is not None and is_name(self.reading, phrase):
                yield phrase
            i = phrase.end if phrase is not None else i + 1

    def _it(self, token: int) -> list[Referent]:
        thing = self.people.it()
        return [] if thing is None else [Referent(thing.name, thing.entity_type, token, token + 1)]

    def _pronoun(self, token: int, kinds: frozenset[str]) -> list[Referent]:
        low = self.reading.tokens[token].low
        if low == "it":
            return self._it(token) if kinds & {"thing", "event", "matter"} else []
        if not kinds & {"person", "self", "any"}:
            return []
        if low in FIRST_PERSON:
            return [speaker(self.speaker_name, token)]
        met = () if "self" in kinds else self.people.all_named_by(low)
        return [Referent(p.name, p.entity_type, token, token + 1, p.gender, p.kin) for p in met]

    def _fits(self, meant: Referent, phrase: NounPhrase, kinds: frozenset[str]) -> bool:
        """Whether a frame whose subject is of these kinds may be about this."""
        if "any" in kinds:
            return True
        if "matter" in kinds:
            return not meant.kin and not meant.gender
        if "occasion" in kinds:
            is_somebody = meant.entity_type is EntityType.PERSON or meant.kin
            return not is_somebody and is_kind(self.reading, _OCCASION, phrase)
        return self._kin_fits(meant, phrase, kinds) if meant.kin else self._other_fits(meant, phrase, kinds)

    def _kin_fits(self, meant: Referent, phrase: NounPhrase, kinds: frozenset[str]) -> bool:
        """A relative or a pet of whom it is known whose: the speaker's, somebody's, or called by name."""
        wanted = {EntityType.PERSON: "person", EntityType.ANIMAL: "pet"}.get(meant.entity_type)
        if wanted not in kinds:
            return False
        if meant.is_own or phrase.possessor_phrase is not None or not meant.is_unnamed:
            return True
        return phrase.possessor is not None and not meant.is_unowned

    def _other_fits(self, meant: Referent, phrase: NounPhrase, kinds: frozenset[str]) -> bool:
        is_person = meant.entity_type is EntityType.PERSON
        if is_person and kinds & {"person", "named"}:
            return is_name(self.reading, phrase)
        return (not is_person and "thing" in kinds) or ("event" in kinds and is_kind(self.reading, _EVENT, phrase))
