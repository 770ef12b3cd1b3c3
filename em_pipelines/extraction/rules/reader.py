"""Reads one message: sentences, clauses, people and frames, to claims and mentions."""

from collections.abc import Mapping, Sequence

from em_pipelines.extraction.model import Claim, Mention, Turn
from em_pipelines.extraction.rules.claims import build_claims
from em_pipelines.extraction.rules.clause import Clause
from em_pipelines.extraction.rules.kinds import kin_noun
from em_pipelines.extraction.rules.kinship import (
    denied_kin,
    ended_relation,
    kin_claim,
    named_after,
    named_in_apposition,
    owner_of,
    stated_relation,
    without_kin,
)
from em_pipelines.extraction.rules.matching import match_left, match_right, verb_fits
from em_pipelines.extraction.rules.message import parse_message, readable
from em_pipelines.extraction.rules.modifiers import Modifiers
from em_pipelines.extraction.rules.names import Reading
from em_pipelines.extraction.rules.noun_phrases import KIN, PETS, NounPhrase
from em_pipelines.extraction.rules.patterns import ANY_VERB, KIN_RELATION, Pattern
from em_pipelines.extraction.rules.people import People, Referent, refer
from em_pipelines.extraction.rules.plain_claims import unframed_claims
from em_pipelines.extraction.rules.slots import Fill
from em_pipelines.extraction.rules.subjects import meet_speakers, subjects_of
from em_pipelines.extraction.rules.tokens import tokenise
from em_pipelines.extraction.rules.word_classes import MONTH, WEEKDAY
from em_pipelines.vocabulary import USER, EntityType

NOBODY = frozenset({"it", "you", "u", "this", "that", "these", "those", "there", "here"})
"""Subjects that stand for nobody whose facts are kept, or for what no rule can tell."""
_BEFORE_PLACES = frozenset({"in", "at", "near", "into", "on", "around", "across"})


class MessageReader:
    """State of reading one message; `people` is shared by the turns of a segment."""

    def __init__(
        self,
        turn: Turn,
        patterns: Mapping[str, Sequence[Pattern]],
        people: People,
        max_characters: int,
        *,
        is_spoken: bool = False,
    ) -> None:
        text = readable(turn.text[:max_characters])
        self.turn = turn
        self.patterns = patterns
        self.people = people
        self.subject = turn.subject or USER
        mended, self.sentences = parse_message(tokenise(text), text, is_spoken=is_spoken)
        tokens = mended.tokens
        self.reading = Reading(
            tokens, text, turn.timestamp.date(), any(t.is_capital and t.low != "i" for t in tokens), mended.seams
        )
        self.claims: list[Claim] = []
        self.mentions: list[Mention] = []
        self._renamed: set[tuple[str, str]] = set()
        """(owner, kin noun) of those whose name is known by now: the noun alone is no second person."""
        self._seen: set[tuple[object, ...]] = set()

    def read(self) -> None:
        """Fills `claims` and `mentions`."""
        for sentence in self.sentences:
            n_met = 0
            meet_speakers(self.reading, self.people, sentence.clauses)
            for clause, mods in zip(sentence.clauses, sentence.modifiers, strict=True):
                n_met = self._meet(sentence.nouns, n_met, clause.verb.start, sentence.start)
                self._read_clause(clause, mods)
            self._meet(sentence.nouns, n_met, sentence.stop, sentence.start)
            for claim in unframed_claims(self.reading, self.claims, self.turn.turn_number, self.subject, sentence):
                self._add(claim)

    def _meet(self, nouns: list[NounPhrase], n: int, until: int, sentence_start: int) -> int:
        """Notes the people and names of the phrases before a token, and the kin edges they state."""
        while n < len(nouns) and nouns[n].start < until:
            phrase = nouns[n]
            n += 1
            if phrase.possessor_phrase is not None:
                owner = refer(self.reading, phrase.possessor_phrase)
                self.people.meet(owner)
                if owner.kin:
                    self._state_kin(owner, phrase.possessor_phrase, [])
            head = self.reading.tokens[phrase.head]
            if self.reading.has_capitals and not head.is_capital and kin_noun(self.reading, phrase) is None:
                continue
            person = refer(self.reading, phrase)
            if person.kin:
                self._state_kin(person, phrase, nouns[n:])
            if person.entity_type is EntityType.PERSON:
                before = self.reading.tokens[phrase.start - 1].low if phrase.start else ""
                is_told = person.kin or (person.start > sentence_start and before not in _BEFORE_PLACES)
                if is_told:
                    self.people.meet(person)
            self._mention_name(person, phrase, sentence_start)
        return n

    def _state_kin(self, person: Referent, phrase: NounPhrase, following: list[NounPhrase]) -> None:
        relation = stated_relation(self.reading, person, phrase)
        ended = ended_relation(self.reading, person, phrase)
        owner = owner_of(self.reading, self.people, self.subject, person, phrase)
        if owner is None:
            return
        if (named := named_in_apposition(self.reading, person, phrase, following)) is not None:
            self._rename(person, named, owner)
            return
        if relation is None:
            if ended is not None:
                self._add(kin_claim(self.reading, self.turn.turn_number, owner, ended, person, polarity=-1))
            return
        self._add_kin(owner, relation, person)
        if person.gender == "p" and person.name.casefold() != person.kin:
            for other in named_after(self.reading, phrase, following):
                self._add_kin(owner, relation, other)

    def _add_kin(self, owner: Referent, relation: str, person: Referent) -> None:
        if (owner.name, person.name.casefold()) in self._renamed:
            return
        self._add(kin_claim(self.reading, self.turn.turn_number, owner, relation, person))
        self._mention(person.name, person.entity_type, person.start, person.end)

    def _mention_name(self, person: Referent, phrase: NounPhrase, sentence_start: int) -> None:
        """A name by itself is worth a mention where capitals can only mean a name."""
        head = self.reading.tokens[phrase.head]
        if not head.is_capital or head.bits & (WEEKDAY | MONTH) or person.start <= sentence_start or person.kin:
            return
        self._mention(person.name, person.entity_type, person.start, person.end)

    def _mention(self, name: str, kind: EntityType, start: int, end: int) -> None:
        tokens = self.reading.tokens
        key = ("mention", name.casefold())
        if name == self.subject or key in self._seen:
            return
        self._seen.add(key)
        self.mentions.append(Mention(self.turn.turn_number, name, kind, tokens[start].start, tokens[end - 1].end))

    def _read_clause(self, clause: Clause, mods: Modifiers) -> None:
        if mods.is_supposed or mods.is_question:
            return
        tokens = self.reading.tokens
        if clause.pronoun is not None and tokens[clause.pronoun].low in NOBODY:
            return
        lemmas = (*clause.verb.lemmas, ANY_VERB) if clause.verb.is_future else clause.verb.lemmas
        if self.patterns.keys().isdisjoint(lemmas):
            return
        first = tokens[clause.subject[0].start].low if clause.subject else ""
        after = {token.low for token in tokens[clause.verb.end : clause.right]}
        is_bare = clause.is_shared or (clause.pronoun is None and not clause.subject)
        tried: set[int] = set()
        for lemma in lemmas:
            for pattern in self.patterns.get(lemma, ()):
                if id(pattern) in tried:
                    continue
                tried.add(id(pattern))
                if pattern.lead_words and (not clause.subject or first not in pattern.lead_words):
                    continue
                if pattern.trigger_words and after.isdisjoint(pattern.trigger_words):
                    continue
                if verb_fits(pattern.spec, clause.verb, mods, is_bare=is_bare, is_lasting="since" in after):
                    self._try(pattern, clause, mods)

    def _try(self, pattern: Pattern, clause: Clause, mods: Modifiers) -> None:
        slots = {} if pattern.takes_clause_subject else match_left(self.reading, pattern, clause)
        if slots is None:
            return
        right = match_right(self.reading, pattern, clause, either=clause.verb.is_negated)
        if right is None:
            return
        slots.update(right)
        if clause.companion is not None:
            slots["companion"] = [Fill(clause.companion.start, clause.companion.end, clause.companion)]
            if pattern.spec.object == "companion" and refer(self.reading, clause.companion).kin:
                return
        elif pattern.spec.object == "companion":
            return
        subjects = subjects_of(self.reading, self.people, self.subject, pattern, clause, slots)
        is_told = mods.is_reported and pattern.spec.subject != "holder"
        if not subjects or (is_told and any(s.name == self.subject for s in subjects)):
            return
        if pattern.spec.relation == KIN_RELATION:
            if not mods.is_hypothetical:
                self._name_kin(clause, subjects, slots[pattern.spec.object])
            return
        if pattern.spec.object == "speaker":
            slots["speaker"] = [Fill(clause.verb.start, clause.verb.end, text=self.subject)]
        for claim in build_claims(self.reading, pattern, clause, mods, subjects, slots, self.turn.turn_number):
            self._add_with_mentions(claim, subjects, slots[pattern.spec.object])

    def _name_kin(self, clause: Clause, subjects: list[Referent], fills: list[Fill]) -> None:
        """`My husband is called Anders`, `Rosalie is my sister`, `I have two brothers`."""
        if clause.verb.is_negated:
            for claim in denied_kin(self.reading, self.people, self.turn.turn_number, self.subject, subjects, fills):
                self._add(claim)
            return
        for fill in fills:
            if fill.phrase is None:
                continue
            meant = refer(self.reading, fill.phrase)
            for subject in subjects:
                if meant.kin and "have" in clause.verb.lemmas:
                    relation = stated_relation(self.reading, meant, fill.phrase)
                    if relation is not None:
                        self._add_kin(subject, relation, meant)
                elif meant.kin and not subject.kin:
                    self._rename(meant, subject, owner_of(self.reading, self.people, self.subject, meant, fill.phrase))
                elif subject.kin and subject.name.casefold() == subject.kin and clause.subject:
                    owner = owner_of(self.reading, self.people, self.subject, subject, clause.subject[0])
                    self._rename(subject, meant, owner)

    def _rename(self, kin: Referent, named: Referent, owner: Referent | None) -> None:
        """Puts the name in the place of the kin noun, in what was claimed and for the pronouns to come."""
        person = Referent(named.name, kin.entity_type, named.start, named.end, kin.gender, kin.kin, kin.is_own)
        relation = "has_pet" if kin.kin in PETS else KIN.get(kin.kin)
        if owner is None or relation is None:
            return
        self._renamed.add((owner.name, kin.kin))
        self.claims = [c for c in self.claims if (c.subject, c.relation, c.object) != (owner.name, relation, kin.name)]
        self._add_kin(owner, relation, person)
        self.people.met = [person if other.name == kin.name else other for other in self.people.met]
        self.people.meet(person)

    def _add_with_mentions(self, claim: Claim, subjects: list[Referent], fills: list[Fill]) -> None:
        self._add(claim)
        if claim.polarity < 0 and claim.object is not None:
            self._renamed.add((claim.subject, claim.object.casefold()))
            self.claims = without_kin(self.claims, claim)
        for subject in subjects:
            if subject.name == claim.subject and subject.name != self.subject:
                self._mention(subject.name, claim.subject_type, subject.start, subject.end)
        if claim.object is None or claim.object_type is None:
            return
        for fill in fills:
            start = fill.phrase.first if fill.phrase else fill.start
            name = refer(self.reading, fill.phrase).name if fill.phrase else None
            if name is None or name == claim.object:
                self._mention(claim.object, claim.object_type, start, fill.end)
                return

    def _add(self, claim: Claim) -> None:
        """Keeps a claim once: what is said twice in a message is one fact."""
        end = (claim.object or claim.value or "").casefold()
        key = (claim.subject, claim.relation, end, claim.attribute, claim.polarity)
        if key not in self._seen and claim.subject != claim.object:
            self._seen.add(key)
            self.claims.append(claim)
