"""The prompts of the llm extractor: pure functions from a segment to messages.

The system message comes first and is the same for every segment, so that a provider's prompt cache holds it; what
changes stands behind it. There is one for each profile, in a module of its own. Turns are addressed by small numbers.
What people wrote is data, fenced by a line that no turn can hold.
"""

import re
from collections.abc import Sequence

from em_pipelines.extraction.llm import full_prompt, lean_prompt
from em_pipelines.extraction.llm.answer import ALL_SECTIONS, FENCE, Section
from em_pipelines.extraction.llm.settings import Profile
from em_pipelines.extraction.segmentation import MAX_SHOWN_CHARACTERS, NOT_SHOWN
from em_pipelines.language.cleaning import CODE_MARK
from em_pipelines.llm.protocol import Message
from em_pipelines.schema.ids import content_id
from em_pipelines.schema.readings import Segment, Turn

_RULES = re.compile("={3,}")
MAX_CONTEXT_CHARACTERS = {Profile.LEAN: 240, Profile.FULL: MAX_SHOWN_CHARACTERS}
"""Of a turn that is only there to be understood. `full` shows more of it, for what is accepted has to be known."""
MAX_NAME_CHARACTERS = 60
"""Of a name that is shown: of a speaker, or out of an answer that is asked about again."""

SYSTEM = {Profile.LEAN: lean_prompt.SYSTEM, Profile.FULL: full_prompt.SYSTEM}
HEALTH_CLAUSE = "\nHealth facts are wanted as well: allergic_to, has_condition, takes."


def prompt_version(profile: Profile) -> str:
    """Names the system message of a profile: another one asks anew."""
    return content_id("prompt", SYSTEM[profile])[-12:]


def system_message(profile: Profile, *, is_health_asked: bool = False) -> Message:
    """The static prefix of a profile."""
    return Message("system", SYSTEM[profile] + (HEALTH_CLAUSE if is_health_asked else ""))


def segment_message(  # noqa: PLR0913  (what is shown, and what is asked about it)
    segment: Segment,
    targets: frozenset[int],
    *,
    profile: Profile = Profile.FULL,
    sections: tuple[Section, ...] = ALL_SECTIONS,
    known: str = "",
    shown: slice = slice(None),
) -> Message:
    """The turns of a segment, those in `targets` (turn numbers) with their index, and what is asked about them. Of the
    segment's turns those of the slice `shown` are.

    Its context is shown before it; how much of each such turn, `profile` says. With fewer sections than all, only those
    are asked for, and `known` says what was answered before.
    """
    limit = MAX_CONTEXT_CHARACTERS[profile]
    written_at = segment.turns[0].timestamp
    lines = [f"Written {written_at:%Y-%m-%d %A}.", FENCE]
    lines += [f"- {_speaker(turn)}: {_shown(turn.text, limit)}" for turn in segment.context]
    for index, turn in list(enumerate(segment.turns))[shown]:
        if turn.turn_number in targets:
            lines.append(f"{index} {_speaker(turn)}: {_shown(turn.text)}")
        elif turn.role not in NOT_SHOWN:
            lines.append(f"- {_speaker(turn)}: {_shown(turn.text, limit)}")
    lines.append(FENCE)
    if sections != ALL_SECTIONS:
        lines.append(f"Answer {', '.join(s.value for s in sections)} alone.{known}")
    return Message("user", "\n".join(lines))


def known_relations(relations: Sequence[tuple[int, str, str, str]]) -> str:
    """What a follow-up for tone or times is told of the relations that stand: (t, subject, relation, object)."""
    listed = "; ".join(
        f"{n}: t{t} {' '.join(_shown(word, MAX_NAME_CHARACTERS) for word in words)}"
        for n, (t, *words) in enumerate(relations)
    )
    return f" The relations are: {listed}." if listed else ""


def known_entities(names: Sequence[str]) -> str:
    """What a follow-up for relations is told of the entities that stand."""
    return f" The entities are: {'; '.join(_shown(name, MAX_NAME_CHARACTERS) for name in names)}." if names else ""


def _speaker(turn: Turn) -> str:
    """Who speaks; a name out of a log is data as well, and ends where the colon stands."""
    return _shown((turn.subject or "").replace(":", " "), MAX_NAME_CHARACTERS) or turn.role


def _shown(text: str, limit: int | None = None) -> str:
    """One line of text: what was taken out leaves a gap, breaks become slashes, and no turn can close the fence."""
    line = " / ".join(part.strip() for part in text.replace(CODE_MARK, " ").splitlines() if part.strip())
    line = " ".join(_RULES.sub("==", line).split())
    return line if limit is None or len(line) <= limit else line[: limit - 1] + "…"
