"""Answering a question from the pack of one user: scored whole, narrowed by filters, spread by how much hits repeat.

Filters are by kind, time, conversation, tag, entity, relation, domain and confidence.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import date

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.language.name_keys import name_key
from em_pipelines.retrieval.documents import EXPERIENCE, FACT, MESSAGE, Hit, Scores, hits_of
from em_pipelines.retrieval.pack import Encoded, Pack
from em_pipelines.retrieval.scoring import Embedder, components, score
from em_pipelines.retrieval.settings import RetrievalSettings, Weights
from em_pipelines.retrieval.terms import NAMES, Floats, plain_words

Mask = npt.NDArray[np.bool_]
CANDIDATES = 5
"""How many times as many documents as are wanted are looked at for repetition."""
SAME_WORDS = 0.8
"""Share of all words of two texts from which they say the same (Jaccard): `I love hiking` in five other moods."""
CAPPED_FACTS = 5
"""Of so many hits one may be a fact where their number is given."""
THREAD_TURNS = 6
"""So many of the last turns of a thread say what it is about."""
BOTH = frozenset({MESSAGE, FACT})
AT_A_GLANCE = frozenset({*NAMES, "role"})
"""Components that speak for a document only beside others."""
EVERY_KIND = BOTH | {EXPERIENCE}


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for, and what of it counts.

    `kinds` are message, fact and experience. `since` and `until` bound when it was said. `sessions`, `tags`,
    `entities` and `relations` are those that count, where any are given; `domain` leaves out what was said in another.
    `min_confidence` (0 to 1) is for facts and experiences. `standing` are the facts that hold with their confidence,
    where they are not those that the pack knows: then, or after corrections. `thread` is the conversation so far,
    oldest first.
    `n_neighbours` turns on either side come with each message. With `is_capped` there are `n_hits` in all, of which a
    fifth may be facts.
    """

    text: str
    n_hits: int
    today: date
    kinds: frozenset[str] = BOTH
    until: date | None = None
    sessions: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    min_confidence: float = 0.0
    since: date | None = None
    entities: frozenset[str] = frozenset()
    relations: frozenset[str] = frozenset()
    domain: str | None = None
    standing: Mapping[str, float] | None = None
    thread: tuple[str, ...] = ()
    n_neighbours: int = 0
    is_capped: bool = False


def search(pack: Pack, wanted: Search, settings: RetrievalSettings, embedder: Embedder | None = None) -> list[Hit]:
    """The best documents, best first: messages up to `n_hits`, and facts up to as many as the settings say, where
    both kinds are wanted; of one kind alone up to `n_hits`. Facts of a kind that answers the question stand among the
    messages by their score, the others behind. What shares neither words, topic, time nor speaker with the question is
    no hit, so of little that is known there are fewer, or none.

    A fact that cannot hold beside one that is found comes right behind it, found or not.
    """
    if not (wanted.kinds & BOTH and len(pack.days)):
        return []
    weights = settings.weights
    shares = components(pack, wanted.text, wanted.today, weights, embedder)
    total = _with_thread(pack, _total(pack, shares, weights), wanted, settings)
    confidence = held(pack, wanted.standing)
    total *= confidence
    chosen: list[int] = []
    n_left = wanted.n_hits
    for kind in (FACT, MESSAGE):
        if kind in wanted.kinds:
            is_beside = kind == FACT and MESSAGE in wanted.kinds
            n_beside = max(1, wanted.n_hits // CAPPED_FACTS) if wanted.is_capped else settings.n_facts
            narrow = np.where(narrowed(pack, wanted, kind, confidence), total, np.float32(-np.inf))
            n_hits = min(n_beside, n_left) if is_beside else n_left
            found = _best(pack, narrow.astype(np.float32), n_hits, settings.mmr_lambda)
            n_left -= len(found) if wanted.is_capped else 0
            chosen = [*found, *chosen]
    if "answers" in shares:
        chosen = _answers_among(chosen, pack.n_messages, shares["answers"], total)
    chosen = _with_conflicts(pack, chosen, wanted, confidence)
    return hits_of(pack, chosen, Scores(total, shares, weights), wanted.n_neighbours)


def search_experiences(
    pack: Pack, wanted: Search, settings: RetrievalSettings, embedder: Embedder | None, told: Collection[str]
) -> list[Hit]:
    """The best experiences, best first, of those that may be `told`, by id; `pack` is theirs alone. Narrowed by when
    they were last seen, by confidence, by tags and by the names in their text. Topics count for nothing: all
    experiences of a kind are worded alike."""
    settings = settings.model_copy(update={"weights": settings.weights.model_copy(update={"topic": 0.0})})
    shares = components(pack, wanted.text, wanted.today, settings.weights, embedder)
    total = _with_thread(pack, _total(pack, shares, settings.weights), wanted, settings) * pack.confidence
    bounds = replace(wanted, sessions=frozenset(), relations=frozenset(), domain=None)
    counts = narrowed(pack, bounds, MESSAGE, pack.confidence) & (pack.confidence >= wanted.min_confidence)
    counts &= _mask(pc.is_in(pack.documents["experience_id"], pa.array(sorted(told), pa.string())))
    narrow = np.where(counts, total, np.float32(-np.inf)).astype(np.float32)
    chosen = _best(pack, narrow, wanted.n_hits, settings.mmr_lambda)
    return hits_of(pack, chosen, Scores(total, shares, settings.weights))


def held(pack: Pack, standing: Mapping[str, float] | None) -> Floats:
    """The confidence of each document, 0 for a fact that does not hold: by `standing`, or as the pack knows it."""
    if standing is None:
        return np.where(pack.is_shown, pack.confidence, np.float32(0))
    confidence = np.array(pack.confidence)
    for edge_id, n in pack.numbers.items():
        confidence[n] = standing.get(edge_id, 0.0)
    return confidence


def _total(pack: Pack, shares: Mapping[str, Floats], weights: Weights) -> Floats:
    """The weighed components, 0 where nothing but what a document shows at a glance speaks for it."""
    telling = score({name: values for name, values in shares.items() if name not in AT_A_GLANCE}, weights)
    rest = score({name: values for name, values in shares.items() if name in AT_A_GLANCE}, weights)
    total: Floats = np.where(telling > 0, telling + rest, np.float32(0))
    return np.broadcast_to(total, len(pack.days)).astype(np.float32)


def _with_thread(pack: Pack, asked: Floats, wanted: Search, settings: RetrievalSettings) -> Floats:
    """The question counts more than what the thread is about; each is scaled to its best document first."""
    about = "\n".join(wanted.thread[-THREAD_TURNS:])
    if not about.strip() or settings.thread_share == 0:
        return asked
    around = _total(pack, components(pack, about, wanted.today, settings.weights), settings.weights)
    share = np.float32(settings.thread_share)
    best = float(asked.max(initial=0)) or 1.0
    total: Floats = (1 - share) * asked + share * around * np.float32(best / (float(around.max(initial=0)) or 1.0))
    return total


def _answers_among(chosen: list[int], n_messages: int, answers: Floats, total: Floats) -> list[int]:
    """Each fact that answers before the first message with a lower score; the order of all others as it was."""
    facts = [n for n in chosen if n >= n_messages and answers[n]]
    found: list[int] = []
    for n in chosen:
        if n < n_messages:
            while facts and total[facts[0]] > total[n]:
                found.append(facts.pop(0))
        found.append(n)
    return list(dict.fromkeys(found))


def _with_conflicts(pack: Pack, chosen: list[int], wanted: Search, confidence: Floats) -> list[int]:
    if FACT not in wanted.kinds:
        return chosen
    numbers: dict[int, None] = {}
    for n in chosen:
        numbers[n] = None
        others = (pack.numbers.get(edge_id) for edge_id in pack.conflicts.get(n, ()))
        numbers |= {other: None for other in others if other is not None and confidence[other] > 0}
    return list(numbers)


def _best(pack: Pack, total: Floats, n_hits: int, mmr_lambda: float) -> list[int]:
    """The numbers of the best documents, what says the same as a better one behind the others; spread where λ is below
    1."""
    n_known = int(np.isfinite(total).sum())
    size = min(n_hits * CANDIDATES, n_known)
    if size == 0:
        return []
    near = np.argpartition(-total, size - 1)[:size]
    ordered = [int(n) for n in near[np.lexsort((near, -total[near]))] if total[n] > 0]
    if mmr_lambda < 1:
        return _spread(pack, ordered, total, n_hits, mmr_lambda)
    return _told_once(pack.encoded, ordered, n_hits)


def _told_once(encoded: Encoded, ordered: list[int], n_hits: int) -> list[int]:
    """The first documents of which no two have nearly the same words; then, where they are too few, the rest."""
    tokens, starts = np.asarray(encoded.tokens), np.asarray(encoded.starts)
    chosen: list[int] = []
    said: list[frozenset[int]] = []
    for n in ordered:
        if len(chosen) == n_hits:
            break
        words = frozenset(tokens[starts[n] : starts[n + 1]].tolist())
        if not _is_said(words, said):
            chosen.append(n)
            said.append(words)
    is_chosen = set(chosen)
    return (chosen + [n for n in ordered if n not in is_chosen])[:n_hits]


def _is_said(words: frozenset[int], said: list[frozenset[int]]) -> bool:
    """Whether one of the others has nearly the same words; those that are far longer or shorter are passed over."""
    size = len(words)
    least, most = SAME_WORDS * size, size / SAME_WORDS
    for other in said:
        if least <= len(other) <= most:
            n_shared = len(words & other)
            if n_shared >= SAME_WORDS * (size + len(other) - n_shared):
                return True
    return False


def _spread(pack: Pack, ordered: list[int], total: Floats, n_hits: int, mmr_lambda: float) -> list[int]:
    """Maximal marginal relevance (Carbonell and Goldstein, 1998) of documents that come best first."""
    chosen: list[int] = []
    likeness = pack.topics.documents[ordered] @ pack.topics.documents[ordered].T
    best = max(float(total[ordered[0]]), 1e-9) if ordered else 1.0
    left = list(range(len(ordered)))
    while left and len(chosen) < n_hits:
        repeats = likeness[:, chosen].max(axis=1) if chosen else np.zeros(len(ordered))
        top = max(
            left, key=lambda k: mmr_lambda * float(total[ordered[k]]) / best - (1 - mmr_lambda) * float(repeats[k])
        )
        chosen.append(top)
        left.remove(top)
    return [ordered[k] for k in chosen]


def narrowed(pack: Pack, wanted: Search, kind: str, confidence: Floats) -> Mask:
    """Which documents of a kind the search is about."""
    table = pack.documents
    counts: Mask = pack.kinds == (kind == FACT)
    if kind == FACT:
        counts = counts & (confidence > 0) & (confidence >= wanted.min_confidence)
    if wanted.until:
        counts &= pack.days <= wanted.until.toordinal()
    if wanted.since:
        counts &= pack.days >= wanted.since.toordinal()
    if wanted.sessions:
        counts &= _mask(pc.is_in(table["session_id"], pa.array(sorted(wanted.sessions))))
    if wanted.domain:
        counts &= _mask(pc.fill_null(pc.equal(table["domain"], wanted.domain), True))
    if wanted.tags:
        counts &= _holding(table["tags"], wanted.tags)
    if wanted.relations:
        related = pc.fill_null(pc.is_in(table["relation"], pa.array(sorted(wanted.relations))), False)
        counts &= _told(pack, _mask(related))
    if wanted.entities:
        counts &= _about(pack, wanted.entities, kind)
    return counts


def _about(pack: Pack, names: frozenset[str], kind: str) -> Mask:
    """Facts about the names with the messages that state them, and messages that say one of the names."""
    about = _told(pack, _holding(pack.documents["names"], frozenset(map(name_key, names))))
    return about | _named(pack, names) if kind == MESSAGE else about


def _told(pack: Pack, facts: Mask) -> Mask:
    """These facts, and the messages that state them."""
    told = facts.copy()
    for n in np.flatnonzero(facts & pack.kinds):
        told[pack.sources(int(n))] = True
    return told


def _named(pack: Pack, names: frozenset[str]) -> Mask:
    """Messages in which all words of one of the names are said."""
    counts = pack.encoded
    numbers = {word: n for n, word in enumerate(counts.words)}
    is_named = np.zeros(counts.n_texts, bool)
    texts = np.repeat(np.arange(counts.n_texts), np.diff(counts.starts))
    for name in names:
        words = [numbers.get(word, -1) for word in plain_words(name)]
        if words:
            is_named |= np.logical_and.reduce(
                [np.bincount(texts[counts.tokens == n], minlength=len(is_named)) > 0 for n in words]
            )
    return is_named


def _holding(lists: pa.ChunkedArray, wanted: frozenset[str]) -> Mask:
    """Whether a list holds one of the words."""
    is_held = np.zeros(len(lists), bool)
    parents, values = pc.list_parent_indices(lists), pc.list_flatten(lists)
    is_held[_numbers(parents)[_mask(pc.is_in(values, pa.array(sorted(wanted), pa.string())))]] = True
    return is_held


def _mask(values: pa.ChunkedArray) -> Mask:
    mask: Mask = values.to_numpy().astype(bool)
    return mask


def _numbers(values: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    numbers: npt.NDArray[np.int64] = values.to_numpy()
    return numbers
