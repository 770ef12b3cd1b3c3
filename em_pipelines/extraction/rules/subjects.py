"""Who a matched clause is about: the speaker, somebody named, the one a pronoun can mean, or a thing."""

from collections.abc import Iterator

from em_pipelines.extraction.rules.clauses import Clause
from em_pipelines.extraction.rules.kinds import is_kind
from em_pipelines.extraction.rules.matching import Slots
from em_pipelines.extraction.rules.names import Reading, is_name
from em_pipelines.extraction.rules.noun_phrases import NounPhrase, parse_noun_phrase
from em_pipelines.extraction.rules.patterns import Pattern
from em_pipelines.extraction.rules.people import FIRST_PERSON, People, Referent, refer, speaker
from em_pipelines.schema.vocabulary import EntityType

_MAX_GUESSES = 3
_PERSON = frozenset({"person"})
_EVENT = frozenset({"event"})
_OCCASION = frozenset({"occasion"})
_SOMEBODY = frozenset({"somebody", "someone"})
_IN_MY_VIEW = frozenset({"imo", "imho", "personally"})


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
            return [self._speaker(clause.lead)]
        if said == "holder":
            return self._holder(clause)
        if said == "unnamed":
            return [self.people.unnamed[0]] if self.people.unnamed is not None else []
        if said == "it":
            return self._it(clause.lead)
        if said != "subject" or not pattern.takes_clause_subject:
            return [refer(self.reading, fill.phrase) for fill in slots.get(said, ()) if fill.phrase is not None]
        return self._of_clause(pattern, clause)

    def meet_speakers(self, clauses: list[Clause]) -> None:
        """Whoever is reported to say or think something is a person, at the start of a sentence too."""
        for clause in clauses:
            for phrase in clause.holder.subject if clause.holder is not None else ():
                if phrase.det is None and is_name(self.reading, phrase):
                    self.people.meet(refer(self.reading, phrase))

    def _of_clause(self, pattern: Pattern, clause: Clause) -> list[Referent]:
        kinds = pattern.left[0].words
        if clause.is_own:
            return [self._speaker(clause.lead)] if "person" in kinds else []
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
        is_told = other.entity_type is EntityType.PERSON and self._fits(other, clause.companion, kinds)
        return [other] if is_told else []

    def _dropped(self, pattern: Pattern, clause: Clause, kinds: frozenset[str]) -> list[Referent]:
        """`Prefer aisle seats`, `Finished it`: no verb in the third person, which would be about somebody else."""
        if not pattern.spec.may_drop_subject or kinds.isdisjoint({"person", "self"}):
            return []
        low = self.reading.tokens[clause.verb.start].low
        is_own = not low.endswith("s") or low.endswith("ss") or low in {"was", "'s"}
        return [self._speaker(clause.verb.start)] if is_own else []

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

    def _holder(self, clause: Clause) -> list[Referent]:
        """Whose opinion it is: who thinks or says it, or the speaker where `in my opinion` stands before."""
        held = clause.holder
        if held is None:
            return [self._speaker(clause.verb.start)] if self._is_in_own_view(clause.lead) else []
        if held.pronoun is not None:
            return self._pronoun(held.pronoun, _PERSON)
        return self._fitting(held.subject, _PERSON)

    def _is_in_own_view(self, i: int) -> bool:
        lows = [self.reading.tokens[k].low for k in range(max(0, i - 5), i)]
        before = [word for word in lows if word != ","]
        is_said = not _IN_MY_VIEW.isdisjoint(before) or {"my", "opinion"} <= set(before)
        return is_said or before[-2:] in (["for", "me"], ["to", "me"])

    def _speaker(self, token: int) -> Referent:
        return speaker(self.speaker_name, token)

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
            return [self._speaker(token)]
        met = self.people.all_named_by(low) if "self" not in kinds else []
        return [
            Referent(person.name, person.entity_type, token, token + 1, person.gender, person.kin) for person in met
        ]

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
        return phrase.possessor is not None and self.people.named_by(phrase.possessor) is not None

    def _other_fits(self, meant: Referent, phrase: NounPhrase, kinds: frozenset[str]) -> bool:
        is_person = meant.entity_type is EntityType.PERSON
        if is_person and kinds & {"person", "named"}:
            return is_name(self.reading, phrase)
        return (not is_person and "thing" in kinds) or ("event" in kinds and is_kind(self.reading, _EVENT, phrase))
