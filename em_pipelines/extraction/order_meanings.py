"""Orders that no word tells: sentences that mean what attacks mean, by the vectors of an embedder, where one is set.

Asked about are sentences that words alone would show, and that are not quite unlikely to be orders. What is told is
withheld as what words tell. Each sentence of a user is asked about once and what came of it kept, so that making a day
again asks nobody and gives the same. Where no vectors are to be had words alone decide, nobody is asked again by this
process, and the day stays out of date.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import date
from functools import cached_property
from pathlib import Path

import numpy as np
from filelock import FileLock

from em_pipelines.errors import EmError, UnusableAnswerError
from em_pipelines.extraction.messages import Said
from em_pipelines.llm.database import Database
from em_pipelines.llm.judgements import Judgements
from em_pipelines.llm.phrase_vectors import TextEmbedder
from em_pipelines.schema.ids import digest
from em_pipelines.schema.readings import Withheld
from em_pipelines.storage.files import write_atomically
from em_pipelines.storage.step import code_digest
from em_pipelines.text.cleaning import CODE_MARK
from em_pipelines.text.guard.order_kernel import Floats, OrderKernel, order_examples
from em_pipelines.text.guard.passages import Span, folded, is_json, sentences
from em_pipelines.text.guard.screening import MILD, UNQUOTED, quotable
from em_pipelines.text.guard.sensitive import LEARNED, MIN_WORDS, sentence_weights

UNLIKELY = -4.0
"""Log-odds by words below which a sentence is not asked about: two of three of LoCoMo's lie there, and 2 of a hundred
of attacks by hands that the weights were not fitted to."""
BATCH = 256
_LOGGER = logging.getLogger(__name__)


def doubtful_sentences(content: str, withheld: Sequence[Withheld]) -> Iterator[tuple[Span, str, float]]:
    """The sentences of a message that would be shown and may be orders: where each is, what it says, and its log-odds
    by words."""
    if is_json(content):
        return
    shown, weights = quotable(content, withheld), sentence_weights()
    for start, end in sentences(shown):
        sentence = " ".join(shown[start:end].replace(CODE_MARK, " ").split())
        plain = folded(sentence)
        if plain.count(" ") >= MIN_WORDS - 1 and (score := weights.score(plain)) >= UNLIKELY:
            yield (start, end), sentence, score


class OrderMeanings:
    """Judges the sentences of a day. `model` is the name of the embedder, which is opened when it is first asked;
    `path` is the file in which is kept what came of it; the classifier lies beside it."""

    def __init__(self, model: str, open_embedder: Callable[[], TextEmbedder], path: Path) -> None:
        self.is_whole = True
        """Whether every sentence could be judged of the day looked at last."""
        self._model = model
        self._open_embedder = open_embedder
        self._path = path
        self._kernel: OrderKernel | None = None
        self._is_asked = True
        self._day: date | None = None

    @property
    def version(self) -> str:
        """What the results hang on beside the settings: the model, the code of this module, and the examples."""
        return f"{self._model}@{code_digest(__name__)}"

    @property
    def classifier(self) -> Path:
        """The file of the fitted classifier: another one for each model, and when examples or fitting have changed."""
        return self._path.with_name(f"orders-{digest([self._model, code_digest(OrderKernel.__module__)])[:16]}.npz")

    @cached_property
    def judge(self) -> str:
        """Who judges: the classifier, and the weights of words. Nothing else that changes has sentences judged anew."""
        return f"{self.classifier.stem}@{digest([sentence_weights().model_dump_json()])[:16]}"

    def of_day(self, day: date, said: Sequence[Said]) -> list[tuple[Withheld, ...]]:
        """What is withheld of each message beside what words withhold. A day may be looked at in parts, for some users
        each."""
        if day != self._day:
            self._day, self.is_whole = day, True
        doubtful = [(user, list(doubtful_sentences(content, withheld))) for user, content, withheld in said]
        wanted: dict[str, dict[str, float]] = defaultdict(dict)
        for user, found in doubtful:
            wanted[user].update({sentence: score for _, sentence, score in found})
        told = self._told({user: own for user, own in wanted.items() if own})
        return [
            tuple(Withheld(*span, UNQUOTED, LEARNED, MILD) for span, sentence, _ in found if told[user].get(sentence))
            for user, found in doubtful
        ]

    def _told(self, wanted: Mapping[str, Mapping[str, float]]) -> Mapping[str, Mapping[str, bool]]:
        """Whether each user's sentences are told, as far as that can be known."""
        found: dict[str, dict[str, bool]] = defaultdict(dict)
        if not wanted:
            return found
        with closing(Database(self._path)) as database:
            kept = Judgements(database, self.judge)
            found.update({user: kept.known(user, own) for user, own in wanted.items()})
            missing = {s: score for user, own in wanted.items() for s, score in own.items() if s not in found[user]}
            judged = self._judged(missing)
            for user, own in wanted.items():
                given = {s: judged[s] for s in own.keys() - found[user].keys() if s in judged}
                if given:
                    kept.save(user, given)
                found[user] |= given
                self.is_whole &= len(found[user]) == len(own)
        return found

    def _judged(self, scores: Mapping[str, float]) -> dict[str, bool]:
        found: dict[str, bool] = {}
        if not (scores and self._is_asked):
            return found
        chosen = sorted(scores)
        try:
            embedder = self._open_embedder()
            for start in range(0, len(chosen), BATCH):
                some = chosen[start : start + BATCH]
                vectors = _vectors(embedder, some)
                kernel = self._kernel_of(embedder, vectors.shape[1])
                found |= dict(zip(some, kernel.tells([scores[s] for s in some], vectors), strict=True))
        except EmError as error:
            self._is_asked = False
            _LOGGER.warning("looking at sentences again: %s; words alone decide, and the next run asks again", error)
        return found

    def _kernel_of(self, embedder: TextEmbedder, n_dimensions: int) -> OrderKernel:
        """The classifier for vectors of that length: kept, else fitted. Another model under the old name, or a damaged
        file, has it fitted anew. Raises ModelError where the vectors tell nothing."""
        if self._kernel is None or self._kernel.n_dimensions != n_dimensions:
            # Of processes that begin at once, one asks for the vectors of the examples.
            with FileLock(self._path.with_name("orders.lock")):
                self._kernel = self._kept_kernel()
                if self._kernel is None or self._kernel.n_dimensions != n_dimensions:
                    self._kernel = self._fitted(embedder, n_dimensions)
        return self._kernel

    def _fitted(self, embedder: TextEmbedder, n_dimensions: int) -> OrderKernel:
        texts = order_examples().texts
        parts = [_vectors(embedder, texts[n : n + BATCH]) for n in range(0, len(texts), BATCH)]
        if any(part.shape[1] != n_dimensions for part in parts):
            raise UnusableAnswerError(f"telling orders by the vectors of {self._model}: they are not of one length")
        try:
            kernel = OrderKernel.fit(order_examples(), np.concatenate(parts))
        except ValueError as error:
            raise UnusableAnswerError(f"telling orders by the vectors of {self._model}: {error}") from error
        for path in self.classifier.parent.glob("orders-*.npz"):
            path.unlink(missing_ok=True)
        write_atomically(self.classifier, kernel.to_bytes())
        return kernel

    def _kept_kernel(self) -> OrderKernel | None:
        try:
            return OrderKernel.from_bytes(self.classifier.read_bytes())
        except FileNotFoundError:
            return None
        except ValueError as error:
            _LOGGER.warning("looking at sentences again: %s: %s; it is made again", self.classifier.name, error)
            return None


def _vectors(embedder: TextEmbedder, texts: Sequence[str]) -> Floats:
    """Texts × dimensions; raises ModelError where that is not what the model gave."""
    found = np.asarray(embedder.embed(texts), np.float32)
    if found.ndim != 2 or len(found) != len(texts) or not np.isfinite(found).all():
        raise UnusableAnswerError(f"asking for the vectors of {len(texts)} sentences: what came is none")
    return found
