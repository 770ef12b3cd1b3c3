"""The pass at a session's end: the session read once more as a whole, for lasting facts that its parts did not show.

Off by default, and independent of the extraction of episodes: it adds claims and changes none. What it finds is clear
from the discussion rather than stated, so it is observational, and there is a limit to how much one session may add.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from pydantic import BaseModel, ConfigDict, Field

from em_pipelines.extraction.confidence import BY_MECHANISM
from em_pipelines.extraction.model import Claim, Extraction, Segment
from em_pipelines.extraction.segmentation import n_tokens
from em_pipelines.extraction.unread import DEAD_LETTER, PENDING
from em_pipelines.ids import content_id
from em_pipelines.resolution.normalization import name_key
from em_pipelines.vocabulary import Act, Mechanism, TemporalType

LASTING = frozenset({TemporalType.ATTRIBUTE, TemporalType.TRAIT, TemporalType.STATE})


class DurableSettings(BaseModel):
    """The pass at a session's end."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    is_enabled: bool = False
    """Whether sessions of more than one segment are read once more as a whole."""
    max_facts_a_session: int = Field(default=5, ge=0)
    """Lasting facts that the pass may add to one session of one day."""
    max_session_tokens: int = Field(default=12_000, ge=1)
    """Longer sessions are left out; estimated as characters ÷ 4."""


def whole_sessions(segments: Iterable[Segment], settings: DurableSettings) -> Iterator[Segment]:
    """The trusted sessions of more than one segment, each as one segment. Segments of a session stand together."""
    if not settings.is_enabled:
        return
    for (user_id, session_id), group in groupby(segments, key=lambda s: (s.user_id, s.session_id)):
        parts = list(group)
        turns = tuple(turn for part in parts for turn in part.turns)
        is_short = sum(n_tokens(turn.text) for turn in turns) <= settings.max_session_tokens
        if len(parts) > 1 and is_short and all(part.trust == "trusted" for part in parts):
            segment_id = content_id("seg", user_id, session_id, "whole", *(part.segment_id for part in parts))
            yield replace(parts[0], segment_id=segment_id, turns=turns)


def lasting_facts(reading: Extraction, known: Sequence[Claim], settings: DurableSettings) -> Extraction:
    """What a whole session adds to the claims `known` of its parts: lasting facts in order of turn, up to the limit.

    Mentions come along with their claims; issues of the second reading repeat the first one's and are left out, but
    for those of a model that gave no answer.
    """
    stated = {_fact(claim) for claim in known}
    ceiling = BY_MECHANISM[Mechanism.OBSERVATIONAL]
    added: list[Claim] = []
    asserted = [claim for claim in reading.claims if claim.act is Act.ASSERT]
    for claim in sorted(asserted, key=lambda c: (c.turn_number, c.start, c.end, c.relation)):
        is_new = _fact(claim) not in stated and claim.temporal_type in LASTING and not claim.flags
        if is_new and len(added) < settings.max_facts_a_session:
            stated.add(_fact(claim))
            confidence = min(claim.confidence, ceiling)
            added.append(replace(claim, source_mechanism=Mechanism.OBSERVATIONAL, confidence=confidence))
    named = {(claim.turn_number, name) for claim in added for name in (claim.subject, claim.object)}
    mentions = [mention for mention in reading.mentions if (mention.turn_number, mention.name) in named]
    unread = [issue for issue in reading.issues if issue.issue in {PENDING, DEAD_LETTER}]
    return replace(reading, mentions=mentions, claims=added, issues=unread)


def _fact(claim: Claim) -> tuple[str | int | None, ...]:
    """What a claim says, wherever in the session it was said."""
    ends = [name_key(name) if name else None for name in (claim.subject, claim.object, claim.value)]
    return (*ends, claim.relation, claim.attribute, claim.polarity)
