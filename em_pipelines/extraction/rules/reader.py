"""Reads one message: sentences, clauses, people and frames, to claims and mentions; and claims that no frame states."""

from dataclasses import dataclass, replace
from functools import partial

from em_pipelines.extraction.rules.claims import Notes, build_claims
from em_pipelines.extraction.rules.kin_wording import whose
from em_pipelines.extraction.rules.kinship import KinNames
from em_pipelines.extraction.rules.matching import ClauseMatcher, Match, Slots, Subjects
from em_pipelines.extraction.rules.message import Sentence, parse_message, readable
from em_pipelines.extraction.rules.modifiers import Modifiers
from em_pipelines.extraction.rules.names import Reading
from em_pipelines.extraction.rules.patterns import KIN_RELATION, RATHER, Pattern, PatternIndex
from em_pipelines.extraction.rules.people import COUPLES, People, Referent, is_short_date, refer, type_shown, type_told
from em_pipelines.extraction.rules.slots import Fill, with_judgement
from em_pipelines.extraction.segmentation import Talk
from em_pipelines.language.en.clauses import Clause
from em_pipelines.language.en.lexicon import EXPECTED_OBJECT, guess_type, words
from em_pipelines.language.en.noun_phrases import KIN, PETS, NounPhrase, kin_noun
from em_pipelines.language.en.tokens import ADV, EVALUATIVE, MONTH, PREP, WEEKDAY, Token, tokenise
from em_pipelines.schema.readings import Claim, Turn, initial_confidence
from em_pipelines.schema.vocabulary import (
    RELATIONS_BY_GROUP,
    USER,
    EntityType,
    Flag,
    HedgeLevel,
    Mechanism,
    TemporalType,
)

_SHAREABLE = frozenset(RELATIONS_BY_GROUP["preference"]) | {"wants", "believes", "follows"}
_AGREED = tuple(tuple(p.split()) for p in ("me too", "so do i", "so am i", "same here", "as do i", "so would i"))
_AFTER_AGREE = frozenset({"with", ",", "completely"})


def unframed_claims(
    reading: Reading, claims: list[Claim], turn_number: int, speaker: str, sentence: Sentence
) -> list[Claim]:
    """What a sentence says without a frame for it, given the claims read so far."""
    if not claims and not sentence.mocked:
        return []
    mocked = mocked_claims(reading, turn_number, speaker, sentence.mocked)
    known = {claim.object for claim in claims}
    return shared_claims(reading, claims, speaker, sentence) + [c for c in mocked if c.object not in known]


def shared_claims(reading: Reading, claims: list[Claim], speaker: str, sentence: Sentence) -> list[Claim]:
    """What the speaker shares of the likings and opinions just told of somebody else: `… and I agree`."""
    told = [c for c in claims if c.subject != speaker and c.relation in _SHAREABLE]
    if not told or not _agrees(reading, sentence):
        return []
    last = told[-1]
    flags = tuple(flag for flag in last.flags if flag is not Flag.SECONDHAND)
    is_wish = last.relation == "wants"
    confidence = initial_confidence(Mechanism.EXPLICIT, HedgeLevel.NONE, flags, is_wish=is_wish)
    return [
        replace(c, subject=speaker, subject_type=EntityType.PERSON, flags=flags, confidence=confidence)
        for c in told
        if (c.subject, c.relation, c.start) == (last.subject, last.relation, last.start)
    ]


def _agrees(reading: Reading, sentence: Sentence) -> bool:
    lows = tuple(token.low for token in reading.tokens[sentence.start : sentence.stop])
    if any(lows[k : k + len(words)] == words for words in _AGREED for k in range(len(lows))):
        return True
    return any(_is_agreement(reading, clause) for clause in sentence.clauses)


def _is_agreement(reading: Reading, clause: Clause) -> bool:
    """`I agree`, `we completely agree with her`."""
    verb, tokens = clause.verb, reading.tokens
    if "agree" not in verb.lemmas or verb.is_negated or verb.modal is not None:
        return False
    is_own = clause.pronoun is not None and tokens[clause.pronoun].low in {"i", "we"}
    return is_own and (clause.right == verb.end or tokens[verb.end].low in _AFTER_AGREE)


def mocked_claims(reading: Reading, turn_number: int, speaker: str, phrases: list[NounPhrase]) -> list[Claim]:
    """What is mocked is disliked: `Oh great, another fire drill`. Nothing for people and bare pronouns."""
    mocked = (_mocked_claim(reading, turn_number, speaker, phrase) for phrase in phrases)
    return [claim for claim in mocked if claim is not None]


def _mocked_claim(reading: Reading, turn_number: int, speaker: str, phrase: NounPhrase) -> Claim | None:
    meant = refer(reading, phrase)
    if meant.kin or not meant.name or (meant.entity_type is EntityType.PERSON and phrase.det is None):
        return None
    tokens = reading.tokens
    flags = (Flag.SARCASM_DETECTED,)
    return Claim(
        turn_number=turn_number,
        subject=speaker,
        subject_type=EntityType.PERSON,
        relation="dislikes",
        object=meant.name,
        object_type=guess_type(meant.name, EXPECTED_OBJECT.get("dislikes")),
        value=None,
        confidence=initial_confidence(Mechanism.EXPLICIT, HedgeLevel.NONE, flags),
        start=tokens[phrase.start].start,
        end=tokens[phrase.end - 1].end,
        temporal_type=TemporalType.TRAIT,
        flags=flags,
        pattern_id="preference.mocked",
    )


NOBODY = frozenset({"you", "u", "this", "that", "these", "those", "there", "here"})
"""Subjects that stand for nobody whose facts are kept, or for what no rule can tell."""
_BEFORE_PLACES = frozenset({"in", "at", "near", "into", "on", "around", "across"})
_SPANS = words("words", "time_spans") | {"decade", "decades", "ages", "fortnight"}
_CONSUMING = frozenset({"have", "drink", "eat", "take", "use", "wear"})
"""`I'd rather have rye` prefers the rye; `I'd rather walk` the walking."""
_HEALTH = frozenset(RELATIONS_BY_GROUP["health"])
_TELLING = {**dict.fromkeys(RELATIONS_BY_GROUP["intent"], frozenset({"new"})), "prefers": EVALUATIVE}
"""Words of judgement that say which: who wants a new job has one, who prefers small boats rows no large ones."""


def _may_accompany(companion: Referent, relation: str) -> bool:
    """Whether a pattern of two may be about the speaker and a relative: of a couple, husband or wife."""
    return not companion.kin or (relation in COUPLES and KIN.get(companion.kin) in COUPLES)


def _lasts(after: set[str], clause: Clause) -> bool:
    """`have been a nurse since May`, `for twelve years`, `have always liked`: it still holds."""
    return "since" in after or ("for" in after and not _SPANS.isdisjoint(after)) or "always" in clause.verb.adverbs


def _at_once(tokens: list[Token], clause: Clause) -> set[str]:
    """The word right after the verb, and the adverbs before it."""
    lows: set[str] = set()
    for token in tokens[clause.verb.end : clause.right]:
        lows.add(token.low)
        if not token.bits & ADV or token.bits & PREP:
            break
    return lows


def _lemmas_of(clause: Clause) -> tuple[str, ...]:
    """The verbs by which patterns for the clause are looked up."""
    verb = clause.verb
    lemmas = verb.lemmas
    is_rather = verb.modal == "would" and "rather" in verb.adverbs
    return (RATHER,) if is_rather and _CONSUMING.isdisjoint(lemmas) else lemmas


@dataclass(frozen=True, slots=True)
class ReaderOptions:
    """How a message is read: how much of it, and what is done beside reading it."""

    max_characters: int
    keeps_health: bool = False
    is_spoken: bool = False
    """A transcript of speech, in which nothing marks where sentences end."""


class MessageReader:
    """State of reading one message; `people` is shared by the turns of a segment."""

    def __init__(self, turn: Turn, patterns: PatternIndex, people: People, options: ReaderOptions) -> None:
        text = readable(turn.text[: options.max_characters], is_note=turn.note_privacy is not None)
        self.turn = turn
        self.patterns = patterns
        self.keeps_health = options.keeps_health
        self.people = people
        self.subject = turn.subject or USER
        mended, self.sentences = parse_message(tokenise(text), text, is_spoken=options.is_spoken)
        tokens, has_capitals = mended.tokens, any(text[t.start].isupper() for t in mended.tokens)
        day, talk = turn.timestamp.date(), Talk(self.subject, people.names, partial(whose, people))
        seams, by = mended.seams, people.speakers
        self.reading = Reading(tokens, text, day, has_capitals, seams, by, talk=talk, used=people.used)
        self.subjects = Subjects(self.reading, people, self.subject)
        self.notes = Notes(tokens, turn.turn_number, self.subject)
        self.kin = KinNames(self.reading, people, self.subject, self.notes)

    def read(self) -> None:
        """Fills the notes."""
        self.people.begin_message()
        for sentence in self.sentences:
            self.people.sentence += 1
            n_met = 0
            self.subjects.meet_speakers(sentence.clauses)
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
        self.kin.forget_bare()

    def _meet(self, nouns: list[NounPhrase], n: int, until: int, sentence_start: int) -> int:
        """Notes the people and names of the phrases before a token, and the kin edges they state."""
        while n < len(nouns) and nouns[n].start < until:
            self._meet_phrase(nouns, n, sentence_start)
            n += 1
        return n

    def _meet_phrase(self, nouns: list[NounPhrase], n: int, sentence_start: int) -> None:
        phrase = nouns[n]
        if phrase.possessor_phrase is not None:
            self._meet_owner(phrase.possessor_phrase)
        is_small = self.reading.has_capitals and not self.reading.tokens[phrase.head].is_capital
        if is_small and kin_noun(self.reading.tokens, phrase) is None:
            return
        person, following = refer(self.reading, phrase), nouns[n + 1 :]
        is_renamed = person.kin and self.kin.state(person, phrase, following)
        if not is_renamed and self._is_somebody(person, phrase, following, sentence_start):
            self.people.meet(person)
        self._mention_name(person, phrase, sentence_start)

    def _is_somebody(
        self, person: Referent, phrase: NounPhrase, following: list[NounPhrase], sentence_start: int
    ) -> bool:
        """Whether a pronoun may mean whom the phrase names: no place, and no capital that only opens a sentence."""
        before = self._word_before(phrase)
        is_place = before in _BEFORE_PLACES or (before == "from" and not person.gender)
        is_likened = before == "like" and phrase.det in {"a", "an"}  # "a face like a bank manager"
        if person.entity_type is not EntityType.PERSON or is_place or is_likened:
            return False
        is_sure = person.kin or person.gender or person.start > sentence_start
        return bool(is_sure) or self._is_paired(phrase, following)

    def _meet_owner(self, phrase: NounPhrase) -> None:
        owner = refer(self.reading, phrase)
        self.people.meet(owner)
        if owner.kin:
            self.kin.state(owner, phrase, [])
        elif type_shown(self.reading, owner) is EntityType.PERSON:
            self.notes.type_anew(owner.name)

    def _word_before(self, phrase: NounPhrase) -> str:
        return self.reading.tokens[phrase.start - 1].low if phrase.start else ""

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
        if not is_short_date(person):
            self.notes.mention(person.name, type_shown(self.reading, person), person.start, person.end)

    def _read_clause(self, clause: Clause, mods: Modifiers) -> None:
        lemmas = _lemmas_of(clause)
        if self._is_passed_over(clause, mods, lemmas):
            return
        after = {token.low for token in self.reading.tokens[clause.verb.end : clause.right]}
        matcher = ClauseMatcher(self.reading, clause, mods, is_lasting=_lasts(after, clause))
        read: set[str] = set()
        for pattern in matcher.allowed(self._candidates(clause, lemmas, after)):
            match = self._match(pattern, matcher, read)
            if match is not None and self._state(match):
                read.add(pattern.spec.relation)

    def _is_passed_over(self, clause: Clause, mods: Modifiers, lemmas: tuple[str, ...]) -> bool:
        """Whether no pattern is tried on a clause: it supposes, asks, is about nobody, or no pattern has its verb."""
        pronoun = self.reading.tokens[clause.pronoun].low if clause.pronoun is not None else ""
        is_of_nobody = pronoun in NOBODY and not self._asks_to_call(clause)
        return mods.is_supposed or mods.is_question or is_of_nobody or not self.patterns.has(lemmas)

    def _asks_to_call(self, clause: Clause) -> bool:
        """`You can call me Ori` tells the speaker's name."""
        tokens = self.reading.tokens
        return "call" in clause.verb.lemmas and clause.verb.end < len(tokens) and tokens[clause.verb.end].low == "me"

    def _candidates(self, clause: Clause, lemmas: tuple[str, ...], after: set[str]) -> list[Pattern]:
        tokens = self.reading.tokens
        first = tokens[clause.subject[0].start].low if clause.subject else ""
        candidates = self.patterns.candidates(lemmas, first, after, _at_once(tokens, clause))
        if clause.verb.end < clause.right:
            return candidates
        return [pattern for pattern in candidates if not pattern.needs_words_after]

    def _match(self, pattern: Pattern, matcher: ClauseMatcher, read: set[str]) -> Match | None:
        """How a pattern fits a clause whose verb it allows, in which the relations `read` have been read already."""
        spec, clause = pattern.spec, matcher.clause
        is_said = (spec.yields and spec.relation in read) or (spec.dates == "ahead" and "scheduled_for" in read)
        is_move = spec.relation == "lives_in" and "uses" in read  # who moves from one service to another stays at home
        if is_said or is_move or (spec.relation in _HEALTH and not self.keeps_health):
            return None
        slots = matcher.slots(pattern)
        if slots is None or not self._complete(slots, pattern, clause):
            return None
        subjects = self.subjects.of(pattern, clause, slots)
        if not subjects or (matcher.mods.is_reported and any(subject.name == self.subject for subject in subjects)):
            return None
        return Match(self.reading, pattern, clause, matcher.mods, subjects, slots)

    def _complete(self, slots: Slots, pattern: Pattern, clause: Clause) -> bool:
        """Adds what no words of the frame give; false where the pattern wants a companion and there is none."""
        spec, companion = pattern.spec, clause.companion
        if (kept := _TELLING.get(spec.relation)) and spec.object in slots:
            slots[spec.object] = [with_judgement(self.reading, fill, kept) for fill in slots[spec.object]]
        if spec.value is not None:
            slots["value"] = [Fill(clause.verb.start, clause.verb.end, text=spec.value)]
        if companion is not None:
            slots["companion"] = [Fill(companion.start, companion.end, companion)]
        if spec.object != "companion":
            return True
        return companion is not None and _may_accompany(refer(self.reading, companion), spec.relation)

    def _state(self, match: Match) -> int:
        """Notes what a match states; the number of claims by which the notes grow."""
        n_before = len(self.notes.claims)
        if match.pattern.spec.relation == KIN_RELATION:
            self._state_kin(match)
        else:
            for claim in build_claims(match, self.turn.turn_number):
                self._add_with_mentions(claim, match.subjects, match.objects)
        return max(0, len(self.notes.claims) - n_before)

    def _state_kin(self, match: Match) -> None:
        if match.pattern.spec.subject == "unnamed":
            self.kin.name_last(match.objects, is_given="be" not in match.clause.verb.lemmas)
        elif not match.mods.is_hypothetical:
            self.kin.name(match.clause, match.subjects, match.objects)

    def _add_with_mentions(self, claim: Claim, subjects: list[Referent], fills: list[Fill]) -> None:
        self.notes.add(claim)
        if claim.relation == "uses" and claim.object is not None:
            self.people.used.add(claim.object.casefold())
        if claim.polarity < 0 and claim.object is not None:
            self.kin.deny(claim)
        self._mention_subject(claim, subjects)
        if claim.object is None or claim.object_type is None:
            return
        if claim.relation == "has_pet" and claim.object.casefold() in PETS:
            self._expect_name(claim.object, claim.subject, subjects[0], fills[0])
        if claim.subject_type is EntityType.PERSON:
            self.people.speak_of(Referent(claim.object, claim.object_type, fills[0].start, fills[-1].end))
        self._mention_object(claim.object, claim.object_type, fills)

    def _mention_subject(self, claim: Claim, subjects: list[Referent]) -> None:
        for subject in subjects:
            if subject.name == claim.subject and subject.name != self.subject:
                kind = type_told(self.reading, subject, claim.subject_type, claim.relation)
                self.notes.mention(subject.name, kind, subject.start, subject.end)
                self.people.speak_of(subject)

    def _expect_name(self, pet: str, owner: str, subject: Referent, fill: Fill) -> None:
        """A pet given by its noun alone may be named in the next sentence."""
        unnamed = Referent(pet, EntityType.ANIMAL, fill.start, fill.end, kin=pet.casefold())
        holder = Referent(owner, EntityType.PERSON, subject.start, subject.end)
        self.people.unnamed = (unnamed, holder, self.people.sentence)

    def _mention_object(self, name: str, kind: EntityType, fills: list[Fill]) -> None:
        """Mentions the object where the first of the fills that may have given it stands."""
        for fill in fills:
            if fill.phrase is None or refer(self.reading, fill.phrase).name == name:
                self.notes.mention(name, kind, fill.phrase.first if fill.phrase else fill.start, fill.end)
                return
