"""Interactions become messages: cleaned, hashed, and marked for what their session and channel make of them.

Here every message is guarded, once: what is found stands beside its content, and whoever reads it or quotes it goes by
that; where an embedder is set, sentences are looked at a second time. And here it is found out which language it is
written in, by the library py3langid: offline, the same on every run. Code, quotations, addresses and names are taken
out before, for they tell nothing of the language around them. A message that leaves doubt is in the language of its
speaker in the same conversation, else of the conversation, where that is clear. Plain English is known by its small
words, without the library, which takes half a second to be read.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from functools import cache, lru_cache
from itertools import groupby
from pathlib import Path
from typing import cast

import pyarrow as pa
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from em_pipelines.guard.screening import withheld_in
from em_pipelines.guard.sensitive import SafetySettings
from em_pipelines.language.cleaning import CODE_MARK, MARKS, blank_code, clean_text, looks_like_code, n_tokens
from em_pipelines.language.sentence_labels import Utterance, labelled
from em_pipelines.language.values import read_yaml
from em_pipelines.schema.ids import message_id
from em_pipelines.schema.readings import ENGLISH, Withheld
from em_pipelines.schema.rows import InteractionRow, MessageRow, WithheldItem
from em_pipelines.schema.table import Records, Tables, rows_of
from em_pipelines.schema.tables.clean import MESSAGES


def messages(interactions: pa.Table, safety: SafetySettings) -> pa.Table:
    """Returns the day's messages, one for each of the day's interactions, in the columns of `messages`.

    One untrusted turn makes every message of its session untrusted: what a web page put into one turn can speak through
    the others. Of turns on other days the day's interactions know (`storage.session_marks`).
    """
    rows = list(cast("Iterator[InteractionRow]", rows_of(interactions)))
    untrusted = {(r["user_id"], r["session_id"]) for r in rows if r["trust"] == "untrusted"}
    contents = [clean_text(row["content"]) for row in rows]
    said = [
        Words(content, (row["user_id"], row["session_id"]), (row["role"], row["speaker"]))
        for content, row in zip(contents, rows, strict=True)
    ]
    withheld = [withheld_in(content, safety) for content in contents]
    made = [
        _message(row, content, language, found, is_untrusted=(row["user_id"], row["session_id"]) in untrusted)
        for row, content, language, found in zip(rows, contents, languages_of(said), withheld, strict=True)
    ]
    _label_sentences(made)
    return MESSAGES.from_rows(made)


def _label_sentences(made: Sequence[MessageRow]) -> None:
    """Adds to each message its sentences with their labels, conversation by conversation; of nobody's words, of an
    untrusted conversation and of other languages than the model knows there are none."""
    ordered = sorted(made, key=lambda row: (row["user_id"], row["session_id"], row["turn_number"]))
    for _, group in groupby(ordered, key=lambda row: (row["user_id"], row["session_id"])):
        rows = list(group)
        for row, found in zip(rows, labelled([_utterance(row) for row in rows]), strict=True):
            row["sentences"] = [
                {"span_start": one.start, "span_end": one.end, "kind": one.kind, "confidence": one.confidence}
                for one in found
            ]


def _utterance(row: MessageRow) -> Utterance:
    is_read = row["subject"] is not None and row["trust"] == "trusted" and row["note_privacy"] is None
    return Utterance(
        text=row["content"],
        speaker=row["subject"] or row["role"],
        is_assistant=row["role"] == "assistant",
        is_asked=is_read and row["language"] in {None, ENGLISH},
    )


def _message(
    row: InteractionRow, content: str, language: str | None, withheld: Iterable[Withheld], *, is_untrusted: bool
) -> MessageRow:
    return {
        "message_id": message_id(row["user_id"], row["session_id"], row["turn_number"]),
        "user_id": row["user_id"],
        "session_id": row["session_id"],
        "turn_number": row["turn_number"],
        "role": row["role"],
        "subject": row["subject"],
        "speaker": row["speaker"],
        "timestamp": row["timestamp"],
        "utc_offset_minutes": row["utc_offset_minutes"],
        "channel": row["channel"],
        "domain": row["domain"],
        "agent_id": row["agent_id"],
        "participants": row["participants"],
        "correlation_id": row["correlation_id"],
        "source_id": row["source_id"],
        "content": content,
        "content_hash": hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest(),
        "memory_type": row["memory_type"] or "observation",
        "tags": row["tags"] or [],
        "is_group": row["channel"] == "group" or len(row["participants"]) > 1,
        "trust": "untrusted" if is_untrusted else "trusted",
        "is_pasted_elsewhere": row["is_pasted_elsewhere"],
        "note_privacy": row["note_privacy"],
        "n_tokens": n_tokens(content),
        "has_code": looks_like_code(content),
        "language": language,
        "withheld": _items(withheld),
        "sentences": [],
    }


def withheld_rows(content: str, safety: SafetySettings) -> list[WithheldItem]:
    """What the guard takes out of a message, as items of `withheld`."""
    return _items(withheld_in(content, safety))


def _items(withheld: Iterable[Withheld]) -> list[WithheldItem]:
    return [cast("WithheldItem", asdict(found)) for found in withheld]


def messages_run(safety: SafetySettings) -> Callable[[date, Tables, Records], Tables]:
    """The run of the step `messages`."""

    def run(_: date, tables: Tables, __: Records) -> Tables:
        return {MESSAGES.name: messages(tables["interactions"], safety)}

    return run


MIN_SHARE = 0.7
"""Of the likelihood that one language must have. Of 3,400 messages of English conversations two were then found to be
in another, both of two words; of 120 sentences of five words in 22 languages none was found to be in a wrong one."""
MAX_ENGLISH_SHARE = 0.01
"""Where English is as unlikely as that, the likeliest language is taken for it: which of its kin it is matters less."""
MIN_GUESS_SHARE = 0.35
MIN_FITTING_SHARE = 0.02
"""What a doubtful message must have of the likelihood of the language spoken around it."""
MIN_CLEAR_SHARE = 0.75
"""Of the sure messages of a speaker, or of a conversation, that make its language clear."""
MAX_CHARACTERS = 600
"""Of a message that is looked at: more says no more of its language, and costs."""
MAX_WORD_CHARACTERS = 20
MAX_SHORT_WORDS, MAX_SHORT_CHARACTERS = 3, 40
"""Of a text in letters without accents that needs no asking in an English conversation: "lol no way"."""
MIN_OWN_WORDS = 2
"""Beside quotations: of fewer, what is quoted tells the language."""
MIN_ENGLISH_WORDS, MIN_ENGLISH_WORDS_SHARE = 2, 0.3
MIN_WORDS_TO_A_FOREIGN_NAME = 4
"""Of an English sentence, to each word in other letters: `my aunt 美玲 lives in Tainan`."""

_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|[\w.+-]+@[\w-]+\.[\w.-]+|[@#][\w-]+|\[masked:\w+\]")
_QUOTED = re.compile(r"(?m)^\s{0,8}>.*$|\"[^\"\n]{3,400}\"|“[^”\n]{3,400}”|«[^»\n]{3,400}»|„[^“”\n]{3,400}[“”]")
_WORD = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{MARKS}])*(?:['’][^\W\d_]+)*")
_ONE_LATIN_WORD = re.compile(r"\W*[A-Za-zÀ-ɏ]+\W*")
_OPENS = " \t\"'“‘«([¿¡*_-"
"""What may stand between the end of a sentence and the first word of the next."""
_BESIDES = re.compile(rf"[\d_{CODE_MARK}]+")


@dataclass(frozen=True, slots=True)
class Words:
    """What somebody said in a conversation: what a language is asked for."""

    text: str
    conversation: Hashable
    speaker: Hashable


@dataclass(frozen=True, slots=True)
class _Guess:
    """What one text tells by itself: its likeliest language, whether that is sure, and how likely others are."""

    language: str | None
    is_sure: bool
    shares: tuple[tuple[str, float], ...] = ()

    def fits(self, language: str) -> bool:
        """Whether a text in doubt may be in a language: one that tells nothing at all may be in any."""
        return not self.shares or dict(self.shares).get(language, 0.0) >= MIN_FITTING_SHARE


_OF_FEW_WORDS = _Guess(None, is_sure=False)


def languages_of(said: Sequence[Words]) -> list[str | None]:
    """The language of each text, as ISO 639-1; None where it is too short, or in doubt among doubtful ones."""
    english = _clearly_english(said)
    guesses = [_OF_FEW_WORDS if _is_short_among(words, english) else _guess(words.text) for words in said]
    of_speakers = _clear((words.conversation, words.speaker, guess) for words, guess in zip(said, guesses, strict=True))
    of_all = _clear((words.conversation, None, guess) for words, guess in zip(said, guesses, strict=True))
    return [
        guess.language
        if guess.is_sure
        else _around(
            guess, of_speakers.get((words.conversation, words.speaker)), of_all.get((words.conversation, None))
        )
        for words, guess in zip(said, guesses, strict=True)
    ]


def _clearly_english(said: Sequence[Words]) -> frozenset[Hashable]:
    """The conversations of which most texts are plain English."""
    is_plain: dict[Hashable, list[bool]] = defaultdict(list)
    for words in said:
        is_plain[words.conversation].append(_is_plain_english(words.text[:MAX_CHARACTERS]))
    return frozenset(conversation for conversation, plain in is_plain.items() if sum(plain) * 2 > len(plain))


def _is_short_among(words: Words, english: frozenset[Hashable]) -> bool:
    """Whether a text is too short to be asked about, in a conversation that is in English."""
    short = words.conversation in english and words.text.isascii() and len(words.text) <= MAX_SHORT_CHARACTERS
    return short and len(_WORD.findall(words.text)) <= MAX_SHORT_WORDS


def language_of(text: str) -> str | None:
    """The language of a text that stands alone, as ISO 639-1; None where it is too short or in doubt."""
    return languages_of([Words(text, None, None)])[0]


def _around(guess: _Guess, *spoken: str | None) -> str | None:
    """The language of a doubtful text among others: the one spoken around it, if it fits, else what it may be."""
    return next((language for language in spoken if language and guess.fits(language)), guess.language)


def _clear(guesses: Iterable[tuple[Hashable, Hashable, _Guess]]) -> dict[tuple[Hashable, Hashable], str]:
    """The language that nearly all sure texts of a group are in, by group."""
    counts: dict[tuple[Hashable, Hashable], Counter[str]] = defaultdict(Counter)
    for conversation, speaker, guess in guesses:
        if guess.is_sure and guess.language:
            counts[conversation, speaker][guess.language] += 1
    clear = {group: counted.most_common(1)[0] for group, counted in counts.items()}
    return {group: language for group, (language, n) in clear.items() if n >= MIN_CLEAR_SHARE * counts[group].total()}


@lru_cache(maxsize=16_384)
def _guess(text: str) -> _Guess:
    head = text[:MAX_CHARACTERS]
    if _is_plain_english(head):
        return _Guess(ENGLISH, is_sure=True)
    prose = _prose(head)
    if _is_plain_english(prose):
        return _Guess(ENGLISH, is_sure=True)
    if not _WORD.search(prose):
        return _Guess(None, is_sure=False)
    if len(prose) <= MAX_WORD_CHARACTERS and _ONE_LATIN_WORD.fullmatch(prose):  # "ok" is said in any language
        return _OF_FEW_WORDS
    shares = _likely(prose)
    language, share = shares[0]
    if share >= MIN_SHARE:
        return _Guess(language, is_sure=True, shares=shares)
    is_foreign = dict(shares).get(ENGLISH, 0.0) <= MAX_ENGLISH_SHARE and share >= MIN_GUESS_SHARE
    return _Guess(language if is_foreign else None, is_sure=False, shares=shares)


@lru_cache(maxsize=16_384)
def _is_plain_english(text: str) -> bool:
    """Whether small words of English make up a good part of a text in Latin letters without accents, but for names."""
    words = [word.lower() for word in _WORD.findall(text.replace("’", "'"))]
    plain = [word for word in words if word.isascii()]
    if len(plain) < len(words) - len(words) // MIN_WORDS_TO_A_FOREIGN_NAME:
        return False
    words = plain
    n_english = sum(map(_small_words("english").__contains__, words))
    if n_english < MIN_ENGLISH_WORDS_SHARE * len(words) / 2:
        return False
    n_small = n_english + sum(map(_small_words("shared").__contains__, words))
    return n_english > 0 and n_small >= max(MIN_ENGLISH_WORDS, MIN_ENGLISH_WORDS_SHARE * len(words))


def _prose(text: str) -> str:
    """The text without code, quotations, addresses, numbers and names; with quotations where nothing else is there."""
    bare = _ADDRESS.sub(" ", blank_code(text))
    own = _QUOTED.sub(" ", bare)
    if len(_WORD.findall(own)) < MIN_OWN_WORDS:
        own = bare
    return " ".join(_BESIDES.sub(" ", _without_names(own)).split())


def _without_names(text: str) -> str:
    """The text without words written as names inside sentences, unless little is left that is not plain English: German
    nouns are written so, too."""
    words = list(_WORD.finditer(text))
    names = [word for word in words if word[0][0].isupper() and not _opens_sentence(text, word.start())]
    parts, at = [], 0
    for name in names:
        parts.append(text[at : name.start()])
        at = name.end()
    rest = " ".join([*parts, text[at:]])
    return text if len(names) * 2 > len(words) and not _is_plain_english(rest) else rest


def _opens_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - 6) : start].rstrip(_OPENS)
    return not before or before[-1] in ".!?:…\n"


def _likely(prose: str) -> tuple[tuple[str, float], ...]:
    """Languages by their likelihood, the likeliest first; those that are out of the question left out."""
    ranked = _identifier().rank(prose)
    return tuple((language, float(share)) for language, share in ranked if share >= 1e-4) or ((ENGLISH, 0.0),)


@cache
def _identifier() -> LanguageIdentifier:
    """The library with its model, which takes half a second to be read, and the languages that are looked for."""
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(_listed("known"))
    return identifier


@cache
def _small_words(name: str) -> frozenset[str]:
    return frozenset(_listed(name))


def _listed(name: str) -> list[str]:
    listed: str = read_yaml(Path(__file__).with_name("languages.yaml").read_text(encoding="utf-8"))[name]
    return listed.split()
