"""Which phrases of one user mean the same by their vectors, where they have no word in common: jogging, running.

For the kinds of things that may be said in other words. Phrases that share a word are judged by their words alone: a
vector takes red wine for white wine. Each is asked for once and its vector kept, so that making a day again asks nobody
and gives the same. Where no vectors are to be had words alone decide, nobody is asked again by this process, and the
day stays out of date.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.errors import EmError
from em_pipelines.language.document import english
from em_pipelines.language.name_keys import name_key
from em_pipelines.llm.database import Database
from em_pipelines.llm.phrase_vectors import Floats, PhraseVectors, TextEmbedder
from em_pipelines.resolution.clusters import REWORDED
from em_pipelines.resolution.name_parts import is_nameable, parse_name
from em_pipelines.resolution.rewordings import DONE, phrase_of, tells
from em_pipelines.schema.vocabulary import EntityType
from em_pipelines.storage.step import code_digest

BATCH = 256
_LOGGER = logging.getLogger(__name__)


@dataclass(slots=True)
class _Phrases:
    """Of one user, by name key: the stems of what is new on a day, and of what was known before."""

    new: dict[str, frozenset[str]] = field(default_factory=dict)
    known: dict[str, frozenset[str]] = field(default_factory=dict)

    @property
    def all(self) -> dict[str, frozenset[str]]:
        return self.known | self.new

    @property
    def is_comparable(self) -> bool:
        return len(self.all) > 1 and bool(self.new)


class Meanings:
    """Compares the phrases of a day. `model` is the name of the embedder, which is opened when it is first asked;
    `path` is the file in which vectors are kept, `min_meaning` the least cosine of phrases that mean the same."""

    def __init__(self, model: str, open_embedder: Callable[[], TextEmbedder], path: Path, min_meaning: float) -> None:
        self.is_whole = True
        """Whether every vector was there that the day looked at last needed."""
        self._model = model
        self._open_embedder = open_embedder
        self._path = path
        self._min_meaning = min_meaning
        self._is_asked = True
        self._day: date | None = None

    @property
    def version(self) -> str:
        """What the results hang on beside the settings: the model, and the code of this module."""
        return f"{self._model}@{code_digest(__name__)}"

    def of_day(self, day: date, entities: pa.Table, mentions: pa.Table) -> dict[str, dict[str, dict[str, float]]]:
        """Cosines by user, name key of a phrase, and name key of another that means the same.

        `entities` are those known before the day, `mentions` the day's. Only what is new on the day is compared: with
        what is new as well, and with what was known. A day may be looked at in parts, for some users each.
        """
        if day != self._day:
            self._day, self.is_whole = day, True
        by_user = {user: own for user, own in _phrases(entities, mentions).items() if own.is_comparable}
        if not by_user:
            return {}
        vectors = self._vectors({user: own.all.keys() for user, own in by_user.items()})
        return {user: self._alike(own, vectors[user]) for user, own in by_user.items()}

    def _alike(self, phrases: _Phrases, vectors: Mapping[str, Floats]) -> dict[str, dict[str, float]]:
        stems = {key: own for key, own in phrases.all.items() if key in vectors}
        keys, new = sorted(stems), sorted(phrases.new.keys() & stems.keys())
        if not new:
            return {}
        size = len(vectors[new[0]])  # another model under the old name gives others: those are not compared
        keys, new = ([key for key in some if len(vectors[key]) == size] for some in (keys, new))
        every = np.array([vectors[key] for key in keys], np.float64)
        found: dict[str, dict[str, float]] = defaultdict(dict)
        for key in new:
            # Rounded, for vectors are kept to seven digits: a cosine of 0.9 may come out as 0.89999998.
            cosines = np.round(np.einsum("ij,j->i", every, vectors[key].astype(np.float64)), 4)
            for n in np.flatnonzero(cosines >= self._min_meaning):
                other = keys[n]
                if stems[key].isdisjoint(stems[other]):
                    found[key][other] = found[other][key] = min(1.0, float(cosines[n]))
        return dict(found)

    def _vectors(self, wanted: Mapping[str, Iterable[str]]) -> dict[str, dict[str, Floats]]:
        """The vectors of each user's phrases, as far as they are to be had."""
        database = Database(self._path)
        try:
            kept = PhraseVectors(database)
            known = {user: kept.known(user, self._model, phrases) for user, phrases in wanted.items()}
            missing = {user: set(phrases) - known[user].keys() for user, phrases in wanted.items()}
            asked = self._asked(sorted(set().union(*missing.values())))
            for user, phrases in missing.items():
                given = {phrase: asked[phrase] for phrase in phrases if phrase in asked}
                if given:
                    kept.save(user, self._model, given)
                known[user] |= given
                self.is_whole &= len(given) == len(phrases)
            return known
        finally:
            database.close()

    def _asked(self, phrases: Sequence[str]) -> dict[str, Floats]:
        found: dict[str, Floats] = {}
        if not (phrases and self._is_asked):
            return found
        try:
            embedder = self._open_embedder()
            for start in range(0, len(phrases), BATCH):
                some = phrases[start : start + BATCH]
                found |= {
                    phrase: np.array(own, np.float32) for phrase, own in zip(some, embedder.embed(some), strict=True)
                }
        except EmError as error:
            self._is_asked = False
            _LOGGER.warning("comparing phrases by meaning: %s; words alone decide, and the next run asks again", error)
        return found


def _phrases(entities: pa.Table, mentions: pa.Table) -> dict[str, _Phrases]:
    """The phrases of each user who has a mention of such a kind. New is a name that was not known, or not as that."""
    found: dict[str, _Phrases] = defaultdict(_Phrases)
    said = {(user, name_key(name), kind): name for user, name, kind in _of_kinds(mentions, "name")}
    theirs = entities.filter(
        pc.is_in(entities["user_id"], value_set=pa.array(sorted({u for u, _, _ in said}), pa.string()))
    )
    known = {(user, name_key(name), kind): name for user, name, kind in _of_kinds(theirs, "canonical_name")}
    for names, is_new in ((known, False), (said, True)):
        for (user, key, kind), name in names.items():
            stems = comparable_stems(name, kind)
            if stems and not (is_new and (user, key, kind) in known):
                own = found[user]
                (own.new if is_new else own.known)[key] = stems
    return found


def _of_kinds(rows: pa.Table, name: str) -> Iterator[tuple[str, str, str]]:
    """User, name and type of rows whose type is one of which wordings are compared."""
    kept = rows.filter(pc.is_in(rows["entity_type"], value_set=pa.array(sorted(REWORDED), pa.string())))
    return zip(*(kept[column].to_pylist() for column in ("user_id", name, "entity_type")), strict=True)


@lru_cache(maxsize=65_536)
def comparable_stems(text: str, entity_type: str) -> frozenset[str]:
    """The stems of a phrase that may mean what another says; none of one with a number, a name, a denial or another
    word that tells, of a title, and of what names nothing."""
    name, phrase = parse_name(text, entity_type), phrase_of(text)
    is_title = entity_type == EntityType.WORK and name.is_proper
    if phrase is None or is_title or not is_nameable(text, entity_type):
        return frozenset()
    if name.digits or not _numbers().isdisjoint(name.all_tokens) or any(map(tells, phrase.stems)):
        return frozenset()
    return frozenset(stem.removesuffix(DONE) or stem for stem in phrase.stems)


@lru_cache(maxsize=1)
def _numbers() -> frozenset[str]:
    return english.words("words", "numbers") | english.words("words", "ordinals")
