"""Relatives, friends and pets: the edges that kin phrases state, and the names that take a noun's place.

`my wife Lena`, `our twins Jonne and Aino`, `her brother`, `I have two sons`, `three cats: Miso, Tofu and Nori`.
"""

from dataclasses import replace

from em_pipelines.extraction.rules.claims import Notes
from em_pipelines.extraction.rules.kin_wording import is_name_apposed, may_own, names_behind, sentence_start
from em_pipelines.extraction.rules.names import Reading, is_given_name, is_name
from em_pipelines.extraction.rules.people import COUPLES, OWN, People, Referent, had_by, refer, speaker
from em_pipelines.extraction.rules.slots import Fill
from em_pipelines.extraction.segmentation import owner_named
from em_pipelines.language.en.clauses import Clause
from em_pipelines.language.en.dates import number_of
from em_pipelines.language.en.lexicon import gender_of_name, words
from em_pipelines.language.en.noun_phrases import HAD_RELATIONS, KIN, PETS, NounPhrase, kin_noun
from em_pipelines.language.en.tokens import ADV, BE, MODAL, PUNCT, Token, is_quoted, low_at
from em_pipelines.language.name_keys import noun_of, owned_name
from em_pipelines.schema.readings import Claim, initial_confidence
from em_pipelines.schema.vocabulary import USER, EntityType, HedgeLevel, Mechanism, TemporalType

_EX = words("people", "ex")
_ONLY_NAMED = words("people", "only_named")
PATTERN_ID = "people.kin_phrase"
_OF_ALL = frozenset({"kid", "kids", "child", "children"})
"""Whom people call ours when they speak of everybody's."""
_CLASS = 9
"""Children from which somebody who has them teaches or coaches them."""
_DUE = 3
"""Words behind a baby in which it is said to be due."""
_EXPECTING = frozenset({"having", "expecting"})
_NAMED_BY_US = frozenset({"parent_of", "has_pet"})
_SINCE = frozenset({"since", "when", "after", "before", "until", "because", "as"})
_DYING = frozenset({"die", "pass"})
_TAUTOLOGIES = frozenset({"partner"})
_SPEAKING = frozenset({"you", "i"})
_HELPERS = 4
"""Words before a kin phrase in which a modal verb makes it unreal."""
_APART = frozenset({",", ".", "!", "?", "\n", "…"})
_TO_LISTENER = frozenset({"you", "your", "how", "what", "please", "let", "thanks", "thank"})
_LISTING = frozenset({"and", "or", "my", "our"})


def stated_relation(reading: Reading, person: Referent, phrase: NounPhrase) -> str | None:
    """The relation between the owner of a kin phrase and the person; None for ex-wives and unnamed vague roles."""
    if is_former(reading.tokens, phrase) or (person.is_unnamed and _is_nobodys(reading.tokens, person, phrase)):
        return None
    if person.kin in PETS:
        return "has_pet"
    relation = KIN.get(person.kin)
    if relation in COUPLES and person.is_unnamed and _is_widowed(reading, phrase, is_own=person.is_own):
        return None
    return None if relation in _ONLY_NAMED and person.is_unnamed else relation


def is_called_out(reading: Reading, phrase: NounPhrase) -> bool:
    """`ok mom`, `Ingrid, my sister, …`, `'Dad?'`: who is spoken to, or spoken of by others, is no relative told of."""
    tokens = reading.tokens
    if is_quoted(tokens, reading.text, phrase.head):
        return True
    before = tokens[phrase.start - 1] if phrase.start else None
    after = tokens[phrase.end] if phrase.end < len(tokens) else None
    is_apart = after is None or after.low in _APART
    if not is_apart or (before is not None and not before.bits & (PUNCT | ADV)):
        return False
    if phrase.possessor is None and phrase.det is None:
        return phrase.first == phrase.head
    if phrase.start > 1 and tokens[phrase.start - 2].low in reading.speakers:
        return True
    return phrase.possessor in OWN and phrase.end == phrase.head + 1 and _is_vocative(tokens, phrase)


def _is_vocative(tokens: list[Token], phrase: NounPhrase) -> bool:
    """`happy Easter, my brother!`, `my sister, you are a genius`; not `my mum, my sister, and I`."""
    mark, following = (low_at(tokens, k, len(tokens)) for k in (phrase.end, phrase.end + 1))
    if phrase.start == 0 or tokens[phrase.start - 1].low != ",":
        return mark == "!" or (mark == "," and following in _TO_LISTENER)
    opening = tokens[sentence_start(tokens, phrase.start) : phrase.start - 1]
    is_listed = following in _LISTING or any(token.low in OWN for token in opening)
    is_name = bool(opening) and opening[-1].is_capital and bool(gender_of_name(opening[-1].low))
    return not is_listed and not is_name


def _is_nobodys(tokens: list[Token], person: Referent, phrase: NounPhrase) -> bool:
    """`our kids are our future`, `I have 22 kids this year`, `we're having a baby`, `her baby is due`."""
    if person.kin in _OF_ALL and (phrase.possessor == "our" or _is_class(tokens, phrase)):
        return True
    is_due = person.kin == "baby" and any(token.low == "due" for token in tokens[phrase.end : phrase.end + _DUE])
    return is_due or (phrase.start > 0 and tokens[phrase.start - 1].low in _EXPECTING)


def _is_class(tokens: list[Token], phrase: NounPhrase) -> bool:
    """Whether there are more than one brings up oneself."""
    counts = (number_of(tokens, k, phrase.end) for k in range(phrase.start, phrase.end))
    return any(count is not None and count[0] >= _CLASS for count in counts)


def is_former(tokens: list[Token], phrase: NounPhrase) -> bool:
    """`my ex-wife`, `my late uncle`, `my first husband`."""
    lows = [token.low for token in tokens[phrase.first : phrase.end]]
    is_first = lows[0] == "first" and any(KIN.get(low) in COUPLES for low in lows)
    return is_first or any(low in _EX or low.startswith("ex-") for low in lows)


def _is_unreal(tokens: list[Token], phrase: NounPhrase) -> bool:
    """`not my wife`, `he is like my brother`, `she could have been my daughter`, `I'm his son`: nobody is told of."""
    helpers = tokens[max(0, phrase.start - _HELPERS) : phrase.start]
    before = helpers[-1] if helpers else None
    if before is None or before.low == "not" or not phrase.possessor:
        return before is not None and before.low == "not"
    if before.low == "like":
        return len(helpers) > 1 and bool(helpers[-2].bits & BE)
    return bool(before.bits & BE) and any(token.bits & MODAL or token.low in _SPEAKING for token in helpers)


def _is_widowed(reading: Reading, phrase: NounPhrase, *, is_own: bool) -> bool:
    """`Odile lost her husband`, `since her husband died`; `my wife died` is read as a death, but not behind `since`."""
    before = reading.tokens[phrase.start - 1] if phrase.start else None
    after = reading.tokens[phrase.end].verbs if phrase.end < len(reading.tokens) else None
    is_dead = not _DYING.isdisjoint(after or ())
    if is_own:
        return is_dead and before is not None and before.low in _SINCE
    return is_dead or "lose" in ((before and before.verbs) or ())


def ended_relation(reading: Reading, person: Referent, phrase: NounPhrase) -> str | None:
    """What `my ex Jonne`, `my ex-wife` say is over; None where nothing is, or where death ended it."""
    words_in = [reading.tokens[k].low for k in range(phrase.first, phrase.end)]
    if any(word == "ex" or word.startswith("ex-") for word in words_in):
        relation = KIN.get(person.kin)
        return relation if relation in {"spouse_of", "partner_of"} else None
    return None


def named_after(reading: Reading, phrase: NounPhrase, following: list[NounPhrase]) -> list[Referent]:
    """The further names of `our twins Jonne and Aino`."""
    named = []
    end = phrase.end
    for other in following:
        between = {t.low for t in reading.tokens[end : other.start]}
        is_other = other.possessor is not None or other.det is not None or kin_noun(reading.tokens, other) is not None
        if not between or is_other or not between <= {"and", ",", "&"} or not is_name(reading, other):
            break
        meant = refer(reading, other)
        named.append(Referent(meant.name, EntityType.PERSON, meant.start, meant.end))
        end = other.end
    return named


def named_in_apposition(
    reading: Reading, person: Referent, phrase: NounPhrase, following: list[NounPhrase]
) -> Referent | None:
    """The name in `my mother, Ruth, …`."""
    tokens = reading.tokens
    if not person.is_unnamed or not following or phrase.end >= len(tokens):
        return None
    named = following[0]
    is_between_commas = (
        tokens[phrase.end].low == ","
        and named.start == phrase.end + 1
        and (named.end == len(tokens) or tokens[named.end].low in {",", ".", "!"})
    )
    return refer(reading, named) if is_between_commas and is_given_name(reading, named) else None


def without_kin(claims: list[Claim], denied: Claim) -> list[Claim]:
    """The claims without the edge that a phrase stated by itself and its sentence denies: `our parrot died`."""
    edge = (denied.subject, denied.relation, denied.object)
    return [c for c in claims if c is denied or c.pattern_id != PATTERN_ID or (c.subject, c.relation, c.object) != edge]


class KinNames:
    """States, names and denies the relatives and pets of one message in its notes; `subject` is whose turn it is."""

    def __init__(self, reading: Reading, people: People, subject: str, notes: Notes) -> None:
        self.reading = reading
        self.people = people
        self.subject = subject
        self.notes = notes
        self._renamed: set[tuple[str, str]] = set()
        """(owner, kin noun) of those whose name is known by now: the noun alone is no second person."""

    def state(self, person: Referent, phrase: NounPhrase, following: list[NounPhrase]) -> bool:
        """Notes the edge that a kin phrase states; true where a name in apposition has taken its place."""
        owner = self._owner(person, phrase)
        if owner is None or is_called_out(self.reading, phrase) or _is_unreal(self.reading.tokens, phrase):
            return False
        if (named := named_in_apposition(self.reading, person, phrase, following)) is not None:
            if not is_former(self.reading.tokens, phrase):
                self.rename(person, named, owner)
                return True
            person = replace(person, name=named.name, start=named.start, end=named.end)
        relation = stated_relation(self.reading, person, phrase)
        if relation is None:
            ended = ended_relation(self.reading, person, phrase)
            if ended is not None:
                self.notes.add(self._edge(owner, ended, person, polarity=-1))
            return False
        self._add_edge(owner, relation, person)
        if person.gender == "p" and not person.is_unnamed:
            for other in named_after(self.reading, phrase, following):
                self._add_edge(owner, relation, other)
        return False

    def name(self, clause: Clause, subjects: list[Referent], fills: list[Fill]) -> None:
        """`My husband is called Anders`, `Rosalie is my sister`, `I have two brothers`."""
        phrases = [fill.phrase for fill in fills if fill.phrase is not None]
        if clause.verb.is_negated:
            self._deny_roles(subjects, phrases)
            return
        for phrase in phrases:
            if phrase.det == "no":
                continue
            meant = refer(self.reading, phrase)
            for subject in subjects:
                if "have" in clause.verb.lemmas:
                    self._add_had(subject, meant, phrase)
                else:
                    self._name_one(clause, subject, meant, phrase)

    def deny(self, claim: Claim) -> None:
        """Takes back the edge that a phrase stated by itself and its sentence denies: `our parrot died`."""
        self._renamed.add((claim.subject, (claim.object or "").casefold()))
        self.notes.claims = without_kin(self.notes.claims, claim)

    def name_last(self, fills: list[Fill], *, is_given: bool = False) -> None:
        """`Her name is Olive`, after `we adopted a whippet`; nobody gives (`is_given`) a name to their mother."""
        last = self.people.unnamed
        if last is None or len(fills) != 1 or fills[0].phrase is None or last[2] < self.people.sentence - 1:
            return
        if is_given and KIN.get(last[0].kin) not in _NAMED_BY_US and last[0].kin not in PETS:
            return
        self.rename(last[0], refer(self.reading, fills[0].phrase), last[1])
        self.people.unnamed = None

    def name_those_behind(self, nouns: list[NounPhrase], stop: int) -> None:
        """`I have three cats: Miso, Tofu and Nori`: the names take the place of the noun."""
        for phrase in nouns:
            if kin_noun(self.reading.tokens, phrase) is None:
                continue
            person = refer(self.reading, phrase)
            name = self._owner_in_notes(person) if person.is_unnamed else None
            if name is None:
                continue
            owner = Referent(name, EntityType.PERSON, phrase.start, phrase.end)
            for named in names_behind(self.reading, phrase, person, stop):
                self.rename(person, named, owner)

    def rename(self, kin: Referent, named: Referent, owner: Referent | None) -> None:
        """Puts the name in the place of the kin noun, in what was claimed and for the pronouns to come."""
        person = replace(kin, name=named.name, start=named.start, end=named.end)
        relation = "has_pet" if kin.kin in PETS else KIN.get(kin.kin)
        if owner is None or relation is None or named.name.casefold() in self.reading.speakers:
            return
        self._renamed.add((owner.name, owned_name(owner.name, kin.kin).casefold()))
        self.notes.claims = [
            c for c in self.notes.claims if (c.subject, c.relation, c.object) != (owner.name, relation, kin.name)
        ]
        self._add_edge(owner, relation, person)
        self.people.met = [person if other.name == kin.name else other for other in self.people.met]
        self.people.last_met[person.name] = self.people.sentence
        self.people.meet(person)

    def _owner(self, person: Referent, phrase: NounPhrase) -> Referent | None:
        """Whose kin the phrase names; None where nobody certain."""
        if person.is_own:
            return speaker(self.subject, phrase.start)
        said = phrase.possessor_phrase
        owner = self._by_pronoun(phrase) if said is None else self._by_subject(refer(self.reading, said))
        is_known = owner is not None and owner.entity_type is EntityType.PERSON and not owner.is_unowned
        return owner if is_known else None

    def _by_pronoun(self, phrase: NounPhrase) -> Referent | None:
        """Whom `your`, `his`, `her` or `their` means."""
        listener = self.reading.talk.listener
        if phrase.possessor == "your" and listener:
            return Referent(listener, EntityType.PERSON, phrase.start, phrase.start + 1)
        meant = self.people.named_by(phrase.possessor) if phrase.possessor is not None else None
        if meant is None or (self.people.is_among_people and not may_own(self.reading, meant, phrase.possessor or "")):
            return None
        return self._by_subject(replace(meant, start=phrase.start, end=phrase.start + 1, is_own=False))

    def _by_subject(self, person: Referent) -> Referent:
        """Whoever speaks, by the subject of what they say; not owned where it is a namesake's."""
        owner = owner_named(self.reading.talk.names, person.name)
        return replace(person, name=owner or person.name, is_unowned=person.is_unowned or owner is None)

    def _owner_in_notes(self, kin: Referent) -> str | None:
        """Whose relative or pet the noun was claimed to be."""
        owners = (c.subject for c in self.notes.claims if c.object == kin.name and c.relation in HAD_RELATIONS)
        return next(owners, None)

    def _add_had(self, subject: Referent, meant: Referent, phrase: NounPhrase) -> None:
        """`I have two brothers`."""
        relation = stated_relation(self.reading, meant, phrase) if meant.kin else None
        if relation is not None:
            had = had_by(self.reading, subject.name, meant, phrase)
            self.people.met = [had if other.name == meant.name else other for other in self.people.met]
            self._add_edge(subject, relation, had)

    def _name_one(self, clause: Clause, subject: Referent, meant: Referent, phrase: NounPhrase) -> None:
        """`Rosalie is my sister`; `my husband is called Anders`."""
        if meant.kin and not subject.kin:
            is_apposed = clause.verb.start == clause.verb.end and meant.kin not in PETS and clause.subject
            if is_apposed and not is_name_apposed(self.reading, subject, clause.subject[0], phrase):
                return
            self.rename(meant, subject, self._owner(meant, phrase))
        elif subject.is_unnamed and clause.subject:
            self.rename(subject, meant, self._owner(subject, clause.subject[0]))

    def _deny_roles(self, subjects: list[Referent], phrases: list[NounPhrase]) -> None:
        """`Piet isn't my boss anymore`: the edge, with polarity −1."""
        for phrase in phrases:
            meant = refer(self.reading, phrase)
            relation, owner = KIN.get(meant.kin), self._owner(meant, phrase)
            if relation is None or owner is None:
                continue
            for subject in subjects:
                if not subject.kin and subject.name != owner.name:
                    self._deny_edge(self._edge(owner, relation, subject, polarity=-1), phrases)

    def _deny_edge(self, edge: Claim, phrases: list[NounPhrase]) -> None:
        self.notes.add(edge)
        # Whose role is denied is not thereby a wife, a boss: the bare role says nothing here.
        for phrase in phrases:
            self.deny(replace(edge, object=refer(self.reading, phrase).name))

    def forget_bare(self) -> None:
        """Leaves out what everybody has, a mother, where nothing more is said of her."""
        claims = self.notes.claims
        said = {end for c in claims if c.pattern_id != PATTERN_ID for end in (c.subject, c.object)}
        bare = [c for c in claims if c.pattern_id == PATTERN_ID and self._is_bare(c) and c.object not in said]
        self.notes.claims = [claim for claim in claims if claim not in bare]

    def _is_bare(self, edge: Claim) -> bool:
        """What says too little; among people also a third person's brother, and their baby, who may be unborn."""
        is_others = self.people.is_among_people and edge.subject not in {USER, self.subject}
        name = noun_of(edge.object or "").casefold()
        return _is_bare(edge) or (is_others and name in KIN and (edge.relation == "sibling_of" or name == "baby"))

    def _add_edge(self, owner: Referent, relation: str, person: Referent) -> None:
        if (owner.name, person.name.casefold()) in self._renamed:
            return
        if person.is_unnamed:
            self.people.unnamed = (person, owner, self.people.sentence)
        self.notes.add(self._edge(owner, relation, person))
        self.notes.mention(person.name, person.entity_type, person.start, person.end)

    def _edge(self, owner: Referent, relation: str, person: Referent, *, polarity: int = 1) -> Claim:
        tokens = self.reading.tokens
        spans = [tokens[k] for k in (owner.start, owner.end - 1, person.start, person.end - 1)]
        return Claim(
            turn_number=self.notes.turn_number,
            subject=owner.name,
            subject_type=EntityType.PERSON,
            relation=relation,
            object=person.name,
            object_type=person.entity_type,
            value=None,
            confidence=initial_confidence(Mechanism.EXPLICIT, HedgeLevel.NONE),
            start=min(token.start for token in spans),
            end=max(token.end for token in spans),
            temporal_type=TemporalType.STATE,
            polarity=polarity,
            pattern_id=PATTERN_ID,
        )


def _is_bare(edge: Claim) -> bool:
    """`mother` of somebody, `their brother`: no name on either end, and nothing that not everybody has."""
    name, owner = noun_of(edge.object or ""), noun_of(edge.subject)
    if name.islower() and KIN.get(owner) in _ONLY_NAMED:  # "my neighbour's cat"
        return True
    if KIN.get(name.casefold()) is None:
        return False
    return edge.relation == "child_of" or name in _TAUTOLOGIES or (owner != USER and owner.islower())
