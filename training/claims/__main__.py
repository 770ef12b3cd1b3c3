"""Fits the model of which claims of patterns are right to claims that readers judged: `make fit-claims`.

`judged.jsonl` holds claims from the conversations that the sentence model is fitted to and from short chats with an
assistant (`talk/short-*`), each judged by one of fifteen readers; `examples.jsonl` those of the example journeys and
logs, judged by two readers who shared them; `unread.jsonl` those of the unread conversations (also `talk/*-x`), each
judged by two, by which only figures are made. What is printed of the first two is measured by files: a tenth of the
files at a time is left out of the fitting.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson

from em_pipelines.extraction.assemble import readings
from em_pipelines.extraction.keeping import with_sentences
from em_pipelines.extraction.rules.confidence import WEIGHTS, marks
from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.extraction.segmentation import Session, segment_session
from em_pipelines.extraction.settings import RulesSettings
from em_pipelines.schema.readings import Turn
from em_pipelines.schema.vocabulary import OBSERVATIONS, USER
from training.weights import Vector, fitted, score, unseen

HERE = Path(__file__).parent
ROOT, DURABLE = HERE.parent.parent, HERE.with_name("durable")
UNREAD, EXAMPLES = "unread", "examples"
STRENGTH = 0.1
"""Inverse of the penalty on large weights: there are as many patterns as there are claims in some files."""
N_TIMES = 5
"""How often each claim of the examples counts: plain statements to an assistant are rare in long talk."""
N_PARTS, MIN_RIGHT = 10, (0.0, 0.3, 0.45, 0.6, 0.7, 0.8)
Key = tuple[Any, ...]


class Judged(NamedTuple):
    """A claim: the files of its verdicts and of its conversation, its marks, and its verdicts: right, trivial or
    wrong."""

    source: str
    file: str
    marks: Vector
    verdicts: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        """Whether most readers find it right."""
        return self.verdicts.count("right") * 2 > len(self.verdicts)


def judged() -> Iterator[Judged]:
    """The judged claims that patterns make still, each once."""
    verdicts: dict[Key, tuple[str, tuple[str, ...]]] = {}
    for path in sorted(HERE.glob("*.jsonl")):
        for row in map(orjson.loads, path.read_text(encoding="utf-8").splitlines()):
            key = tuple(row[name] for name in ("conversation", "turn", "subject", "relation", "attribute", "object"))
            verdicts[*key, row["polarity"]] = path.stem, tuple(row["labels"])
    extractor = RulesExtractor(RulesSettings(min_right=0))
    for file, name, turns in (*_labelled(), *_examples()):
        for segment, reading in readings(segment_session(turns, Session(USER, name)), extractor):
            by_number = {turn.turn_number: turn for turn in segment.turns}
            for claim in reading.claims:
                said = claim.object or claim.value
                key = (name, claim.turn_number, claim.subject, claim.relation, claim.attribute, said, claim.polarity)
                if claim.relation in OBSERVATIONS or key not in verdicts:
                    continue
                its = next(marks([claim], by_number[claim.turn_number], segment))
                if its is not None:
                    source, found = verdicts.pop(key)
                    yield Judged(source, file, its, found)


def _labelled() -> Iterator[tuple[str, str, list[Turn]]]:
    """The conversations of training/durable and of `talk`: file, name, turns. Whoever speaks first is the user."""
    for path in sorted([*DURABLE.glob("*.jsonl"), *(HERE / "talk").glob("*.jsonl")]):
        for row in map(orjson.loads, path.read_text(encoding="utf-8").splitlines()):
            user = next(turn["speaker"] for turn in row["turns"] if turn["speaker"] != "assistant")
            said = [(turn["speaker"], turn["text"], f"{turn['date']}T10:00:00+00:00") for turn in row["turns"]]
            yield path.stem, row["id"], _turns(said, user)


def _examples() -> Iterator[tuple[str, str, list[Turn]]]:
    """The sessions of the example journeys and logs."""
    journeys = (ROOT / "em_pipelines" / "evaluation" / "corpora" / "journeys").glob("*.jsonl")
    for path in sorted([*journeys, *(ROOT / "examples" / "logs").rglob("*.jsonl")]):
        rows = [row for row in map(orjson.loads, path.read_text(encoding="utf-8").splitlines()) if "role" in row]
        rows.sort(key=lambda row: (row["user_id"], row["session_id"]))
        for (_, session), its in groupby(rows, key=lambda row: (row["user_id"], row["session_id"])):
            said = [(row["role"], row["content"], row["timestamp"]) for row in its]
            yield path.stem, session, _turns(said, "user")


def _turns(said: Sequence[tuple[str, str, str]], user: str) -> list[Turn]:
    turns = []
    for place, (speaker, text, at) in enumerate(said):
        role = "assistant" if speaker == "assistant" else "user"
        subject = None if role == "assistant" else USER if speaker == user else speaker
        when = datetime.fromisoformat(at).astimezone(UTC)
        turns.append(Turn(str(place), place, role, subject, text, when, language="en"))
    return with_sentences(turns)


def report(name: str, claims: Sequence[Judged], probability: Any) -> None:
    """Prints, by the least probability, how many claims are kept and how many of them are right, trivial and wrong."""
    right = np.array([claim.is_right for claim in claims])
    print(f"{name}: {len(claims)} claims, {right.sum()} of them right")
    for least in MIN_RIGHT:
        kept = [claim for claim, one in zip(claims, probability, strict=True) if one >= least]
        shares = ", ".join(f"{_share(kept, verdict):.0%} {verdict}" for verdict in ("right", "trivial", "wrong"))
        print(f"  {least}: {len(kept)} kept, {sum(claim.is_right for claim in kept)} right; {shares}")
    parts = np.array_split(np.argsort(probability), N_PARTS)
    print(f"  calibration error {np.mean([abs(probability[one].mean() - right[one].mean()) for one in parts]):.3f}")


def _share(claims: Sequence[Judged], verdict: str) -> float:
    return sum(claim.verdicts.count(verdict) / len(claim.verdicts) for claim in claims) / max(len(claims), 1)


def report_held_out(claims: Sequence[Judged], n_claims: int) -> None:
    """Prints the figures of the first `n_claims`, each by weights that were fitted without its part of the files."""
    files = sorted({claim.file for claim in claims})
    parts = [str(files.index(claim.file) % N_PARTS) for claim in claims]
    vectors, is_right = [claim.marks for claim in claims], [claim.is_right for claim in claims]
    probability = _logistic(unseen(vectors, is_right, parts, strength=STRENGTH, is_balanced=False))
    for source, its in groupby(range(n_claims), key=lambda n: claims[n].source):
        own = [*its]
        report(source, [claims[n] for n in own], probability[own])


def main() -> None:
    """Fit, print the figures of claims that were left out, and write the weights."""
    found = sorted(judged(), key=lambda one: one.source)
    unread = [claim for claim in found if claim.source == UNREAD]
    claims = [claim for claim in found if claim.source != UNREAD]
    n_claims = len(claims)
    claims += [claim for claim in claims if claim.source == EXAMPLES] * (N_TIMES - 1)
    report_held_out(claims, n_claims)
    weights = fitted(
        [claim.marks for claim in claims], [claim.is_right for claim in claims], strength=STRENGTH, is_balanced=False
    )
    report(UNREAD, unread, _logistic(np.array([score(claim.marks, weights) for claim in unread])))
    marked = sorted(weights)
    np.savez_compressed(WEIGHTS, marks=marked, weights=np.array([weights[mark] for mark in marked], np.float32))
    print(f"{len(marked)} weights")


def _logistic(odds: Any) -> Any:
    return 1 / (1 + np.exp(-odds))


if __name__ == "__main__":
    main()
