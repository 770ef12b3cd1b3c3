"""Reads one message: sentences, clauses, people and frames, to claims and mentions."""

from em_pipelines.extraction.model import Claim, Turn
from em_pipelines.extraction.rules.claims import build_claims
from em_pipelines.extraction.rules.clause import Clause
from em_pipelines.extraction.rules.fillers import Fill, anew
from em_pipelines.extraction.rules.kin_names import KinNames
from em_pipelines.extraction.rules.kinds_listed import kin_noun
from em_pipelines.extraction.rules.lexicon import words
from em_pipelines.extraction.rules.matching import match_left, match_right, verb_fits
from em_pipelines.extraction.rules.message import parse_message, readable
from em_pipelines.extraction.rules.modifiers import Modifiers
from em_pipelines.extraction.rules.names import Reading
from em_pipelines.extraction.rules.notes import Notes
from em_pipelines.extraction.rules.noun_phrases import PETS, NounPhrase
from em_pipelines.extraction.rules.pattern_index import PatternIndex
from em_pipelines.extraction.rules.patterns import ANY_VERB, KIN_RELATION, RATHER, Pattern
from em_pipelines.extraction.rules.people import People, Referent, refer
from em_pipelines.extraction.rules.plain_claims import unframed_claims
from em_pipelines.extraction.rules.slots import BARE
from em_pipelines.extraction.rules.subjects import meet_speakers, subjects_of
from em_pipelines.extraction.rules.tokens import Token, tokenise
from em_pipelines.extraction.rules.word_classes import ADV, MONTH, PREP, WEEKDAY
from em_pipelines.vocabulary import RELATIONS_BY_GROUP, USER, EntityType

NOBODY = frozenset({"you", "u", "this", "that", "these", "those", "there", "here"})
"""Subjects that stand for nobody whose facts are kept, or for what no rule can tell."""
_BEFORE_PLACES = frozenset({"in", "at", "near", "into", "on", "around", "across"})
_SPANS = words("words", "time_spans") | {"decade", "decades", "ages", "fortnight"}
_CONSUMING = frozenset({"have", "drink", "eat", "take", "use", "wear"})
"""`I'd rather have rye` prefers the rye; `I'd rather walk` the walking."""
_HEALTH = frozenset(RELATIONS_BY_GROUP["health"])
_OF_NEW_THINGS = frozenset(RELATIONS_BY_GROUP["intent"])
"""Who wants a new job has one: here the word is no mere praise."""


def _lasts(after: set[str], clause: Clause) -> bool:
    """`have been a nurse since May`, `for twelve years`, `have always liked`: it still holds."""
    return "since" in after or ("for" in after and not _SPANS.isdisjoint(after)) or "always" in clause.verb.adverbs


def _at_once(tokens: list[Token], clause: Clause) -> set[str]:
    """The word right after the verb, and the adverbs before it."""
    found: set[str] = set()
    for token in tokens[clause.verb.end : clause.right]:
        found.add(token.low)
        if not token.bits & ADV or token.bits & PREP:
            break
    return found


class MessageReader:
    """State of reading one message; `people` is shared by the turns of a segment."""

    def __init__(
        self,
        turn: Turn,
        patterns: PatternIndex,
        people: People,
        max_characters: int,
        *,
        keeps_health: bool = False,
        is_spoken: bool = False,
    ) -> None:
        text = readable(turn.text[:max_characters])
        self.turn = turn
        self.patterns = patterns
        self.keeps_health = keeps_health
        self.people = people
        self.subject = turn.subject or USER
        mended, self.sentences = parse_message(tokenise(text), text, is_spoken=is_spoken)
        tokens = mended.tokens
        self.reading = Reading(
            tokens, text, turn.timestamp.date(), any(t.is_capital and t.low != "i" for t in tokens), mended.seams
        )
        self.notes = Notes(tokens, turn.turn_number, self.subject)
        self.kin = KinNames(self.reading, people, self.subject, self.notes)

    def read(self) -> None:
        """Fills the notes."""
        for sentence in self.sentences:
            self.people.sentence += 1
            n_met = 0
            meet_speakers(self.reading, self.people, sentence.clauses)
            for clause, mods in zip(sentence.clauses, sentence.modifiers, strict=True):
                n_met = self._meet(sentence.nouns, n_met, clause.verb.start, sentence.start)
                self._read_clause(clause, mods)
            self._meet(sentence.nouns, n_met, sentence.stop, sentence.start)
            for clause, mods in sentence.verbless:
                self._read_clause(clause, mods)
            self.kin.name_those_behind(sentence.nouns, sentence.stop)
            claims = self.notes.claims
            for claim in unframed_claims(self.reading, claims, self.turn.turn_number, self.subject, sentence):
                self.notes.add(claim)

    def _meet(self, nouns: list[NounPhrase], n: int, until: int, sentence_start: int) -> int:
        """Notes the people and names of the phrases before a token, and the kin edges they state."""
        while n < len(nouns) and nouns[n].start < until:
            phrase = nouns[n]
            n += 1
            if phrase.possessor_phrase is not None:
                owner = refer(self.reading, phrase.possessor_phrase)
                self.people.meet(owner)
                if owner.kin:
                    self.kin.state(owner, phrase.possessor_phrase, [])
            head = self.reading.tokens[phrase.head]
            if self.reading.has_capitals and not head.is_capital and kin_noun(self.reading, phrase) is None:
                continue
            person = refer(self.reading, phrase)
            is_named = person.kin and self.kin.state(person, phrase, nouns[n:])
            if person.entity_type is EntityType.PERSON and not is_named:
                before = self.reading.tokens[phrase.start - 1].low if phrase.start else ""
                is_told = (
                    person.kin or person.gender or person.start > sentence_start or self._is_paired(phrase, nouns[n:])
                )
                if is_told and before not in _BEFORE_PLACES:
                    self.people.meet(person)
            self._mention_name(person, phrase, sentence_start)
        return n

    def _is_paired(self, phrase: NounPhrase, following: list[NounPhrase]) -> bool:
        """`Solvei and Ida came`: what is joined with a person is one, whatever its capital means."""
        joint = self.reading.tokens[phrase.end].low if phrase.end < len(self.reading.tokens) else ""
        if joint not in {"and", "&", "or"} or not following or following[0].start != phrase.end + 1:
            return False
        return refer(self.reading, following[0]).entity_type is EntityType.PERSON

    def _mention_name(self, person: Referent, phrase: NounPhrase, sentence_start: int) -> None:
        """A name by itself is worth a mention where capitals can only mean a name."""
        head = self.reading.tokens[phrase.head]
        if not head.is_capital or head.bits & (WEEKDAY | MONTH) or person.start <= sentence_start or person.kin:
            return
        before = self.reading.tokens[phrase.start - 1].low if phrase.start else ""
        is_place = before in _BEFORE_PLACES and not person.gender and person.entity_type is EntityType.PERSON
        kind = EntityType.PLACE if is_place else person.entity_type
        self.notes.mention(person.name, kind, person.start, person.end)

    def _read_clause(self, clause: Clause, mods: Modifiers) -> None:
        if mods.is_supposed or mods.is_question:
            return
        tokens = self.reading.tokens
        if clause.pronoun is not None and tokens[clause.pronoun].low in NOBODY and not self._asks_to_call(clause):
            return
        lemmas = (*clause.verb.lemmas, ANY_VERB) if clause.verb.is_future else clause.verb.lemmas
        if clause.verb.modal == "would" and "rather" in clause.verb.adverbs and _CONSUMING.isdisjoint(lemmas):
            lemmas = (RATHER,)
        if not self.patterns.has(lemmas):
            return
        first = tokens[clause.subject[0].start].low if clause.subject else ""
        after = {token.low for token in tokens[clause.verb.end : clause.right]}
        is_bare = clause.is_shared or (clause.pronoun is None and not clause.subject)
        lasts = _lasts(after, clause)
        at_once = _at_once(tokens, clause)
        fits: dict[str, bool] = {}
        is_last = clause.verb.end >= clause.right
        read: set[str] = set()
        for pattern in self.patterns.candidates(lemmas, first, after, at_once):
            if is_last and pattern.right and pattern.right[0].kind == "slot" and pattern.right[0].words != BARE:
                continue
            conditions = pattern.verb_conditions
            if conditions not in fits:
                fits[conditions] = verb_fits(pattern.spec, clause.verb, mods, is_bare=is_bare, is_lasting=lasts)
            if fits[conditions] and not (pattern.spec.yields and pattern.spec.relation in read):
                n_claims = len(self.notes.claims)
                self._try(pattern, clause, mods)
                if len(self.notes.claims) > n_claims:
                    read.add(pattern.spec.relation)

    def _asks_to_call(self, clause: Clause) -> bool:
        """`You can call me Ori` tells the speaker's name."""
        tokens = self.reading.tokens
        return "call" in clause.verb.lemmas and clause.verb.end < len(tokens) and tokens[clause.verb.end].low == "me"

    def _try(self, pattern: Pattern, clause: Clause, mods: Modifiers) -> None:
        slots = {} if pattern.takes_clause_subject else match_left(self.reading, pattern, clause)
        if slots is None or (pattern.spec.relation in _HEALTH and not self.keeps_health):
            return
        right = match_right(self.reading, pattern, clause, either=clause.verb.is_negated)
        if right is None:
            return
        slots.update(right)
        if pattern.spec.relation in _OF_NEW_THINGS and pattern.spec.object in slots:
            slots[pattern.spec.object] = [anew(self.reading, fill) for fill in slots[pattern.spec.object]]
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
            if pattern.spec.subject == "unnamed":
                self.kin.name_last(slots[pattern.spec.object])
            elif not mods.is_hypothetical:
                self.kin.name(clause, subjects, slots[pattern.spec.object])
            return
        if pattern.spec.object == "speaker":
            slots["speaker"] = [Fill(clause.verb.start, clause.verb.end, text=self.subject)]
        for claim in build_claims(self.reading, pattern, clause, mods, subjects, slots, self.turn.turn_number):
            self._add_with_mentions(claim, subjects, slots[pattern.spec.object])

    def _add_with_mentions(self, claim: Claim, subjects: list[Referent], fills: list[Fill]) -> None:
        self.notes.add(claim)
        if claim.polarity < 0 and claim.object is not None:
            self.kin.deny(claim)
        for subject in subjects:
            if subject.name == claim.subject and subject.name != self.subject:
                self.notes.mention(subject.name, claim.subject_type, subject.start, subject.end)
                self.people.speak_of(subject)
        if claim.object is None or claim.object_type is None:
            return
        if claim.relation == "has_pet" and claim.object.casefold() in PETS:
            pet = Referent(claim.object, EntityType.ANIMAL, fills[0].start, fills[0].end, kin=claim.object.casefold())
            owner = Referent(claim.subject, EntityType.PERSON, subjects[0].start, subjects[0].end)
            self.people.unnamed = (pet, owner, self.people.sentence)
        if claim.subject_type is EntityType.PERSON:
            self.people.speak_of(Referent(claim.object, claim.object_type, fills[0].start, fills[-1].end))
        for fill in fills:
            start = fill.phrase.first if fill.phrase else fill.start
            name = refer(self.reading, fill.phrase).name if fill.phrase else None
            if name is None or name == claim.object:
                self.notes.mention(claim.object, claim.object_type, start, fill.end)
                return
