"""The rules extractor: reads segments by patterns, without a model, the same on every run."""

import hashlib
import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from em_pipelines.extraction.gate import GateSettings, skip_reason
from em_pipelines.extraction.model import Claim, Extraction, Issue, LocalExtractor, Segment, Turn
from em_pipelines.extraction.rules.dialogue import claims_in_dialogue, with_new
from em_pipelines.extraction.rules.lexicon import PATTERNS_DIR
from em_pipelines.extraction.rules.pattern_index import PatternIndex
from em_pipelines.extraction.rules.patterns import load_patterns
from em_pipelines.extraction.rules.people import People
from em_pipelines.extraction.rules.reader import MessageReader
from em_pipelines.extraction.rules.retraction_forms import passages
from em_pipelines.extraction.rules.retractions import take_back

_YOUR = re.compile(r"(?i)\byour\b")
_READABLE = frozenset({None, "no_information"})
"""Reasons of the gate for which a turn may still answer the one before."""


class RulesSettings(BaseModel):
    """Bounds of the rules extractor."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    max_characters: int = Field(default=20_000, ge=1)
    """Of one message; the rest of a longer one is not read, and an issue says so."""
    keeps_health: bool = False
    """Whether claims of allergies, conditions and medicines are made at all; `safety.is_health_enabled` implies it."""
    gate: GateSettings = GateSettings()


@lru_cache(maxsize=1)
def source_version() -> str:
    """Twelve hex digits of SHA-256 over the source and the pattern files: changes when a reading could change."""
    digest = hashlib.sha256()
    folder = Path(__file__).resolve().parent
    sources = [*folder.glob("*.py"), *folder.parent.glob("*.py"), *PATTERNS_DIR.rglob("*.yaml")]
    for path in sorted(sources):
        digest.update(path.relative_to(folder.parent).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


class RulesExtractor(LocalExtractor):
    """Implements `em_pipelines.extraction.model.Extractor`. Raises PatternError when the pattern files are bad."""

    def __init__(self, settings: RulesSettings | None = None) -> None:
        self.settings = settings or RulesSettings()
        self._patterns = PatternIndex(load_patterns())

    @property
    def name(self) -> str:
        return "rules"

    @property
    def version(self) -> str:
        """Changes with the source, with a pattern file and with the settings."""
        return f"{source_version()}-{hashlib.sha256(self.settings.model_dump_json().encode()).hexdigest()[:6]}"

    def _people_of(self, context: tuple[Turn, ...]) -> People:
        """Those of whom the turns before a segment speak: no claim is made of them, but `she` may mean one of them.

        In the assistant's turns `your brother` is the user's.
        """
        return self._heard(context)[0]

    def _heard(self, turns: tuple[Turn, ...]) -> tuple[People, list[tuple[Turn, list[Claim]]]]:
        """Those of whom turns speak, and the turns of people with their claims."""
        people = People()
        said = []
        for turn in turns:
            if turn.role not in {"user", "assistant"}:
                continue
            text = _YOUR.sub("my", turn.text) if turn.role == "assistant" else turn.text
            reader = self._reader(replace(turn, text=text), people)
            reader.read()
            said.append((turn, reader.notes.claims))
        return people, said

    def _reader(self, turn: Turn, people: People, *, is_spoken: bool = False) -> MessageReader:
        limit, keeps_health = self.settings.max_characters, self.settings.keeps_health
        return MessageReader(turn, self._patterns, people, limit, keeps_health=keeps_health, is_spoken=is_spoken)

    def extract(self, segment: Segment) -> Extraction:
        """Reads the turns of one segment; every turn ends with a mention, a claim or an issue."""
        out = Extraction()
        people = self._people_of(segment.context)
        for n, whole in enumerate(segment.turns):
            reason = skip_reason(whole, self.settings.gate)
            earlier = (*segment.context, *segment.turns[:n])
            retracted, turn = self._take_back(whole, earlier) if reason in _READABLE else ([], whole)
            together = self._read_together(turn, earlier) if reason in _READABLE else []
            if reason is not None and not together and not retracted:
                out.issues.append(Issue(turn.turn_number, "skipped", reason))
                continue
            if len(turn.text) > self.settings.max_characters:
                detail = f"only the first {self.settings.max_characters} characters were read"
                out.issues.append(Issue(turn.turn_number, "truncated", "too_long", "warning", detail))
            reader = self._reader(turn, people, is_spoken=segment.channel == "voice")
            reader.read()
            claims = retracted + with_new(reader.notes.claims, together)
            out.claims += claims
            out.mentions += reader.notes.mentions
            if not claims and not reader.notes.mentions:
                out.issues.append(Issue(turn.turn_number, "nothing_found", "no_pattern"))
        return out

    def _take_back(self, turn: Turn, earlier: tuple[Turn, ...]) -> tuple[list[Claim], Turn]:
        """What a turn retracts, and the turn without the words that do."""
        parts = passages(turn.text[: self.settings.max_characters]) if turn.subject is not None else []
        if not parts:
            return [], turn
        people, said = self._heard(earlier)
        own = [(other, claims) for other, claims in said if other.subject == turn.subject]

        def read(text: str) -> list[Claim]:
            reader = self._reader(replace(turn, text=text), people)
            reader.read()
            return reader.notes.claims

        taken = take_back(turn, parts, own, read)
        return taken.claims, replace(turn, text=taken.rest)

    def _read_together(self, turn: Turn, earlier: tuple[Turn, ...]) -> list[Claim]:
        def read(other: Turn) -> list[Claim]:
            reader = self._reader(other, People())
            reader.read()
            return reader.notes.claims

        return claims_in_dialogue(turn, earlier, read)
