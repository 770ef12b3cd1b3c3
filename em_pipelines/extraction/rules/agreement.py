"""Whether a claim of a model agrees with the sentence that it was taken from: in polarity, subject and relation.

That its words occur in the turn does not make a claim true: "user dislikes black tea" has the words of "I love black
tea", and "user lives in Reno" those of "My brother lives in Reno". Two readers are asked, and neither needs a model:

- the patterns of the rules, as a second extractor: where they read the same, a claim is confirmed; where they read the
  opposite, the same of somebody else, or another relation between the same ends, it is contradicted;
- the clauses that hold the object (`clause_evidence`): who their subject is, and whether they deny.

Where neither can tell, the claim stays as it is. Claims of the rules are not compared with themselves, what is flagged
or hedged was not plainly said, and sentences in other languages than English have no parse.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property

from em_pipelines.extraction.rules.clause_evidence import (
    COUPLES,
    OF_PEOPLE,
    REAL,
    ClauseEvidence,
    Fact,
    Speaker,
    fact_of,
    verbs_of,
)
from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.extraction.second_reader import POLARITY, RELATION, SUBJECT, Contradiction
from em_pipelines.extraction.settings import RulesSettings
from em_pipelines.extraction.support import content_stems
from em_pipelines.language.en.noun_phrases import KIN
from em_pipelines.language.en.tokens import tokenise
from em_pipelines.language.name_keys import noun_of, owner_of
from em_pipelines.schema.readings import ENGLISH, Claim, Segment, Turn
from em_pipelines.schema.vocabulary import RELATIONS_BY_GROUP, SYMMETRIC, USER, Act, EntityType, HedgeLevel

_CLOSE = frozenset({"spouse_of", "partner_of", "parent_of", "child_of", "sibling_of", "manages", "reports_to"})
"""Relations of people that no other word for somebody says as well: a landlord may be a friend, but is no boss."""
_KIN_GROUPS = (COUPLES, frozenset({"sibling_of"}))
"""Relations that some word says. A child may be anybody's little one."""
_INTENT = frozenset(RELATIONS_BY_GROUP["intent"]) | {"might_be_interested_in"}
_PLACED = frozenset({"lives_in", "located_in", "born_in"})
_TOLD_ALONE = frozenset(RELATIONS_BY_GROUP["work"]) | {"lives_in", "located_in"}
"""Who says one of these says nothing else of the same two by it."""
_OF_EVENTS = frozenset({"scheduled_for", "happened_on"})
"""Several events may be on one day."""
_APART = {
    "works_at": frozenset({"studies_at", "graduated_from", "visited", "attended"}),
    "lives_in": frozenset({"visited", "born_in"}),
}
"""Relations of the same ends that a sentence says in place of another."""


class RulesAsSecondReader:
    """Compares the claims of a model with what the rules read, in English (`verification.SecondReader`)."""

    module = __name__

    def disagreements(self, claims: Sequence[Claim], segment: Segment) -> Iterator[tuple[int, Contradiction]]:
        """The claims of a model that their own sentences contradict: the place of each among `claims`, and how."""
        turns = {turn.turn_number: turn for turn in segment.turns if turn.language in {None, ENGLISH}}
        compared = {n: claim for n, claim in enumerate(claims) if _is_compared(claim) and claim.turn_number in turns}
        if not compared:
            return
        second = [claim for claim in _second_reader().extract(segment).claims if claim.act is Act.ASSERT]

        @cache
        def heard(number: int) -> _TurnReadings:
            read = [claim for claim in second if claim.turn_number == number]
            return _TurnReadings(turns[number], read, _words_until(number, segment))

        for n, claim in compared.items():
            if (found := heard(claim.turn_number).contradiction(claim)) is not None:
                yield n, found


def _is_compared(claim: Claim) -> bool:
    is_plain = not claim.flags and claim.hedge_level is HedgeLevel.NONE
    return claim.pattern_id is None and claim.act is Act.ASSERT and is_plain


@cache
def _second_reader() -> RulesExtractor:
    """The rules with all that they can read: what is seldom right, or not kept, may contradict as well."""
    return RulesExtractor(RulesSettings(min_right=0, keeps_health=True))


def _words_until(number: int, segment: Segment) -> frozenset[str]:
    """The words of a turn and of those before it, case-folded, and the infinitives of their verbs."""
    turns = (*segment.context, *(turn for turn in segment.turns if turn.turn_number <= number))
    tokens = [token for turn in turns for token in tokenise(turn.text.replace("’", "'"))]
    return frozenset(token.low for token in tokens).union(*(token.verbs or () for token in tokens))


@cache
def _kin_words(relation: str) -> frozenset[str]:
    """The nouns and verbs that say a relation of couples or siblings; empty for other relations."""
    same = next((group for group in _KIN_GROUPS if relation in group), frozenset())
    nouns = frozenset(noun for noun, other in KIN.items() if other in same)
    return nouns.union(*(verbs_of(other) for other in same))


def _is_thing(claim: Claim) -> bool:
    """Whether a claim is about a thing: its type says so, or it has no name. The type of an unknown name is concept."""
    kind = claim.subject_type
    return kind not in {EntityType.PERSON, EntityType.CONCEPT} or (
        kind is EntityType.CONCEPT and claim.subject.islower()
    )


class _TurnReadings:
    """One turn: what the rules read in it, and its clauses."""

    def __init__(self, turn: Turn, read: Iterable[Claim], words_said: frozenset[str]) -> None:
        self._turn, self._words_said = turn, words_said
        self._speaker = Speaker(turn.subject or USER)
        self._read = [fact_of(claim) for claim in read]

    @cached_property
    def _clauses(self) -> ClauseEvidence:
        return ClauseEvidence(self._turn, self._speaker)

    def contradiction(self, claim: Claim) -> Contradiction | None:
        """What the turn says against a claim; None where nothing does."""
        said = fact_of(claim)
        if any(self._agree(said, read) for read in self._read):
            return None
        found = (against for read in self._read for against in self._against(claim, said, read) if against is not None)
        return (
            next(found, None)
            or self._of_a_person(claim)
            or self._of_no_kin(claim)
            or self._clauses.contradiction(claim, said)
        )

    def _against(self, claim: Claim, said: Fact, read: Fact) -> Iterator[Contradiction | None]:
        yield self._of_people(said, read)
        yield self._opposite(said, read)
        yield self._of_another_relation(said, read)
        if not (_is_thing(claim) and self._speaker.is_named(read.subject)):  # my app uses what I use
            yield self._of_another(said, read)

    def _of_a_person(self, claim: Claim) -> Contradiction | None:
        is_place = claim.relation not in _PLACED or claim.object_type is not EntityType.PERSON
        return None if is_place else Contradiction(RELATION, "nobody lives or was born in a person")

    def _of_no_kin(self, claim: Claim) -> Contradiction | None:
        """A couple, or a sister, of which no word was said."""
        wanted = _kin_words(claim.relation) if claim.polarity > 0 else frozenset()
        is_said = not wanted or not wanted.isdisjoint(self._words_said)
        return None if is_said else Contradiction(RELATION, "no word says that they are a couple, or siblings")

    def _agree(self, said: Fact, read: Fact) -> bool:
        is_same = said.relation == read.relation or {said.relation, read.relation} <= COUPLES
        are_ends = self._are_straight(said, read) or (said.relation in SYMMETRIC and self._are_crossed(said, read))
        return is_same and said.sign == read.sign and are_ends

    def _are_straight(self, said: Fact, read: Fact) -> bool:
        return self._may_be_one(said.subject, read.subject) and self._may_be_one(said.object, read.object)

    def _are_crossed(self, said: Fact, read: Fact) -> bool:
        return self._may_be_one(said.subject, read.object) and self._may_be_one(said.object, read.subject)

    def _may_be_one(self, name: str, other: str) -> bool:
        """Whether two names share a word, or both are the speaker's."""
        if self._speaker.is_named(name) or self._speaker.is_named(other):
            return self._speaker.is_named(name) and self._speaker.is_named(other)
        return bool(content_stems(noun_of(name)) & content_stems(noun_of(other)))

    def _of_people(self, said: Fact, read: Fact) -> Contradiction | None:
        """`my sister Ida` of a spouse, `my boss Ida` of somebody who is managed."""
        if not {said.relation, read.relation} <= OF_PEOPLE or said.sign < 0 or read.sign < 0:
            return None
        is_crossed = self._are_crossed(said, read)
        if not is_crossed and not self._are_straight(said, read):
            return None
        if said.relation == read.relation:
            is_apart = is_crossed and said.relation not in SYMMETRIC
        else:
            is_apart = said.relation in _CLOSE and not {said.relation, read.relation} <= COUPLES
        return Contradiction(RELATION, f"the sentence says {read.relation}") if is_apart else None

    def _opposite(self, said: Fact, read: Fact) -> Contradiction | None:
        is_other = said.relation == read.relation and said.sign != read.sign and self._are_straight(said, read)
        return Contradiction(POLARITY, "the sentence says the opposite") if is_other else None

    def _of_another(self, said: Fact, read: Fact) -> Contradiction | None:
        """The same of somebody who cannot be the subject of the claim: a role and a name may be one person."""
        is_same = (said.relation, said.sign) == (read.relation, read.sign) and said.relation not in _OF_EVENTS
        if (
            not is_same
            or not self._may_be_one(said.object, read.object)
            or self._may_be_one(said.subject, read.subject)
        ):
            return None
        roles = [noun_of(name).casefold() in KIN for name in (said.subject, read.subject)]
        is_speaker = self._speaker.is_named(read.subject)
        is_unclear = roles[0] != roles[1] and not is_speaker and not self._speaker.is_named(said.subject)
        if (
            is_unclear
            or owner_of(read.subject)
            or owner_of(read.object)
            or (is_speaker and self._clauses.is_of_a_group)
        ):
            return None
        return Contradiction(SUBJECT, "the sentence says it of another")

    def _is_unworded(self, said: Fact, read: Fact) -> bool:
        """Whether another relation is read between the same ends, and the turn has no verb of this one."""
        verbs = verbs_of(said.relation) - verbs_of(read.relation)
        is_told = read.sign > 0 and read.relation in _TOLD_ALONE - {said.relation}
        return is_told and bool(verbs) and verbs.isdisjoint(self._words_said)

    def _of_another_relation(self, said: Fact, read: Fact) -> Contradiction | None:
        """`I'd love a greenhouse` of one that is owned."""
        if said.sign < 0 or not self._are_straight(said, read):
            return None
        is_wished = said.relation in REAL and read.relation in _INTENT and read.sign > 0
        is_apart = is_wished or read.relation in _APART.get(said.relation, ()) or self._is_unworded(said, read)
        return Contradiction(RELATION, f"the sentence says {read.relation}") if is_apart else None
