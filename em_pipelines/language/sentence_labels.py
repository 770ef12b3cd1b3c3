"""Which sentences of a conversation are worth keeping, and as what: an encoder that was fine-tuned for it.

In: the messages of a conversation, in order. Out: of each message that is asked about its sentences, with the kind of
observation where one is worth keeping. The model is MiniLM-L6 (Wang et al., 2020, MiniLM) with one linear layer over
the first state, the mean and the maximum of the sentence's own; it reads the sentence with what was said shortly
before. A last score, of the sentence alone, tells orders to whoever reads. Each sentence is read by itself, so that no
other message of a day moves its scores. A logistic regression on
the words of the sentence alone comes first: what it tells to be worth nothing is not read by the network. What both
were fitted to, and how well they tell: docs/model-card.md.

The same encoder, as it was published and projected onto 96 directions (training/vectors), places texts in a space where
those of like meaning are near. A text counts by its beginning, which mostly says what it is about; code is left out.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np
import numpy.typing as npt
import yaml

from em_pipelines.errors import PatternError
from em_pipelines.language.cleaning import CODE_MARK, blank_code
from em_pipelines.language.sentences import sentences

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MODEL, VECTORS = (Path(__file__).with_name(f"{name}.onnx") for name in ("sentence_labels", "text_vectors"))
WORD_VECTORS = "word_pieces.bin"
"""The vectors of word pieces (30,522 × 384, of eight bits), which all encoders read."""
CLS, SEP = 101, 102
"""Ids of the tokens that open a text and close a part of it."""
MAX_TEXT_TOKENS, N_NUMBERS = 64, 96
LONGEST_TEXT = 2_000
"""Characters that are looked at for these tokens."""
Vectors = npt.NDArray[np.float32]
FITTED = "sentence_labels.yaml"
"""The digest of the files of weights, calibration and thresholds: by this file a step knows of another model."""
KINDS = ("instruction", "decision", "plan", "event", "state", "relationship", "preference", "fact")
"""Kinds of observation, in the order of the first scores; behind them stand the reasons not to keep a sentence
(training/durable/GUIDELINES.md)."""
MAX_SENTENCE_TOKENS, MAX_BEFORE_TOKENS = 64, 48
N_EARLIER, MAX_EARLIER_CHARACTERS = 2, 160
"""Messages before one that are read with a sentence of it, and characters at their ends."""
WORDS = "sentence_words.npz"
"""The weights of words."""
N_MARKS = 2**15
_WORD = re.compile(r"\w+|[^\w\s]")


@cache
def opened(path: Path) -> "tuple[Any, Tokenizer]":
    """The model of a file and its tokenizer, which stands in the metadata. Raises PatternError if it cannot be read."""
    import onnxruntime  # noqa: PLC0415  (a tenth of a second, and of whoever encodes alone)
    from tokenizers import Tokenizer  # noqa: PLC0415

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        model = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        return model, Tokenizer.from_str(model.get_modelmeta().custom_metadata_map["tokenizer"])
    except Exception as error:
        raise PatternError(f"reading the model {path.name}: {error}; restore the file") from error


@dataclass(frozen=True, slots=True)
class Utterance:
    """A message of a conversation: what it says, and who says it; `is_asked`: whether its sentences are."""

    text: str
    speaker: str
    is_assistant: bool = False
    is_asked: bool = True


@dataclass(frozen=True, slots=True)
class Label:
    """A sentence. `confidence` is the probability that it is worth keeping, 0 to 1, and `kind` that of the observation;
    None where it is not worth keeping."""

    start: int
    end: int
    kind: str | None
    confidence: float


def labelled(conversation: Sequence[Utterance]) -> list[tuple[Label, ...]]:
    """The sentences of each message, labelled where they are asked about, else none. Raises PatternError if the model
    cannot be read."""
    return [
        tuple(_labels(conversation, place)) if utterance.is_asked else ()
        for place, utterance in enumerate(conversation)
    ]


def _labels(conversation: Sequence[Utterance], place: int) -> Iterator[Label]:
    utterance = conversation[place]
    before = earlier(conversation, place)
    for start, end in sentences(utterance.text):
        sentence = utterance.text[start:end]
        yield Label(start, end, *label_of(sentence, before_sentence(before, utterance.text[:start])))


def earlier(conversation: Sequence[Utterance], place: int) -> str:
    """What was said before a message, as the model reads it."""
    own = conversation[place].speaker
    return " ".join(
        f"{_who(one, own)}: {one.text[-MAX_EARLIER_CHARACTERS:]}"
        for one in conversation[max(0, place - N_EARLIER) : place]
    )


def _who(said: Utterance, speaker: str) -> str:
    return "assistant" if said.is_assistant else "same" if said.speaker == speaker else "other"


def before_sentence(before: str, own: str) -> str:
    """What was said before a sentence, with the beginning of its own message."""
    own = " ".join(own.split())
    return f"{before} me: {own[-MAX_EARLIER_CHARACTERS:]}" if own else before


@lru_cache(maxsize=16_384)
def is_order(sentence: str) -> bool:
    """Whether a sentence, by itself, tells whoever reads it what to do or believe, as attacks on a memory do. Raises
    PatternError if the model cannot be read."""
    return _model().is_order(sentence)


@lru_cache(maxsize=1024)
def order_odds(sentence: str) -> float:
    """The log odds that a sentence, by itself, is such an order."""
    return float(_model().scores(sentence, "")[-1])


@lru_cache(maxsize=16_384)
def label_of(sentence: str, before: str) -> tuple[str | None, float]:
    """The kind of a sentence, if it is worth keeping, and how probable that is, given what was said before it."""
    model = _model()
    if not model.may_be_kept(sentence):
        return None, 0.0
    scores = model.scores(sentence, before)
    kept = model.probability(scores)
    kind = KINDS[int(np.argmax(scores[: len(KINDS)]))] if kept >= model.threshold else None
    return kind, round(kept, 3)


class SentenceModel:
    """The fitted network, its vocabulary, and the calibration of its scores."""

    def __init__(self, path: Path = MODEL) -> None:
        try:
            fitted = yaml.safe_load(path.with_name(FITTED).read_text(encoding="utf-8"))
            is_of_another = digest_of(path) != fitted["sha256"]
            with np.load(path.with_name(WORDS), allow_pickle=False) as words:
                self._kept_words, self._order_words = words["kept"].tolist(), words["order"].tolist()
        except Exception as error:
            raise PatternError(f"reading the model {path.name}: {error}; restore the file") from error
        if is_of_another:
            raise PatternError(f"reading the model {path.name}: {FITTED} is of another model; restore the four files")
        self._session, self._tokens = opened(path)
        self.threshold: float = fitted["threshold"]
        self._gate: float = fitted["gate"]
        self._slope: float = fitted["slope"]
        self._offset: float = fitted["offset"]
        self._least_order: float = fitted["least_order"]
        self._order_gate: float = fitted["order_gate"]

    def may_be_kept(self, sentence: str) -> bool:
        """Whether the words of a sentence leave it possible that it is worth keeping."""
        return bool(sum(self._kept_words[mark] for mark in marks_of(sentence)) >= self._gate)

    def is_order(self, sentence: str) -> bool:
        """Whether a sentence is taken for an order; the words come first here, too."""
        if sum(self._order_words[mark] for mark in marks_of(sentence)) < self._order_gate:
            return False
        return bool(self.scores(sentence, "")[-1] >= self._least_order)

    def scores(self, sentence: str, before: str) -> npt.NDArray[np.float32]:
        """A score for each of `KINDS` and of the reasons, and the log odds of an order; a vector of 15."""
        ids, n_own = encoded(self._tokens, sentence, before)
        tokens = np.array([ids], np.int64)
        types = np.array([[int(n >= n_own) for n in range(len(ids))]], np.int64)
        found: npt.NDArray[np.float32] = self._session.run(None, {"ids": tokens, "types": types})[0][0]
        return found

    def probability(self, scores: npt.NDArray[np.float32]) -> float:
        """That a sentence with these scores is worth keeping: the odds of all kinds together, calibrated."""
        kept, other = (np.logaddexp.reduce(part.astype(float)) for part in np.split(scores[:-1], [len(KINDS)]))
        return float(1 / (1 + np.exp(-(self._slope * (kept - other) + self._offset))))


def digest_of(path: Path) -> str:
    """The SHA-256 of a model and of the two files of words beside it, in hexadecimal."""
    files = (path, path.with_name(WORD_VECTORS), path.with_name(WORDS))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def marks_of(sentence: str) -> list[int]:
    """The words of a sentence and the pairs of neighbours, each once, as numbers below N_MARKS."""
    words = _WORD.findall(sentence.lower())[:MAX_SENTENCE_TOKENS]
    marks = dict.fromkeys([*words, *map(" ".join, pairwise(words))])
    return [crc32(mark.encode("utf-8", "surrogatepass")) % N_MARKS for mark in marks]


def encoded(tokens: "Tokenizer", sentence: str, before: str) -> tuple[list[int], int]:
    """The ids of a sentence and of what was said before it, and how many of them are of the sentence."""
    own = [CLS, *tokens.encode(sentence, add_special_tokens=False).ids[:MAX_SENTENCE_TOKENS], SEP]
    past = tokens.encode(before, add_special_tokens=False).ids[-MAX_BEFORE_TOKENS:]
    return [*own, *past, SEP] if past else own, len(own)


@cache
def _model() -> SentenceModel:
    return SentenceModel()


class TextVectors:
    """The encoder. It is opened when it is first asked."""

    def __init__(self, path: Path = VECTORS) -> None:
        self._path = path

    @cached_property
    def name(self) -> str:
        """Vectors of one name are comparable; other weights have another."""
        return f"{self._path.stem}:{_short_digest(self._path)}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Texts × 96, each of length 1; 0 of a text without words. Raises PatternError if the model cannot be read."""
        return np.stack([self.ask(text) for text in texts]) if texts else np.zeros((0, N_NUMBERS), np.float32)

    def ask(self, text: str) -> Vectors:
        """The vector of a text, of length 1."""
        return _vector_of(self._path, _prose(text))


@lru_cache(maxsize=16_384)  # people say the same short things
def _vector_of(path: Path, prose: str) -> Vectors:
    model, tokens = opened(path)
    ids = tokens.encode(prose, add_special_tokens=False).ids[:MAX_TEXT_TOKENS]
    found: Vectors = model.run(None, {"ids": np.array([[CLS, *ids, SEP]], np.int64)})[0][0]
    length = float(np.linalg.norm(found)) if ids else np.inf
    return (found / np.float32(length)).astype(np.float32)


def _prose(text: str) -> str:
    """The text without code and what was blanked."""
    said = text[:LONGEST_TEXT]
    if "\n" in said or "`" in said:
        said = blank_code(said)
    return said.replace(CODE_MARK, " ")


@cache
def _short_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes() + path.with_name(WORD_VECTORS).read_bytes()).hexdigest()[:8]
