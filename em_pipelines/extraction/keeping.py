"""What of a conversation is kept: messages that hold nothing are skipped, sentences that are worth it are kept whole.

The gate judges whole messages (`skip_reason`), at no cost. Which sentences are worth keeping, and as what, stands with
the message (`em_pipelines.language.sentence_labels`). Such a sentence makes an observation, whether or not a relation
fits: a claim of who says it, with the kind as relation and the sentence as a literal; its attribute is what it is
about, so that the newer of two values takes the place of the older one. One that says little by itself, `He is seven`,
is kept with the sentence before it. What single clauses are worth is the extractor's business.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import astuple, replace
from datetime import date

from em_pipelines.extraction.settings import GateSettings
from em_pipelines.guard.passages import overlaps
from em_pipelines.guard.screening import RANK
from em_pipelines.guard.standing_instructions import STANDING
from em_pipelines.language.cleaning import CODE_MARK, UNSPACED, blank_code, looks_like_code
from em_pipelines.language.document import document, english
from em_pipelines.language.name_keys import name_tokens
from em_pipelines.language.sentence_labels import Utterance, labelled
from em_pipelines.language.sentences import sentences_of, without_marks
from em_pipelines.schema.readings import (
    ENGLISH,
    MAX_STATEMENT_CHARACTERS,
    Claim,
    Extraction,
    Segment,
    Sentence,
    Turn,
    Withheld,
)
from em_pipelines.schema.vocabulary import INSTRUCTION, USER, USUAL_TEMPORAL_TYPE, EntityType, TemporalType

OBSERVED = "observation"
"""The pattern of every observation."""
MAX_CHARACTERS = 300
"""Of an observation: a longer sentence is kept up to the last comma before."""
_FEW_WORDS = 3
"""A sentence of so many words, `Since January`, mostly goes on from the one before it."""
_CLAUSE_END = re.compile(r"[,;:](?=\s)|\s[-–—](?=\s)")
_UNREAD = frozenset({"not_a_person", "system_text", "code", "noise"})
"""Why a turn is passed over as a whole: what it says is nobody's own."""
_DATED = frozenset({"plan", "event", "decision"})
_OF_VALUES = frozenset({"state", "fact", "plan"})
"""Kinds in which a number is a value that may change."""
_QUANTITY = re.compile(r"[$€£]?\d[\d.,:/]*\s?(?:[%°]|[A-Za-z]{1,3}\b)?")
"""A number with its unit."""
_PRECISION = {
    "day": "day", "weekend": "day", "week": "day", "month": "month", "quarter": "month", "season": "month",
    "half": "month", "year": "year",
}  # fmt: skip
"""How exact the first day of a named time is; of a decade it says nothing."""

_POINTING = frozenset[str]().union(
    *(english.words("words", key) for key in ("subject_pronouns", "possessives", "demonstratives"))
) - (english.own_words | {"you", "u", "your"})
"""What a sentence opens with that says who or what it is about only after another."""
CHATTER = english.words("gate", "chatter")
CHATTER_OF_LANGUAGES = english.words_of_languages("chatter")
NOISE_VERBS = english.words("gate", "noise_verbs")

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_RECALLED = re.compile(
    r"(?i)<(?P<tag>recalled[_-]?memor\w{1,3}|memor(?:y|ies)|retrieved\w{0,12}|system(?:[_-]\w{1,20})?|context)\b[^>]{0,80}>"
)
_SYSTEM_PROMPT = re.compile(
    r"(?i)^\W{0,5}(?:system\s{0,3}(?:prompt|note|message)?\s{0,3}:|you are (?:a|an|the)\s(?:[\w-]+\s){0,4}"
    r"(?:assistant|agent|chatbot|bot|(?:language |ai )?model)\b)"
)
_MEMORY_LIST = re.compile(
    r"(?i)^\W{0,5}(?:here is what i (?:know|remember) about|(?:known )?facts about the user|"
    r"(?:relevant |recalled |retrieved |stored |saved |long-term )?memor(?:y|ies)\s{0,2}[:\]]|recalled\s{0,2}:|"
    r"(?:from|based on) (?:our|your|the) (?:previous|past|earlier) (?:conversations?|chats?|sessions?)\b|"
    r"user (?:profile|facts|context)\s{0,2}:|as an ai (?:language )?(?:model|assistant)\b|i am a helpful assistant\b)"
)
_REPORT = re.compile(
    r"(?i)^\W{0,5}(?:(?:session|conversation|chat) summary\b|"
    r"(?:the )?user's [a-z]+ (?:is|was|has|are|works|lives|likes)\b|(?:context|note)\s{0,2}: (?:the )?user\b|"
    r"(?:the )?user (?:has |is |was )?(?:\w+ly )?[a-z]+(?:s|ed)\b|the assistant )"
)
_ABOUT_SELF = r"(?!.{0,400}\b(?:i|my|we|our|me|im|us)\b)"
_QUESTION_START = re.compile(
    r"(?i)^\W{0,5}(?:(?:so |and |ok |okay |hey |hi )?(?:can|could|would|will) (?:you|u)\b|"
    r"(?:what|how|why|when|where|who|which|is|are|does|do|did)\b)" + _ABOUT_SELF
)

_SIGN, _SYLLABLE = re.compile(rf"[{UNSPACED}]"), re.compile("[\uac00-\ud7af]")

DEFAULT_SETTINGS = GateSettings()


def skip_reason(turn: Turn, settings: GateSettings = DEFAULT_SETTINGS) -> str | None:
    """Returns why the turn holds nothing durable, or None when it is worth reading.

    One of: not_a_person (assistant, tool and system turns), system_text (restated prompts, recalled memory), code,
    noise (reports about "the user"), no_information.
    """
    if turn.subject is None or turn.role != "user":
        return "system_text" if turn.role == "system" else "not_a_person"
    text = turn.text
    if not text.strip():
        return "no_information"
    if _is_system_text(text):
        return "system_text"
    if looks_like_code(text) and _has_no_prose(blank_code(text)):
        return "code"
    if _is_note(text):
        return "noise"
    return "no_information" if _says_nothing(text, settings) else None


def _is_system_text(text: str) -> bool:
    """Whether a prompt is restated, or memory that was recalled."""
    return bool(_RECALLED.search(text[:2000]) or _SYSTEM_PROMPT.match(text) or _MEMORY_LIST.match(text))


def _has_no_prose(blanked: str) -> bool:
    """Whether nothing personal is said around the code: no first person, or no more than a request."""
    prose = blanked.replace(CODE_MARK, " ")
    tokens = [w.casefold() for w in _WORD.findall(prose)]
    if not {"i", "i'm", "im", "we", "my", "our", "i've", "we're"} & set(tokens):
        return len(tokens) < 4 or "?" in prose or bool(_QUESTION_START.match(prose))
    return len(tokens) < 4


def _is_note(text: str) -> bool:
    """Whether somebody reports about "the user", or keeps notes."""
    return _REPORT.match(text) is not None or _is_note_about_nobody(text)


def _is_note_about_nobody(text: str) -> bool:
    """`Uses grep. Familiar with X.`: verbs in the third person without any subject are notes about someone."""
    if "?" in text:
        return False
    notes = [note for one in sentences_of(text[:1000]) for note in one.split(";") if note.strip()]
    return bool(notes) and all(_first_word(note) in NOISE_VERBS and len(note.split()) > 1 for note in notes)


def _first_word(sentence: str) -> str:
    first = _WORD.search(sentence)
    return first.group().casefold() if first else ""


def _n_characters(text: str) -> int:
    """The characters of a text as one in letters has them: a sign of Chinese or Japanese says as much as four, a
    syllable of Korean as three."""
    return len(text) if text.isascii() else len(text) + 3 * len(_SIGN.findall(text)) + 2 * len(_SYLLABLE.findall(text))


NO_INSTRUCTION = "preference"
"""What a sentence states that is labelled as an instruction and is none about answers."""


def _says_nothing(text: str, settings: GateSettings) -> bool:
    if not any(c.isalnum() for c in text):
        return True
    spoken = (match.group() for match in _WORD.finditer(text[:4000]))
    said = {w.casefold().replace("’", "'") for w in spoken}
    if said <= CHATTER or said <= CHATTER_OF_LANGUAGES:
        return True
    if _n_characters(text) < settings.min_characters:
        return not _has_number_or_name(text)
    return False


def _has_number_or_name(text: str) -> bool:
    return any(c.isdigit() for c in text) or any(w[0].isupper() for w in _WORD.findall(text[:4000]))


def with_sentences(turns: Sequence[Turn], first: int = 0) -> list[Turn]:
    """The turns of a conversation; those of people have their sentences from place `first` on."""
    said = [
        Utterance(
            turn.text,
            turn.subject or turn.role,
            turn.role == "assistant",
            place >= first and turn.subject is not None and turn.language in {None, ENGLISH},
        )
        for place, turn in enumerate(turns)
    ]
    return [
        replace(turn, sentences=tuple(Sentence(*astuple(one)) for one in found)) if found else turn
        for turn, found in zip(turns, labelled(said), strict=True)
    ]


def with_observations(reading: Extraction, segment: Segment, settings: GateSettings = DEFAULT_SETTINGS) -> Extraction:
    """The reading and the observations of a guarded segment. What the guard takes out, or does not let be quoted, makes
    none."""
    found = [
        claim
        for turn in segment.turns
        if turn.sentences and skip_reason(turn, settings) not in _UNREAD
        for claim in _observations(turn)
    ]
    if not found:
        return reading
    observed = {claim.turn_number for claim in found}
    issues = [one for one in reading.issues if one.issue != "nothing_found" or one.turn_number not in observed]
    return replace(reading, claims=[*reading.claims, *found], issues=issues)


def _observations(turn: Turn) -> Iterator[Claim]:
    """The sentences that are worth keeping, each of its kind, and those in which the guard finds an instruction about
    answers; what it does not find is none, whatever the label says."""
    if turn.subject is None:
        return
    before: Sentence | None = None
    for sentence in turn.sentences:
        near = _withheld_in(sentence, turn)
        may_be_kept = all(one.reason == STANDING for one in near)
        kind = INSTRUCTION if near else NO_INSTRUCTION if sentence.kind == INSTRUCTION else sentence.kind
        if kind is not None and may_be_kept:
            start, end = without_marks(turn.text, (sentence.span_start, sentence.span_end))
            if end - start > MAX_CHARACTERS:
                clauses = [one.start() for one in _CLAUSE_END.finditer(turn.text, start, start + MAX_CHARACTERS)]
                end = max(clauses, default=start)
            text = " ".join(turn.text[start:end].split())
            if text and CODE_MARK not in text:
                yield _observation(sentence, kind, text, turn, before)
        before = sentence if may_be_kept else None


def _withheld_in(sentence: Sentence, turn: Turn) -> list[Withheld]:
    """What the guard takes out of a sentence, or does not let be quoted: instructions about answers are among it."""
    span = (sentence.span_start, sentence.span_end)
    found = [one for one in turn.withheld or () if overlaps(span, [(one.span_start, one.span_end)])]
    return [one for one in found if one.issue != RANK]


def _observation(sentence: Sentence, kind: str, text: str, turn: Turn, before: Sentence | None) -> Claim:
    when = _date_in(text, turn) if kind in _DATED else None
    start = sentence.span_start
    if before is not None and _goes_on(text):
        said = " ".join(turn.text[before.span_start : before.span_end].split())
        if CODE_MARK not in said and len(said) + len(text) < MAX_CHARACTERS:
            text, start = f"{said} {text}", before.span_start
    return Claim(
        turn_number=turn.turn_number,
        subject=turn.subject or USER,
        subject_type=EntityType.PERSON,
        relation=kind,
        object=None,
        object_type=None,
        value=text,
        confidence=sentence.confidence,
        start=start,
        end=sentence.span_end,
        temporal_type=USUAL_TEMPORAL_TYPE.get(kind, TemporalType.STATE),
        attribute=about(text, kind),
        valid_from=when[0] if when else None,
        valid_precision=when[1] if when else None,
        pattern_id=OBSERVED,
        statement=text if len(text) <= MAX_STATEMENT_CHARACTERS else None,
    )


def _goes_on(text: str) -> bool:
    """Whether a sentence hardly says who or what it is about by itself."""
    first = _first_word(text).replace("’", "'").partition("'")[0]
    return first in _POINTING or (len(text.split()) <= _FEW_WORDS and first not in english.own_words)


def about(text: str, kind: str) -> str:
    """What an observation is about: its words, without numbers where it gives a value."""
    said = set(name_tokens(_QUANTITY.sub(" ", text) if kind in _OF_VALUES else text)) - english.words(
        "words", "adverbs"
    )
    return " ".join(sorted(said)) or text.casefold()


def _date_in(text: str, turn: Turn) -> tuple[date, str] | None:
    """The first day that a sentence names, and how exact it is."""
    days = document(text, turn.timestamp, turn.language).dates
    return next(((one.start, _PRECISION[one.precision]) for one in days if one.precision in _PRECISION), None)
