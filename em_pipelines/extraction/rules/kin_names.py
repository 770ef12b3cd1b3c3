"""Relatives, friends and pets of one message: the edges their phrases state, and the names that take a noun's place."""

from dataclasses import replace

from em_pipelines.extraction.model import Claim
from em_pipelines.extraction.rules.clause import Clause
from em_pipelines.extraction.rules.fillers import Fill
from em_pipelines.extraction.rules.kinds_listed import kin_noun
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
from em_pipelines.extraction.rules.names import Reading
from em_pipelines.extraction.rules.notes import Notes
from em_pipelines.extraction.rules.noun_phrases import KIN, PETS, NounPhrase
from em_pipelines.extraction.rules.people import People, Referent, refer
from em_pipelines.extraction.rules.pet_names import names_behind
from em_pipelines.vocabulary import EntityType

KIN_RELATIONS = frozenset(KIN.values()) | {"has_pet"}


class KinNames:
    """Works on the notes of one message; `subject` is whose turn it is."""

    def __init__(self, reading: Reading, people: People, subject: str, notes: Notes) -> None:
        self.reading = reading
        self.people = people
        self.subject = subject
        self.notes = notes
        self._renamed: set[tuple[str, str]] = set()
        """(owner, kin noun) of those whose name is known by now: the noun alone is no second person."""

    def state(self, person: Referent, phrase: NounPhrase, following: list[NounPhrase]) -> bool:
        """Notes the edge that a kin phrase states; true where a name in apposition has taken its place."""
        relation = stated_relation(self.reading, person, phrase)
        owner = owner_of(self.reading, self.people, self.subject, person, phrase)
        if owner is None or (phrase.start and self.reading.tokens[phrase.start - 1].low == "not"):
            return False
        if (named := named_in_apposition(self.reading, person, phrase, following)) is not None:
            self.rename(person, named, owner)
            return True
        if relation is None:
            ended = ended_relation(self.reading, person, phrase)
            if ended is not None:
                edge = kin_claim(self.reading, self.notes.turn_number, owner, ended, person, polarity=-1)
                self.notes.add(edge)
            return False
        self._add_edge(owner, relation, person)
        if person.gender == "p" and person.name.casefold() != person.kin:
            for other in named_after(self.reading, phrase, following):
                self._add_edge(owner, relation, other)
        return False

    def _add_edge(self, owner: Referent, relation: str, person: Referent) -> None:
        if (owner.name, person.name.casefold()) in self._renamed:
            return
        if person.name.casefold() == person.kin:
            self.people.unnamed = (person, owner, self.people.sentence)
        self.notes.add(kin_claim(self.reading, self.notes.turn_number, owner, relation, person))
        self.notes.mention(person.name, person.entity_type, person.start, person.end)

    def name(self, clause: Clause, subjects: list[Referent], fills: list[Fill]) -> None:
        """`My husband is called Anders`, `Rosalie is my sister`, `I have two brothers`."""
        if clause.verb.is_negated:
            turn_number = self.notes.turn_number
            for claim in denied_kin(self.reading, self.people, turn_number, self.subject, subjects, fills):
                self.notes.add(claim)
                # Whose role is denied is not thereby a wife, a boss: the bare role says nothing here.
                for phrase in (fill.phrase for fill in fills if fill.phrase is not None):
                    self.deny(replace(claim, object=refer(self.reading, phrase).name))
            return
        for fill in fills:
            if fill.phrase is None or fill.phrase.det == "no":
                continue
            meant = refer(self.reading, fill.phrase)
            for subject in subjects:
                if "have" in clause.verb.lemmas:
                    relation = stated_relation(self.reading, meant, fill.phrase) if meant.kin else None
                    if relation is not None:
                        self._add_edge(subject, relation, meant)
                elif meant.kin and not subject.kin:
                    self.rename(meant, subject, owner_of(self.reading, self.people, self.subject, meant, fill.phrase))
                elif subject.kin and subject.name.casefold() == subject.kin and clause.subject:
                    owner = owner_of(self.reading, self.people, self.subject, subject, clause.subject[0])
                    self.rename(subject, meant, owner)

    def deny(self, claim: Claim) -> None:
        """Takes back the edge that a phrase stated by itself and its sentence denies: `our parrot died`."""
        self._renamed.add((claim.subject, (claim.object or "").casefold()))
        self.notes.claims = without_kin(self.notes.claims, claim)

    def name_last(self, fills: list[Fill]) -> None:
        """`Her name is Olive`, after `we adopted a whippet`."""
        last = self.people.unnamed
        if last is None or len(fills) != 1 or fills[0].phrase is None or last[2] < self.people.sentence - 1:
            return
        self.rename(last[0], refer(self.reading, fills[0].phrase), last[1])
        self.people.unnamed = None

    def name_those_behind(self, nouns: list[NounPhrase], stop: int) -> None:
        """`I have three cats: Miso, Tofu and Nori`: the names take the place of the noun."""
        for phrase in nouns:
            if kin_noun(self.reading, phrase) is None:
                continue
            person = refer(self.reading, phrase)
            if not person.kin or person.name.casefold() != person.kin:
                continue
            owners = [c.subject for c in self.notes.claims if c.object == person.name and c.relation in KIN_RELATIONS]
            names = names_behind(self.reading, phrase, person, stop) if owners else []
            for owner in owners[:1]:
                for named in names:
                    self.rename(person, named, Referent(owner, EntityType.PERSON, phrase.start, phrase.end))

    def rename(self, kin: Referent, named: Referent, owner: Referent | None) -> None:
        """Puts the name in the place of the kin noun, in what was claimed and for the pronouns to come."""
        person = Referent(named.name, kin.entity_type, named.start, named.end, kin.gender, kin.kin, kin.is_own)
        relation = "has_pet" if kin.kin in PETS else KIN.get(kin.kin)
        if owner is None or relation is None:
            return
        self._renamed.add((owner.name, kin.kin))
        self.notes.claims = [
            c for c in self.notes.claims if (c.subject, c.relation, c.object) != (owner.name, relation, kin.name)
        ]
        self._add_edge(owner, relation, person)
        self.people.met = [person if other.name == kin.name else other for other in self.people.met]
        self.people.last_met[person.name] = self.people.sentence
        self.people.meet(person)
