from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.extraction.settings import RulesSettings
from em_pipelines.schema.readings import Claim, Extraction, Segment, Turn
from em_pipelines.schema.vocabulary import Act

WRITTEN_AT = datetime(2026, 3, 5, 18, 20, tzinfo=UTC)
"""A Thursday."""

Read = Callable[..., Extraction]


def one_turn(text: str, *, role: str = "user", subject: str | None = "user", channel: str = "text") -> Segment:
    turn = Turn("m1", 0, role, subject, text, WRITTEN_AT)
    return Segment("seg", "u1", "s1", channel, (turn,))


def stated(claim: Claim) -> str:
    end = claim.object if claim.object is not None else claim.value
    parts = [claim.subject, claim.relation, f"{claim.attribute}: {end}" if claim.attribute else str(end)]
    return " | ".join(parts + (["-"] if claim.polarity < 0 else []))


@pytest.fixture(scope="session")
def extractor() -> RulesExtractor:
    """All that patterns read: what of it is probable enough is the business of test_confidence.py."""
    return RulesExtractor(RulesSettings(keeps_health=True, min_right=0))


@pytest.fixture
def read(extractor: RulesExtractor) -> Read:
    def read_text(text: str, **who: str | None) -> Extraction:
        return extractor.extract(one_turn(text, **who))

    return read_text


@pytest.fixture
def claims_of(read: Read) -> Callable[..., list[str]]:
    return lambda text, **who: [stated(claim) for claim in read(text, **who).claims if claim.act is Act.ASSERT]
