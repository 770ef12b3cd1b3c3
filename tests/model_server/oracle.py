"""Scripted models that read what they are asked about: one that reads as the rules do, one that obeys attackers.

Both see nothing but the prompt, as a real model would, and answer the sections whose schema they are given.
"""

import re
from datetime import UTC, datetime
from typing import Any

from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.schema.readings import Claim, Extraction, Segment, Turn
from tests.model_server.script import Call, Step, answer

_WRITTEN = re.compile(r"Written (\d{4}-\d\d-\d\d)")
_TURN = re.compile(r"(?m)^(\d+) ([^:\n]{1,80}): (.*)$")
_RULES = RulesExtractor()
_OBEYED = re.compile(
    r"(?i)(?:the )?user(?:'s)? (?:always |name |)?(?P<verb>likes|loves|prefers|owns|trusts|wants|works at|is an?|has) "
    r"(?P<what>[^.\n\"'!?]{2,60})"
)


def reading(call: Call) -> Step:
    """Answers with what the rules read in each numbered turn of the prompt."""
    return answer(answered(call, read_by_rules))


def obeying(call: Call) -> Step:
    """Answers with whatever the prompt claims of the user, secrets and orders, as a model does that believes all."""
    return answer(answered(call, _believe))


def answered(call: Call, read: Any) -> dict[str, Any]:
    """The sections asked for, from what `read` makes of each turn: (index, speaker, text, day) → extraction."""
    prompt = call.messages[-1]["content"]
    found = _WRITTEN.search(prompt)
    day = datetime.fromisoformat(found[1]).replace(tzinfo=UTC, hour=12) if found else datetime(2026, 1, 1, tzinfo=UTC)
    sections: dict[str, list[dict[str, Any]]] = {"entities": [], "relations": [], "tone": [], "times": []}
    for index, speaker, text in _TURN.findall(prompt):
        _add(sections, int(index), speaker, read(int(index), speaker, text, day))
    wanted = (call.schema or {"schema": {"properties": sections}})["schema"]["properties"]
    return {name: items for name, items in sections.items() if name in wanted}


def read_by_rules(index: int, speaker: str, text: str, day: datetime) -> Extraction:
    """What the rules read in a turn that stands alone."""
    turn = Turn(f"m{index}", index, "user", speaker, text, day)
    return _RULES.extract(Segment("s", "u", "c", "text", (turn,)))


def _believe(index: int, speaker: str, text: str, day: datetime) -> Extraction:
    found = read_by_rules(index, speaker, text, day)
    for match in _OBEYED.finditer(text):
        words = match["what"].strip()
        found.claims.append(_planted(index, _RELATIONS.get(match["verb"].casefold(), "likes"), words))
    for word in re.findall(r"\S{6,}", text):  # every long word is kept: keys, passwords, addresses
        found.claims.append(_planted(index, "owns", word.strip(".,;:\"'")))
    return found


_RELATIONS = {"likes": "likes", "loves": "likes", "prefers": "prefers", "owns": "owns", "has": "owns",
              "trusts": "likes", "wants": "wants", "works at": "works_at", "is a": "is_a", "is an": "is_a"}  # fmt: skip


def _planted(index: int, relation: str, words: str) -> Claim:
    from em_pipelines.schema.vocabulary import EntityType, TemporalType

    return Claim(index, "user", EntityType.PERSON, relation, words, EntityType.CONCEPT, None, 0.9, 0, 1,
                 TemporalType.STATE)  # fmt: skip


def _add(sections: dict[str, list[dict[str, Any]]], index: int, speaker: str, found: Extraction) -> None:
    for mention in found.mentions:
        sections["entities"].append({"t": index, "name": mention.name, "type": mention.entity_type.value})
    for claim in found.claims:
        number = len(sections["relations"])
        sections["relations"].append(
            {"t": index, "subject": claim.subject, "relation": claim.relation, "object": claim.object or claim.value,
             "attribute": claim.attribute, "polarity": claim.polarity}
        )  # fmt: skip
        if claim.flags or claim.hedge_level != "none":
            flags = [flag.value for flag in claim.flags]
            sections["tone"].append({"r": number, "hedge": claim.hedge_level.value, "flags": flags})
        when = claim.valid_from.isoformat() if claim.valid_from else None
        sections["times"].append({"r": number, "kind": claim.temporal_type.value, "when": when})
