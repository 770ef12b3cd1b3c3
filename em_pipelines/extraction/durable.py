"""The pass at a session's end: a session of several segments is read once more as a whole, for lasting facts."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby, islice

from em_pipelines.extraction.settings import DurableSettings
from em_pipelines.language.cleaning import n_tokens
from em_pipelines.language.name_keys import name_key
from em_pipelines.schema.ids import content_id
from em_pipelines.schema.readings import BY_MECHANISM, DEAD_LETTER, PENDING, Claim, Extraction, Segment
from em_pipelines.schema.vocabulary import Act, Mechanism, TemporalType

LASTING = frozenset({TemporalType.ATTRIBUTE, TemporalType.TRAIT, TemporalType.STATE})


def whole_sessions(segments: Iterable[Segment], settings: DurableSettings) -> Iterator[Segment]:
    """The trusted sessions of more than one segment, each as one segment. Segments of a session stand together."""
    if not settings.is_enabled:
        return
    for (user_id, session_id), group in groupby(segments, key=lambda s: (s.user_id, s.session_id)):
        parts = list(group)
        turns = tuple(chain.from_iterable(part.turns for part in parts))
        is_short = sum(n_tokens(turn.text) for turn in turns) <= settings.max_session_tokens
        if len(parts) > 1 and is_short and all(part.trust == "trusted" for part in parts):
            segment_id = content_id("seg", user_id, session_id, "whole", *(part.segment_id for part in parts))
            yield replace(parts[0], segment_id=segment_id, turns=turns)


def lasting_facts(reading: Extraction, known: Sequence[Claim], settings: DurableSettings) -> Extraction:
    """What a whole session adds to the claims `known` of its parts: lasting facts in order of turn, up to the limit.

    Mentions come along with their claims; issues of the second reading repeat the first one's and are left out, but
    for those of a model that gave no answer.
    """
    added = [_observed(claim) for claim in islice(_new_and_lasting(reading, known), settings.max_facts_a_session)]
    named = {(claim.turn_number, name) for claim in added for name in (claim.subject, claim.object)}
    mentions = [mention for mention in reading.mentions if (mention.turn_number, mention.name) in named]
    unread = [issue for issue in reading.issues if issue.issue in {PENDING, DEAD_LETTER}]
    return replace(reading, mentions=mentions, claims=added, issues=unread)


def _new_and_lasting(reading: Extraction, known: Sequence[Claim]) -> Iterator[Claim]:
    """The plainly stated lasting facts that are not `known`, each once, in order of place."""
    stated = {_fact(claim) for claim in known}
    for claim in sorted(reading.claims, key=lambda c: (c.turn_number, c.start, c.end, c.relation)):
        is_lasting = claim.act is Act.ASSERT and claim.temporal_type in LASTING and not claim.flags
        if is_lasting and _fact(claim) not in stated:
            stated.add(_fact(claim))
            yield claim


def _observed(claim: Claim) -> Claim:
    confidence = min(claim.confidence, BY_MECHANISM[Mechanism.OBSERVATIONAL])
    return replace(claim, source_mechanism=Mechanism.OBSERVATIONAL, confidence=confidence)


def _fact(claim: Claim) -> tuple[str | int | None, ...]:
    """What a claim says, wherever in the session it was said."""
    ends = [name_key(name) if name else None for name in (claim.subject, claim.object, claim.value)]
    return (*ends, claim.relation, claim.attribute, claim.polarity)
