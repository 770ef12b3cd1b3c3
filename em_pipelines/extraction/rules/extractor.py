"""The rules extractor: reads segments by patterns, without a model, the same on every run.

Also what a turn states only together with the turns before it: answers, take-ups and corrections. Corrections (`it is
47, not 46`, `I meant Graz`) name the old fact only in part, so it is looked up among the claims of earlier turns of the
speaker. Where it is not there, or could be several, nothing is corrected.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

from em_pipelines.extraction.keeping import skip_reason
from em_pipelines.extraction.rules.acceptance import in_own_words
from em_pipelines.extraction.rules.confidence import with_confidence
from em_pipelines.extraction.rules.patterns import PatternIndex, load_patterns
from em_pipelines.extraction.rules.people import People
from em_pipelines.extraction.rules.reader import MessageReader, ReaderOptions
from em_pipelines.extraction.rules.retraction_wording import passages
from em_pipelines.extraction.rules.retractions import Said, take_back
from em_pipelines.extraction.segmentation import are_several, names_of_speakers
from em_pipelines.extraction.settings import GateSettings, RulesSettings
from em_pipelines.language.en.lexicon import EXPECTED_OBJECT, guess_type
from em_pipelines.schema.readings import (
    ENGLISH,
    OTHER_LANGUAGE,
    TOO_LONG,
    Claim,
    Extraction,
    Issue,
    LocalExtractor,
    Mention,
    Segment,
    Turn,
    initial_confidence,
)
from em_pipelines.schema.vocabulary import FUNCTIONAL, LAST_TOLD, TOPIC, HedgeLevel, Mechanism
from em_pipelines.storage.step import code_digest

_FAR_BACK = 8
"""Turns in which a corrected fact is looked for."""
_LONGEST = 400
"""Characters of a turn that can be an answer or a correction."""
_WORDS = r"((?:the |a |an )?[\w'+-]+(?: [\w'+-]+){0,3}?)"
_IS = r"(?:it's|its|it is|it was|that's|that is|should be|make that|i meant|i mean|her name is|his name is|is)"
_STOP = r"(?=[,.;!\n]|$)"
_NEW_NOT_OLD = re.compile(rf"(?i)(?:^|[,.;!:] ?)\W{{0,3}}{_IS} {_WORDS},? (?:and )?not {_WORDS}{_STOP}")
_NOT_OLD_NEW = re.compile(rf"(?i)^\W{{0,3}}(?:[a-z]+,? ){{0,2}}?not {_WORDS}(?:,| but|, but|, it's|;) {_WORDS}{_STOP}")
_MEANT = re.compile(rf"(?i)^\W{{0,3}}(?:(?:sorry|oops|ah|no|wait|typo)\b[,:]? ?){{0,2}}i meant {_WORDS}{_STOP}")
_DETERMINER = re.compile(r"(?i)^(?:the|a|an|my|our) ")
_HINTS = re.compile(r"(?i)\b(?:not|meant)\b")
"""One of these words stands in every correction."""
_HINT_WORDS = _HINTS.pattern[len(r"(?i)\b(?:") : -len(r")\b")].split("|")
PATTERN_ID = "correction.earlier"
SELDOM_RIGHT = "seldom_right"
"""Why claims of a turn are not kept: their like is seldom right."""


def claims_in_dialogue(turn: Turn, earlier: Sequence[Turn], read: Callable[[Turn], list[Claim]]) -> list[Claim]:
    """The claims of a turn after `earlier` ones of its session; `read` gives those of a turn by itself.

    Their spans are the whole turn where the words of the fact stand in another.
    """
    if not earlier or turn.subject is None or len(turn.text) > _LONGEST:
        return []
    return _taken_up(turn, earlier[-1], read) + _corrections(turn, earlier, read)


def _taken_up(turn: Turn, before: Turn, read: Callable[[Turn], list[Claim]]) -> list[Claim]:
    """What a turn states by answering or accepting what somebody else said before."""
    if before.subject == turn.subject or before.role not in {"assistant", "user"}:
        return []
    own = [replace(turn, text=sentence) for sentence in in_own_words(before.text, turn.text)]
    return [replace(claim, start=0, end=len(turn.text)) for said in own for claim in read(said)]


def _corrections(turn: Turn, earlier: Sequence[Turn], read: Callable[[Turn], list[Claim]]) -> list[Claim]:
    if not may_correct(turn.text):
        return []
    own = [other for other in earlier[-_FAR_BACK:] if other.subject == turn.subject]
    return corrected(turn.text, [claim for other in own for claim in read(other)], turn.turn_number)


def with_new(claims: list[Claim], together: list[Claim]) -> list[Claim]:
    """The claims of a turn by itself and those together with others: each once, and nothing against a correction."""

    known = {_fact(claim) for claim in together}
    return [claim for claim in claims if _fact(claim) not in known] + together


def _fact(claim: Claim) -> tuple[str, ...]:
    return claim.subject, claim.relation, _end(claim).casefold(), claim.attribute or ""


def may_correct(text: str) -> bool:
    """Whether it is worth looking at what was said before."""
    low = text.lower()
    if text.isascii() and not any(hint in low for hint in _HINT_WORDS):
        return False
    if _HINTS.search(text) is None:
        return False
    straight = text.replace("’", "'")
    return any(p.search(straight) for p in (_NEW_NOT_OLD, _NOT_OLD_NEW, _MEANT))


def corrected(text: str, earlier: list[Claim], turn_number: int) -> list[Claim]:
    """The claims that a turn makes by correcting `earlier` ones, newest last: the new with the end of its old."""
    straight = text.replace("’", "'")
    for pattern, is_new_first in ((_NEW_NOT_OLD, True), (_NOT_OLD_NEW, False)):
        if (match := pattern.search(straight)) is not None:
            new, old = match.groups() if is_new_first else match.groups()[::-1]
            return _replaced([c for c in earlier if _same(_end(c), old)], new, turn_number, match.span())
    if (match := _MEANT.search(straight)) is not None:
        alike = [c for c in earlier if _shape(_end(c)) == _shape(match[1])]
        return _replaced(alike if len(alike) == 1 else [], match[1], turn_number, match.span())
    return []


def _replaced(old: list[Claim], new: str, turn_number: int, span: tuple[int, int]) -> list[Claim]:
    if not old:
        return []
    before = old[-1]
    name = _DETERMINER.sub("", new)
    now = _restated(before, turn_number, span)
    if before.value is not None:
        return [replace(now, value=name)]
    kind = guess_type(name, EXPECTED_OBJECT.get(before.relation)) if before.object_type is None else before.object_type
    now = replace(now, object=name, object_type=kind)
    return [now] if before.relation in FUNCTIONAL else [now, _ended(before, turn_number, span)]


def _ended(claim: Claim, turn_number: int, span: tuple[int, int]) -> Claim:
    restated = _restated(claim, turn_number, span)
    return replace(restated, polarity=-claim.polarity, valid_from=None, valid_precision=None)


def _restated(claim: Claim, turn_number: int, span: tuple[int, int]) -> Claim:
    return replace(
        claim,
        turn_number=turn_number,
        start=span[0],
        end=span[1],
        flags=(),
        hedge_level=HedgeLevel.NONE,
        confidence=initial_confidence(Mechanism.USER_CORRECTION, HedgeLevel.NONE),
        source_mechanism=Mechanism.USER_CORRECTION,
        pattern_id=PATTERN_ID,
    )


def _end(claim: Claim) -> str:
    return claim.object or claim.value or ""


def _same(one: str, other: str) -> bool:
    return _DETERMINER.sub("", one).casefold() == _DETERMINER.sub("", other).casefold()


def _shape(text: str) -> tuple[bool, bool]:
    bare = _DETERMINER.sub("", text)
    return bare.isdigit(), bare[:1].isupper()


_YOUR = re.compile(r"(?i)\byour\b")
_READABLE = frozenset({None, "no_information"})
"""Reasons of the gate for which a turn may still answer the one before."""


def _is_read(turn: Turn) -> bool:
    """Whether a turn is in the language that the patterns are written for, as far as is known."""
    return turn.language in {None, ENGLISH}


def _skipped(turn: Turn, settings: GateSettings) -> str | None:
    """Why a turn is not read: the gate's reason, else its language."""
    reason = skip_reason(turn, settings)
    return OTHER_LANGUAGE if reason is None and not _is_read(turn) else reason


def _stated_before(retracted: list[Claim], said: Said) -> list[Claim]:
    """Those of the retractions that name a thing, or a fact that the speaker stated."""
    stated = {_fact(claim) for _, claims in said for claim in claims}
    return [claim for claim in retracted if _fact(claim) in stated or _names_a_thing(claim)]


def _names_a_thing(claim: Claim) -> bool:
    return claim.relation == TOPIC and claim.value != LAST_TOLD


def _still_named(mentions: Sequence[Mention], read: Sequence[Claim], kept: Sequence[Claim]) -> list[Mention]:
    """The mentions without the things that only claims name which are not kept; a name is a mention by itself."""
    named, before = ({end for claim in claims for end in (claim.subject, claim.object)} for claims in (kept, read))
    return [one for one in mentions if one.name[:1].isupper() or one.name not in before - named]


class RulesExtractor(LocalExtractor):
    """Implements `em_pipelines.schema.readings.Extractor`.

    Reading the first message raises PatternError when the pattern files are bad."""

    def __init__(self, settings: RulesSettings | None = None) -> None:
        self.settings = settings or RulesSettings()

    @cached_property
    def _patterns(self) -> PatternIndex:
        """Read with the first message: whoever asks for the version alone has no use for them."""
        return PatternIndex(load_patterns())

    @property
    def name(self) -> str:
        return "rules"

    @property
    def version(self) -> str:
        """Changes with the source and all it imports, with a pattern file and with the settings."""
        return (
            f"{code_digest(__name__)[:12]}-{hashlib.sha256(self.settings.model_dump_json().encode()).hexdigest()[:6]}"
        )

    def _people_of(self, segment: Segment) -> People:
        """Those of whom the turns before a segment speak: no claim is made of them, but `she` may mean one of them.

        In the assistant's turns `your brother` is the user's.
        """
        people = self._heard(segment.context)[0]
        named = (turn.subject for turn in (*segment.context, *segment.turns))
        people.speakers = frozenset(name.casefold() for name in (segment.user_id, *named) if name)
        people.names = names_of_speakers(segment)
        if are_several(people.names):
            people.speakers |= people.names.keys()
        return people

    def _heard(self, turns: tuple[Turn, ...]) -> tuple[People, list[tuple[Turn, list[Claim]]]]:
        """Those of whom turns speak, and the turns of people with their claims."""
        people = People()
        said = []
        for turn in turns:
            if turn.role not in {"user", "assistant"} or not _is_read(turn):
                continue
            text = _YOUR.sub("my", turn.text) if turn.role == "assistant" else turn.text
            reader = self._reader(replace(turn, text=text), people)
            reader.read()
            said.append((turn, reader.notes.claims))
        return people, said

    def _reader(self, turn: Turn, people: People, *, is_spoken: bool = False) -> MessageReader:
        settings = self.settings
        options = ReaderOptions(settings.max_characters, settings.keeps_health, is_spoken)
        return MessageReader(turn, self._patterns, people, options)

    def extract(self, segment: Segment) -> Extraction:
        """Reads the turns of one segment; every turn ends with a mention, a claim or an issue."""
        out = Extraction()
        people = self._people_of(segment)
        for n, whole in enumerate(segment.turns):
            reason = _skipped(whole, self.settings.gate)
            earlier = (*segment.context, *segment.turns[:n])
            retracted, together, turn = (
                self._with_earlier(whole, earlier, people) if reason in _READABLE else ([], [], whole)
            )
            if reason is not None and not together and not retracted:
                detail = whole.language or "" if reason == OTHER_LANGUAGE else ""
                out.issues.append(Issue(turn.turn_number, "skipped", reason, detail=detail))
                continue
            if len(turn.text) > self.settings.max_characters:
                detail = f"only the first {self.settings.max_characters} characters were read"
                out.issues.append(Issue(turn.turn_number, "truncated", TOO_LONG, "warning", detail))
            reader = self._reader(turn, people, is_spoken=segment.channel == "voice")
            reader.read()
            read = reader.notes.claims
            kept = with_confidence(read, turn, segment, self.settings.min_right)
            claims = retracted + with_new(kept, together)
            out.claims += claims
            out.mentions += _still_named(reader.notes.mentions, read, kept)
            if len(kept) < len(read):
                out.issues.append(Issue(turn.turn_number, "not_kept", SELDOM_RIGHT))
            if not claims and not read and not reader.notes.mentions:
                out.issues.append(Issue(turn.turn_number, "nothing_found", "no_pattern"))
        return out

    def _with_earlier(
        self, turn: Turn, earlier: tuple[Turn, ...], met: People
    ) -> tuple[list[Claim], list[Claim], Turn]:
        """What a turn retracts, what it states together with others, and the turn without the words that retract."""
        retracted, instead, rest = self._take_back(turn, earlier, met)
        return retracted, instead + self._read_together(rest, earlier), rest

    def _take_back(self, turn: Turn, earlier: tuple[Turn, ...], met: People) -> tuple[list[Claim], list[Claim], Turn]:
        """What a turn retracts, what it says instead by a pronoun, and the turn without the words that retract.

        Among people, who joke, only what names a thing, and what the same speaker stated in an earlier turn: what is
        said and retracted in one breath was never stated.
        """
        parts = passages(turn.text[: self.settings.max_characters]) if turn.subject is not None else []
        if not parts:
            return [], [], turn
        people, said = self._heard(earlier)
        own = [(other, claims) for other, claims in said if other.subject == turn.subject]

        def read(text: str) -> list[Claim]:
            reader = self._reader(replace(turn, text=text), people)
            reader.read()
            return reader.notes.claims

        taken = take_back(turn, parts, own, read)
        retracted = _stated_before(taken.claims, own) if met.is_among_people else taken.claims
        return retracted, taken.instead, replace(turn, text=taken.rest)

    def _read_together(self, turn: Turn, earlier: tuple[Turn, ...]) -> list[Claim]:
        def read(other: Turn) -> list[Claim]:
            reader = self._reader(other, People())
            reader.read()
            return reader.notes.claims

        return claims_in_dialogue(turn, earlier, read)
