"""What the clauses that hold the object of a claim say against it: another subject, or the other polarity.

Works on the parse of the rules, without their patterns; of those only the verbs are taken. All clauses that hold most
words of the object have to say the same.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import NamedTuple

from em_pipelines.extraction.rules.message import Sentence
from em_pipelines.extraction.rules.modifiers import Modifiers
from em_pipelines.extraction.rules.names import ROLES
from em_pipelines.extraction.rules.patterns import Pattern, PatternIndex, load_patterns
from em_pipelines.extraction.rules.people import GENDER_OF, People, refer
from em_pipelines.extraction.rules.reader import MessageReader, ReaderOptions
from em_pipelines.extraction.second_reader import POLARITY, RELATION, SUBJECT, Contradiction
from em_pipelines.extraction.settings import RulesSettings
from em_pipelines.extraction.support import content_stems
from em_pipelines.language.en.clauses import Clause, pronoun_of
from em_pipelines.language.en.lexicon import listed_type, load_lexicon, words
from em_pipelines.language.en.noun_phrases import FIRST_PERSON, KIN, OWN_WORDS, NounPhrase, kin_noun
from em_pipelines.language.en.tokens import CONJ, CONTRAST, NEG, PUNCT, Token, tokenise
from em_pipelines.language.name_keys import noun_of
from em_pipelines.schema.readings import Claim, Turn
from em_pipelines.schema.vocabulary import INVERSES, RELATIONS_BY_GROUP, USER, EntityType

"""The issues of a claim that its sentence contradicts."""
OF_PEOPLE = frozenset(RELATIONS_BY_GROUP["people"])
REAL = frozenset(chain.from_iterable(RELATIONS_BY_GROUP[group] for group in ("possession", "work", "place"))) | {
    "attended",
    "did",
    "speaks",
}
"""What is the case, and is not where it is only wished or planned."""
COUPLES = frozenset({"spouse_of", "partner_of"})
_TASTES = frozenset({"likes", "dislikes"})
_MODALS = frozenset({"can", "could", "would"})
"""With a negation these say as often that something could not be better."""
_OF_NO_DENIAL = frozenset({"has_attribute", "believes", "feels"})
"""Whose object says itself what is not so."""
_NEGATIONS = words("words", "negations")
_HELD_BY_USER = frozenset({"has_attribute"})
"""What the user is asked to hold for a thing without a name, whoever it is done by: `user has 140 hours`."""
_POSSESSIONS = frozenset({"owns", "has_pet"})
_HUMAN_VERBS = words("people", "human_verbs")
_LIGHT_VERBS = frozenset({"be", "have", "get", "go", "do", "make", "take"})
_SUPPOSING = frozenset({"might", "may", "would", "could", "should"})


class Fact(NamedTuple):
    """What a claim says; `sign` is 1 or -1. Dislikes are likes denied, and inverses are told from one end."""

    relation: str
    subject: str
    object: str
    sign: int


def fact_of(claim: Claim) -> Fact:
    """The fact of a claim."""
    relation, ends, sign = claim.relation, (claim.subject, claim.object or claim.value or ""), claim.polarity
    if relation in _TASTES:
        relation, sign = "likes", sign if relation == "likes" else -sign
    if relation in INVERSES:
        relation, ends = INVERSES[relation], ends[::-1]
    return Fact(relation, *ends, sign)


@dataclass(frozen=True, slots=True)
class Speaker:
    """Whose turn it is."""

    name: str

    def is_named(self, name: str) -> bool:
        """Whether a name of a claim is the speaker's."""
        return name.casefold() in {USER, self.name.casefold()}


@dataclass(frozen=True, slots=True)
class _Place:
    """A clause that holds words of a name, at tokens `at`; `n_stems` is how many different ones."""

    sentence: Sentence
    clause: Clause
    mods: Modifiers
    at: tuple[int, ...]
    n_stems: int

    @property
    def end(self) -> int:
        """The token behind the clause."""
        return max(self.clause.right, self.clause.verb.end)

    @property
    def is_behind_verb(self) -> bool:
        """Whether the name stands behind the verb."""
        return self.at[0] > self.clause.verb.start


_ITSELF = frozenset({USER})
"""In place of the stems of a subject: the speaker."""
Check = Callable[[Claim, Fact, _Place], Contradiction | None]


class ClauseEvidence:
    """The clauses of one turn, and what they say against claims."""

    def __init__(self, turn: Turn, speaker: Speaker) -> None:
        reader = MessageReader(turn, PatternIndex(()), People(), ReaderOptions(RulesSettings().max_characters))
        self._reading, self._sentences = reader.reading, reader.sentences
        self._tokens, self._speaker = reader.reading.tokens, speaker

    @property
    def is_of_a_group(self) -> bool:
        """Whether the speaker speaks as `we` alone: what is said of them may be said of others."""
        lows = {token.low for token in self._tokens}
        return "we" in lows and "i" not in lows

    def contradiction(self, claim: Claim, said: Fact) -> Contradiction | None:
        """What all clauses that hold the object of a claim say against it; None where one does not."""
        places = self._places(said.subject if self._speaker.is_named(said.object) else said.object)
        if not places:
            return self._of_another_verb(claim, said)
        checks: tuple[Check, ...] = (
            self._of_another,
            self._of_another_owner,
            self._of_other_polarity,
            self._of_no_fact,
        )
        for check in checks:
            found = [check(claim, said, place) for place in places]
            if found and all(found):
                return found[0]
        return None

    def _places(self, name: str) -> list[_Place]:
        """The clauses that hold most of the words of a name, at least half of them."""
        wanted = content_stems(name)
        places = []
        for sentence in self._sentences:
            for clause, mods in (*zip(sentence.clauses, sentence.modifiers, strict=True), *sentence.verbless):
                stems = {
                    k: self._stems(k, k + 1) & wanted for k in range(clause.lead, max(clause.right, clause.verb.end))
                }
                at = tuple(k for k, found in stems.items() if found)
                if at:
                    places.append(_Place(sentence, clause, mods, at, len(frozenset().union(*stems.values()))))
        most = max((place.n_stems for place in places), default=0)
        return [place for place in places if place.n_stems == most and most * 2 >= len(wanted)]

    def _stems(self, start: int, end: int) -> frozenset[str]:
        return content_stems(self._reading.text[self._tokens[start].start : self._tokens[end - 1].end])

    def _of_another(self, claim: Claim, said: Fact, place: _Place) -> Contradiction | None:
        """Whether a clause says of another what the claim says of its subject."""
        who, clause = self._subject_of(place.clause), place.clause
        is_told = (
            said.relation not in OF_PEOPLE | _HELD_BY_USER
            and claim.subject_type is EntityType.PERSON
            and place.is_behind_verb
        )
        if who is None or not is_told:
            return None
        if self._speaker.is_named(said.subject):
            is_other = who != _ITSELF and OWN_WORDS.isdisjoint(self._lows(clause.verb.start, place.end))
        else:
            verbs = verbs_of(claim.relation) | ({"be"} if who == _ITSELF else set())
            is_verb_of = not verbs.isdisjoint(clause.verb.lemmas)
            lows = self._lows(min(clause.lead, clause.left), place.end)
            is_other = is_verb_of and bool(who) and self._is_of_no_other(said.subject, who, lows)
        return Contradiction(SUBJECT, "the clause is about somebody else") if is_other else None

    def _of_another_owner(self, claim: Claim, said: Fact, place: _Place) -> Contradiction | None:
        """`my cat` of what somebody else has, `her cat` of what the speaker has."""
        phrase = next((noun for noun in place.sentence.nouns if noun.start <= place.at[-1] < noun.end), None)
        if claim.relation not in _POSSESSIONS or said.sign < 0 or phrase is None:
            return None
        is_speakers = self._speaker.is_named(said.subject)
        is_of_third = phrase.possessor in GENDER_OF or phrase.possessor_phrase is not None
        is_other = is_of_third if is_speakers else phrase.possessor == "my"
        return Contradiction(SUBJECT, "the clause gives it to somebody else") if is_other else None

    def _of_another_verb(self, claim: Claim, said: Fact) -> Contradiction | None:
        """Where a pronoun stands for the object: whether all clauses with a verb of the relation are about others."""
        verbs = verbs_of(claim.relation) - _LIGHT_VERBS
        places = [
            _Place(sentence, clause, mods, (clause.verb.end,), 0)
            for sentence in self._sentences
            for clause, mods in zip(sentence.clauses, sentence.modifiers, strict=True)
            if not verbs.isdisjoint(clause.verb.lemmas)
        ]
        found = [self._of_another(claim, said, place) for place in places]
        return found[0] if found and all(found) else None

    def _lows(self, start: int, end: int) -> set[str]:
        return {token.low for token in self._tokens[start:end]}

    def _is_of_no_other(self, name: str, who: frozenset[str], lows: set[str]) -> bool:
        """Whether nothing in a clause about `who` may mean whom a name means: no pronoun, none of its words, no role
        for which the subject may be the name."""
        is_unclear = noun_of(name).casefold() in KIN and who != _ITSELF
        is_named = any(content_stems(name) & content_stems(low) for low in lows)
        return not is_unclear and not is_named and (GENDER_OF.keys() | {"we"}).isdisjoint(lows)

    def _subject_of(self, clause: Clause) -> frozenset[str] | None:
        """The stems of the person that a clause is about: `_ITSELF` for the speaker, none for he or she; None where it
        is about no person, or unclear."""
        low = pronoun_of(clause, self._tokens)
        if low in FIRST_PERSON or clause.is_own:
            return _ITSELF
        if low:
            return frozenset() if GENDER_OF.get(low) in {"m", "f"} else None
        is_done_by_people = not _HUMAN_VERBS.isdisjoint(clause.verb.lemmas)
        is_person = len(clause.subject) == 1 and (is_done_by_people or self._is_person(clause.subject[0]))
        return self._stems(clause.subject[0].start, clause.subject[0].end) if is_person else None

    def _is_person(self, phrase: NounPhrase) -> bool:
        low = self._tokens[phrase.head].low
        is_told = low in ROLES or listed_type(low) is EntityType.PERSON or kin_noun(self._tokens, phrase) is not None
        return is_told or refer(self._reading, phrase).entity_type is EntityType.PERSON

    def _of_other_polarity(self, claim: Claim, said: Fact, place: _Place) -> Contradiction | None:
        """Whether a clause denies what a claim affirms, or the other way round; two negations affirm."""
        verb = place.clause.verb
        n_here = _n_negations(self._tokens[place.clause.lead : place.at[0] if place.is_behind_verb else place.end])
        n_denials = n_here + self._is_denied_before(place)
        is_clear = n_denials != 1 or verb.modal not in _MODALS
        if not is_clear or not self._may_deny(claim, said, place):
            return None
        is_denied = n_denials % 2 == 1 or place.mods.has_ended or verb.used_to
        if said.relation == "likes":
            tone = _tone(verb.lemmas) * (-1 if is_denied else 1)
            is_other = tone == -said.sign
        else:
            is_over = is_denied != (not _ends_of(claim.relation).isdisjoint(verb.lemmas))
            is_other = is_over if said.sign > 0 else not is_over and (n_denials > 0 or self._affirms(claim, place))
        return Contradiction(POLARITY, "the clause says the opposite") if is_other else None

    def _affirms(self, claim: Claim, place: _Place) -> bool:
        """Whether a clause has a verb of the relation of a claim, in a sentence without a denial."""
        verbs = verbs_of(claim.relation) - _LIGHT_VERBS - _ends_of(claim.relation)
        is_denied = _n_negations(self._tokens[place.sentence.start : place.sentence.stop]) > 0
        return not is_denied and not verbs.isdisjoint(place.clause.verb.lemmas)

    def _is_denied_before(self, place: _Place) -> bool:
        """`it's not that …`, `I don't think …`: whether the clause that this one completes is negated."""
        before = [clause for clause in place.sentence.clauses if clause.verb.start < place.clause.lead]
        if not before or not before[-1].verb.is_negated:
            return False
        between = self._tokens[before[-1].verb.end : place.clause.lead]
        return len(between) <= 1 and not any(token.bits & (PUNCT | CONJ | CONTRAST) for token in between)

    def _of_no_fact(self, claim: Claim, said: Fact, place: _Place) -> Contradiction | None:
        """Whether a clause only supposes what the claim tells as a fact."""
        verb = place.clause.verb
        is_said_so = verb.is_future or not _SUPPOSING.isdisjoint(self._lows(verb.start, verb.end))
        is_other = claim.relation in REAL and said.sign > 0 and (is_said_so or place.mods.is_hypothetical)
        return Contradiction(RELATION, "the clause supposes it") if is_other else None

    def _may_deny(self, claim: Claim, said: Fact, place: _Place) -> bool:
        """Whether a denial in a clause would be one of the claim: about its subject, with a verb of its relation."""
        low = pronoun_of(place.clause, self._tokens)
        is_own = self._speaker.is_named(said.subject)
        is_of_others = low in GENDER_OF if is_own else low in FIRST_PERSON and said.relation not in OF_PEOPLE
        is_said = said.relation not in OF_PEOPLE or not (verbs_of(said.relation) | {"be"}).isdisjoint(
            place.clause.verb.lemmas
        )
        is_said = is_said and (
            place.is_behind_verb or not verbs_of(claim.relation).isdisjoint(place.clause.verb.lemmas)
        )
        is_in_object = _n_negations(tokenise(said.object)) > 0
        return claim.relation not in _OF_NO_DENIAL and is_said and not is_of_others and not is_in_object


def _n_negations(tokens: Sequence[Token]) -> int:
    return sum(bool(token.bits & NEG) or token.low in _NEGATIONS for token in tokens)


@cache
def verbs_of(relation: str) -> frozenset[str]:
    """The verbs, as infinitives, of the patterns of a relation, and those listed beside them."""
    of_patterns = chain.from_iterable(p.lemmas for p in load_patterns() if p.spec.relation == relation)
    return frozenset(chain(of_patterns, _listed("says", relation), _listed("ends", relation)))


def _listed(key: str, relation: str) -> list[str]:
    return str(load_lexicon("verbs")[key].get(relation, "")).split()


@cache
def _ends_of(relation: str) -> frozenset[str]:
    """The verbs that end what a relation states, and never begin it."""
    patterns = [pattern for pattern in load_patterns() if pattern.spec.relation == relation]
    is_end = [pattern.spec.polarity < 0 for pattern in patterns]
    ending, other = (
        frozenset(chain.from_iterable(p.lemmas for p, ends in zip(patterns, is_end, strict=True) if ends is wanted))
        for wanted in (True, False)
    )
    return ending.union(_listed("ends", relation)) - other.union(_listed("says", relation)) - _LIGHT_VERBS


def _tone(lemmas: Iterable[str]) -> int:
    """1 for verbs of liking, -1 for those of disliking, 0 for others."""
    tones = {_tones().get(lemma, 0) for lemma in lemmas}
    return tones.pop() if len(tones) == 1 else 0


@cache
def _tones() -> dict[str, int]:
    """The verbs that by themselves say that somebody likes or dislikes something."""
    alone = [pattern for pattern in load_patterns() if pattern.spec.relation in _TASTES and _is_plain(pattern)]
    return {lemma: 1 if pattern.spec.relation == "likes" else -1 for pattern in alone for lemma in pattern.lemmas}


def _is_plain(pattern: Pattern) -> bool:
    """Whether a pattern is a subject, a verb and an object, and no more."""
    spec = pattern.spec
    is_bare = not spec.needs and not spec.modals and len(pattern.right) == 1
    return is_bare and spec.subject == "subject" and spec.polarity > 0
