"""Rates of a day: what has landed twice, what says nothing at all, and claims that nobody said.

As in `quality.meaning`, a check is a statement in sql/ and what judges its figures.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from em_pipelines.extraction.keeping import skip_reason
from em_pipelines.governance.audit.settings import QualitySettings
from em_pipelines.language.counting import counted
from em_pipelines.schema.readings import Turn
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.extraction import CLAIMS
from quality.finding import Finding, MeaningCheck

MIN_CHARACTERS = 40
"""Of a message that nobody says in two conversations at one instant: of chats that know the minute alone, shorter ones
("thanks", "go on") may be."""
MIN_MESSAGES = 10
"""Of a day below which one repetition would be a rate."""
WHENEVER = datetime(1970, 1, 1, tzinfo=UTC)


def duplicate_rate(limits: QualitySettings, n_messages: int, n_again: float) -> Finding:
    """Few messages of people and agents stand in another conversation as well, with the same instant and words: records
    that landed twice. The figure is their share of the longer messages, 0 to 1. Who says the same at another time
    repeats themselves, which is no duplicate."""
    share = n_again / n_messages if n_messages else 0.0
    return Finding(
        n_messages < MIN_MESSAGES or share <= limits.max_duplicate_share,
        share,
        "the same messages, of the same instants, have landed in several conversations, as where one log is imported "
        "twice: find what gave it other conversation ids (a renamed file, another format or `--column`), and import it "
        "with the same ids from now on, so that nothing lands again",
    )


def noise_rate(limits: QualitySettings, messages: Sequence[Mapping[str, Any]] | None) -> Finding:
    """Few claims are read in messages that hold nothing durable; the figure is their share of all, 0 to 1.

    What holds nothing is told by the gate (`extraction.keeping`), whoever read the message: reports about "the user",
    recalled memory, code, words of thanks.
    """
    found = messages or ()
    n_claims = sum(one["n_claims"] for one in found)
    n_noise = sum(one["n_claims"] for one in found if _says_nothing(one))
    share = n_noise / n_claims if n_claims else 0.0
    return Finding(
        n_claims == 0 or share < limits.max_noise_share or n_noise == 0,
        share,
        f"{counted(n_noise, 'claim')} of messages that hold nothing durable: look at them by `em trace`, then at the "
        "extractor, its prompt or the model",
    )


def claims_sourced(_: QualitySettings, n_unsourced: int) -> Finding:
    """Every claim points at characters of a message of its user and day; the figure is how many do not."""
    return Finding(
        n_unsourced == 0,
        float(n_unsourced),
        "claims that nobody is known to have said: materialize claims again for the days that fail",
    )


def _says_nothing(message: Mapping[str, Any]) -> bool:
    turn = Turn("", 0, message["role"], message["subject"], message["content"], WHENEVER)
    return skip_reason(turn) is not None


RATES = (
    MeaningCheck(
        "duplicate_rate",
        MESSAGES,
        (MESSAGES,),
        duplicate_rate,
        "At most `quality.max_duplicate_share` of a day's longer messages have landed in another conversation as well.",
        is_blocking=False,
        variables={"min_characters": MIN_CHARACTERS},
    ),
    MeaningCheck(
        "noise_rate",
        CLAIMS,
        (CLAIMS, MESSAGES),
        noise_rate,
        "Less than `quality.max_noise_share` of a day's claims are read in messages that hold nothing durable.",
        is_blocking=False,
    ),
    MeaningCheck(
        "claims_sourced",
        CLAIMS,
        (CLAIMS, MESSAGES),
        claims_sourced,
        "Every claim points at characters of a message of its own user and day.",
    ),
)
