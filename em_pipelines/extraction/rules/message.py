"""A message taken apart before anybody is looked for in it: sentences, clauses and what each clause is worth."""

import re
from dataclasses import dataclass

from em_pipelines.extraction.cleaning import CODE_MARK, blank_code
from em_pipelines.extraction.rules.clause import Clause
from em_pipelines.extraction.rules.clauses import parse_clauses
from em_pipelines.extraction.rules.cues import AFTERTHOUGHT, between, find_phrases
from em_pipelines.extraction.rules.fiction import Fiction
from em_pipelines.extraction.rules.modifiers import LEVELS, Modifiers, end_questions, only_hedges, set_modifiers, weaken
from em_pipelines.extraction.rules.noun_phrases import NounPhrase
from em_pipelines.extraction.rules.repairs import Mended, mend
from em_pipelines.extraction.rules.sarcasm import mark_sarcasm, may_mock, mocked_phrases
from em_pipelines.extraction.rules.sentences import sentences
from em_pipelines.extraction.rules.tokens import Token
from em_pipelines.extraction.rules.venting import is_venting
from em_pipelines.extraction.rules.verbless import introduces_writer, own_unsaid_subjects, verbless_clauses

_STRAIGHT = str.maketrans("’‘ʼ“”„«»", "'''" + '"' * 5)
_QUOTED = re.compile(r'"([^"\n]{8,600})"')
_MATERIAL = re.compile(
    r"(?im)(?:^|[.!?\n] {0,2})(?:(?:please|pls|can you|could you|hey|hi|now)\b,? ){0,2}"
    r"(?:translate|summari[sz]e|proofread|correct|rewrite|rephrase|paraphrase|polish|shorten|edit|"
    r"(?:check|fix) (?:my|the) (?:grammar|spelling))\b[^:\n]{0,80}:"
)
"""What comes after `Translate this:` is material to work on, not what its writer says of himself."""
_CITED = re.compile(r"(?im)^ {0,3}(?:>|(?:e\.g\.|for example|example|lyrics|quote(?: of the day)?) ?[:,]?).{0,500}$")
_INTENDING = frozenset({"want", "need", "plan", "decide", "intend", "hope"})
_SPEECH = re.compile(r"(?i)\b(?:i|my|we|our|you|he|she|they|is|are|was)\b")


def _blanked_quote(match: re.Match[str]) -> str:
    """Whole sentences in quotes are somebody's words, not the speaker's statement; titles and names stay."""
    return CODE_MARK * len(match.group()) if _SPEECH.search(match.group(1)) else match.group()


def readable(text: str) -> str:
    """The text to be read, of the same length: code and others' words blanked, quotes and apostrophes straight."""
    text = blank_code(text)
    text = text if text.isascii() else text.translate(_STRAIGHT)
    text = _QUOTED.sub(_blanked_quote, text) if '"' in text else text
    material = _MATERIAL.search(text) if ":" in text else None
    if material is not None:
        text = text[: material.end()] + CODE_MARK * (len(text) - material.end())
    return _CITED.sub(lambda match: CODE_MARK * len(match.group()), text)


@dataclass(slots=True)
class Sentence:
    """Tokens `start` to `stop`, its clauses with their modifiers, and its noun phrases, in order."""

    start: int
    stop: int
    clauses: list[Clause]
    modifiers: list[Modifiers]
    nouns: list[NounPhrase]
    verbless: list[tuple[Clause, Modifiers]]
    """Clauses without a verb, with theirs."""
    mocked: list[NounPhrase]
    """What a sarcastic sentence complains of, apart from its claims."""


def parse_message(tokens: list[Token], text: str, *, is_spoken: bool = False) -> tuple[Mended, list[Sentence]]:
    """The tokens, in which self-corrections are mended, and the sentences. `is_spoken`: a transcript of speech."""
    cues = find_phrases(tokens)
    mended = mend(tokens, cues, is_spoken=is_spoken)
    tokens, marks = mended.tokens, mended.marks
    if marks:
        cues = find_phrases(tokens)
    vents = is_venting(tokens, text, cues)
    fiction = Fiction(cues)
    is_profile = introduces_writer(tokens)
    is_earnest = any(cue.tag == "earnest" for cue in cues) or not may_mock(tokens, cues)
    mockery = [cue for cue in cues if cue.tag == "mockery"][:1]
    parsed: list[Sentence] = []
    last: Modifiers | None = None
    for start, stop in sentences(tokens, text):
        clauses, chunks = parse_clauses(tokens, start, stop)
        if is_profile:
            own_unsaid_subjects(clauses)
        nouns = [phrase for _, _, phrase in chunks if phrase is not None]
        here = between(cues, start, stop + 1)
        modifiers = set_modifiers(clauses, tokens, start, stop, here)
        opening = clauses[0].verb.start if clauses else stop
        is_comment = last is not None and bool(here) and only_hedges(clauses, tokens, here)
        for at, until, tag in here:
            is_alone = at <= opening and not (clauses and clauses[-1].verb.start >= until)
            if last is not None and ((tag.endswith(AFTERTHOUGHT) and is_alone) or (is_comment and tag in LEVELS)):
                weaken(last, tag)
        verbless: list[tuple[Clause, Modifiers]] = []
        if all(_is_stated(mods) for mods in modifiers):
            for clause in verbless_clauses(tokens, start, stop, chunks, clauses, is_profile=is_profile):
                verbless.append((clause, set_modifiers([clause], tokens, start, stop, here)[0]))
        unsaid = [clause for clause, _ in verbless]
        every = modifiers + [mods for _, mods in verbless] if verbless else modifiers
        if vents or marks:
            for mods in every:
                mods.is_venting = vents
                mods.is_settled = is_spoken and bool(marks)
        if is_spoken:
            end_questions(clauses, modifiers, tokens)
        fiction.mark(tokens, start, stop, clauses + unsaid, every)
        is_mocking = not is_earnest and mark_sarcasm(tokens, text, start, stop, here + mockery, modifiers)
        last = modifiers[-1] if modifiers else last
        if stop in marks and last is not None:
            _taken_back(clauses, modifiers, last).is_abandoned = True
        verbless = [] if is_mocking else verbless
        mocked = mocked_phrases(tokens, start, stop, here, clauses) if is_mocking else []
        parsed.append(Sentence(start, stop, clauses, modifiers, nouns, verbless, mocked))
    return mended, parsed


def _is_stated(mods: Modifiers) -> bool:
    return not (mods.is_supposed or mods.is_hypothetical or mods.is_reported or mods.is_question)


def _taken_back(clauses: list[Clause], modifiers: list[Modifiers], last: Modifiers) -> Modifiers:
    """The clause that a correction takes back: the last that intends something, else the last there is."""
    for clause, mods in zip(reversed(clauses), reversed(modifiers), strict=True):
        verb = clause.verb
        is_told_to = clause.pronoun is None and not clause.subject and not verb.is_past
        if verb.is_future or is_told_to or verb.modal in {"will", "might"} or not _INTENDING.isdisjoint(verb.lemmas):
            return mods
    return last
