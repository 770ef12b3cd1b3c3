"""Who a matched clause is about: the speaker, somebody named, the one a pronoun can mean, or a thing."""

from em_pipelines.extraction.rules.claims import speaker
from em_pipelines.extraction.rules.clause import Clause
from em_pipelines.extraction.rules.kinds import is_kind
from em_pipelines.extraction.rules.matching import Slots
from em_pipelines.extraction.rules.names import Reading, is_name
from em_pipelines.extraction.rules.noun_phrases import NounPhrase, parse_noun_phrase
from em_pipelines.extraction.rules.patterns import Pattern
from em_pipelines.extraction.rules.people import FIRST_PERSON, People, Referent, refer
from em_pipelines.vocabulary import EntityType

_MAX_GUESSES = 3


def subjects_of(  # noqa: PLR0911, one return a kind of subject
    reading: Reading, people: People, speaker_name: str, pattern: Pattern, clause: Clause, slots: Slots
) -> list[Referent]:
    """The subjects of a matched pattern; none where they are not certain."""
    spec = pattern.spec
    if spec.subject == "speaker":
        return [speaker(speaker_name, clause.lead)]
    if spec.subject == "holder":
        return _holder(reading, people, speaker_name, clause)
    if spec.subject == "unnamed":
        return [people.unnamed[0]] if people.unnamed is not None else []
    if spec.subject == "it":
        return _it(people, clause.lead)
    if spec.subject != "subject" or not pattern.takes_clause_subject:
        return [refer(reading, f.phrase) for f in slots.get(spec.subject, ()) if f.phrase is not None]
    kinds = pattern.left[0].words
    if clause.is_own:
        return [speaker(speaker_name, clause.lead)] if "person" in kinds else []
    if clause.pronoun is not None:
        found = _pronoun(reading, people, speaker_name, clause.pronoun, kinds)
        if clause.companion is not None and spec.object != "companion":
            other = refer(reading, clause.companion)
            if other.entity_type is EntityType.PERSON and _fits(reading, people, other, clause.companion, kinds):
                found = [*found, other]
        return found
    guessed = _somebody(reading, people, clause, kinds) if "person" in kinds else []
    if guessed or clause.subject:
        return guessed or _named(reading, people, clause, kinds)
    if spec.may_drop_subject and kinds & {"person", "self"} and _may_drop(reading, clause):
        return [speaker(speaker_name, clause.verb.start)]
    return []


def _named(reading: Reading, people: People, clause: Clause, kinds: frozenset[str]) -> list[Referent]:
    found = [refer(reading, phrase) for phrase in clause.subject]
    fitting = [r for r, p in zip(found, clause.subject, strict=True) if _fits(reading, people, r, p, kinds)]
    for person in fitting:
        people.meet(person)
    clause.is_uncertain = len(fitting) > 1 and _has_or(reading, clause.subject)
    return fitting


def _has_or(reading: Reading, phrases: list[NounPhrase]) -> bool:
    return any(reading.tokens[k].low == "or" for k in range(phrases[0].end, phrases[-1].start))


def _somebody(reading: Reading, people: People, clause: Clause, kinds: frozenset[str]) -> list[Referent]:
    """`somebody here hates cumin, Jonne or maybe Ida`: the names after a clause about somebody."""
    tokens = reading.tokens
    before = tokens[max(clause.left, clause.verb.start - 4) : clause.verb.start]
    if not any(token.low in {"somebody", "someone"} for token in before):
        return []
    clause.is_uncertain = True
    found: list[Referent] = []
    i = clause.verb.end
    while i < len(tokens) and tokens[i].low not in ".!?\n" and len(found) < _MAX_GUESSES:
        phrase = parse_noun_phrase(tokens, i, len(tokens)) if tokens[i].is_capital else None
        if phrase is not None and is_name(reading, phrase):
            named = refer(reading, phrase)
            found += [named] if _fits(reading, people, named, phrase, kinds) else []
        i = phrase.end if phrase is not None else i + 1
    return found


def _holder(reading: Reading, people: People, speaker_name: str, clause: Clause) -> list[Referent]:
    """Whose opinion it is: who thinks or says it, or the speaker where `in my opinion` or the like stands before."""
    held = clause.holder
    if held is None:
        before = [reading.tokens[k].low for k in range(max(0, clause.lead - 5), clause.lead)]
        before = [word for word in before if word != ","]
        is_own = any(word in {"imo", "imho", "personally"} for word in before) or (
            not {"my", "opinion"} - set(before) or before[-2:] in (["for", "me"], ["to", "me"])
        )
        return [speaker(speaker_name, clause.verb.start)] if is_own else []
    if held.pronoun is not None:
        return _pronoun(reading, people, speaker_name, held.pronoun, frozenset({"person"}))
    found = [refer(reading, phrase) for phrase in held.subject]
    person = frozenset({"person"})
    return [r for r, p in zip(found, held.subject, strict=True) if _fits(reading, people, r, p, person)]


def meet_speakers(reading: Reading, people: People, clauses: list[Clause]) -> None:
    """Whoever is reported to say or think something is a person, at the start of a sentence too."""
    for clause in clauses:
        if clause.holder is not None:
            for phrase in clause.holder.subject:
                if phrase.det is None and is_name(reading, phrase):
                    people.meet(refer(reading, phrase))


def _may_drop(reading: Reading, clause: Clause) -> bool:
    """`Prefer aisle seats`, `Finished it`: no verb in the third person, which would be about somebody else."""
    low = reading.tokens[clause.verb.start].low
    return not low.endswith("s") or low.endswith("ss") or low in {"was", "'s"}


def _it(people: People, token: int) -> list[Referent]:
    thing = people.it()
    return [] if thing is None else [Referent(thing.name, thing.entity_type, token, token + 1)]


def _pronoun(reading: Reading, people: People, speaker_name: str, token: int, kinds: frozenset[str]) -> list[Referent]:
    low = reading.tokens[token].low
    if low == "it":
        return _it(people, token) if kinds & {"thing", "event", "matter"} else []
    if not kinds & {"person", "self", "any"}:
        return []
    if low in FIRST_PERSON:
        return [speaker(speaker_name, token)]
    met = people.all_named_by(low) if "self" not in kinds else []
    return [Referent(person.name, person.entity_type, token, token + 1, person.gender, person.kin) for person in met]


def _fits(reading: Reading, people: People, meant: Referent, phrase: NounPhrase, kinds: frozenset[str]) -> bool:
    if "any" in kinds:
        return True
    is_person = meant.entity_type is EntityType.PERSON
    if "matter" in kinds:
        return not meant.kin and not meant.gender
    if "occasion" in kinds:
        return not is_person and not meant.kin and is_kind(reading, frozenset({"occasion"}), phrase)
    if meant.kin:
        return (
            ("person" in kinds if is_person else "pet" in kinds)
            and (is_person or meant.entity_type is EntityType.ANIMAL)
            and (
                meant.is_own
                or phrase.possessor_phrase is not None
                or meant.name.casefold() != meant.kin
                or (phrase.possessor is not None and people.named_by(phrase.possessor) is not None)
            )
        )
    if kinds & {"person", "named"} and is_person:
        return is_name(reading, phrase)
    return (not is_person and "thing" in kinds) or ("event" in kinds and is_kind(reading, frozenset({"event"}), phrase))
