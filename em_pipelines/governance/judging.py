"""What people say of facts: right, wrong or trivial; and what follows for precision and for confidence.

`HOME/record/judgements/`, a file a user, append-only; of several judgements of a fact the last stands. A line holds
ids, the relation, the confidence of then, the verdict, who judged and when, and nothing of what anybody said; users and
judges stand in it as hashes that only this home can make.

What is to be judged next is the same whoever asks: what is least sure first, and every other one of a sample. Of a fact
its id decides whether it is in the sample, so the sample is a fair one, and precision is told of it alone.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import orjson

from em_pipelines.errors import CorruptLogError, UsageError
from em_pipelines.governance.audit.rows import World, edge_id_of, state_where
from em_pipelines.governance.confidence_curve import Bin, Share, curve, expected_error
from em_pipelines.home import Home
from em_pipelines.landing.erasure_requests import Scope, ScopeKind
from em_pipelines.schema.ids import content_id
from em_pipelines.schema.tables.graph import EDGES
from em_pipelines.storage.files import make_folder, write_atomically
from em_pipelines.storage.ledger_entries import Act
from em_pipelines.storage.salt import Salt

FOLDER = "judgements"
LOCK = "judgements"
"""Held while a file is written."""
STANDING = ("active", "contradicted")
ONE_OF = 4
"""Of so many facts one is in the sample."""


class Verdict(StrEnum):
    """What somebody says of a fact: so it is, so it is not, or it is so and nobody wants to know."""

    RIGHT = "right"
    WRONG = "wrong"
    TRIVIAL = "trivial"


@dataclass(frozen=True, slots=True)
class Judgement:
    """One line: `confidence` is that of the fact when it was judged, 0 to 1; `by` the hash of who judged."""

    at: datetime
    edge_id: str
    relation: str
    confidence: float
    verdict: Verdict
    by: str


@dataclass(frozen=True, slots=True)
class ToJudge:
    """A fact that nobody has judged, in short, and why it is asked about."""

    edge_id: str
    said: str
    relation: str
    confidence: float
    is_sampled: bool

    def as_document(self) -> dict[str, Any]:
        """The fact as JSON-able dict."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Report:
    """What judgements come to. `precision` and `trivial` are of the sample; `right` of all that was judged, in which
    what is least sure has too large a part; bands and error of all, for they compare facts that are equally sure."""

    n_judged: int
    n_judges: int
    precision: Share
    trivial: Share
    right: Share
    by_relation: dict[str, Share]
    bands: list[Bin]
    error: float

    def as_document(self) -> dict[str, Any]:
        """The report as JSON-able dict."""
        return {
            "n_judged": self.n_judged,
            "n_judges": self.n_judges,
            "precision": _told(self.precision),
            "trivial": _told(self.trivial),
            "right_of_all": _told(self.right),
            "by_relation": {name: _told(share) for name, share in self.by_relation.items()},
            "by_confidence": [
                asdict(one) | {"interval": Share(one.n, round(one.n * one.right_share)).interval} for one in self.bands
            ],
            "calibration_error": self.error,
        }


class JudgementBook:
    """The files of one home. Whoever writes holds the home's lock LOCK."""

    def __init__(self, record: Path, salt: Salt) -> None:
        self._folder = record / FOLDER
        self._salt = salt

    @property
    def is_there(self) -> bool:
        """Whether anything was ever judged."""
        return self._folder.exists()

    def judge(self, name: str) -> str:
        """What whoever judges is called here."""
        return self._salt.hash("judge", name)[:12]

    def of(self, user_id: str) -> list[Judgement]:
        """What stands there of a user's facts, in order; raises CorruptLogError where nobody can read it."""
        return self._read(self._path(user_id))

    def all(self) -> list[Judgement]:
        """The same of everybody, user by user."""
        return [one for path in sorted(self._folder.glob("*.jsonl")) for one in self._read(path)]

    def append(self, user_id: str, judgement: Judgement) -> None:
        """Adds a line."""
        self._write(user_id, [*self.of(user_id), judgement])

    def forget_user(self, user_id: str) -> int:
        """Removes what stands there of a user's facts; returns how many lines that were."""
        n_lines = len(self.of(user_id))
        self._path(user_id).unlink(missing_ok=True)
        return n_lines

    def forget(self, user_id: str, is_gone: Callable[[str], bool]) -> int:
        """Removes what was said of facts that are gone, by their ids; returns how many lines that were."""
        judged = self.of(user_id)
        kept = [one for one in judged if not is_gone(one.edge_id)]
        if len(kept) < len(judged):
            self._write(user_id, kept)
        return len(judged) - len(kept)

    def _path(self, user_id: str) -> Path:
        return self._folder / f"{self._salt.hash('user', user_id)[:32]}.jsonl"

    def _write(self, user_id: str, judged: Iterable[Judgement]) -> None:
        make_folder(self._folder)
        write_atomically(self._path(user_id), b"".join(orjson.dumps(asdict(one)) + b"\n" for one in judged))

    @staticmethod
    def _read(path: Path) -> list[Judgement]:
        found = []
        for number, line in enumerate(path.read_bytes().splitlines() if path.exists() else [], start=1):
            try:
                fields = orjson.loads(line)
                at, verdict = datetime.fromisoformat(fields.pop("at")), Verdict(fields.pop("verdict"))
                found.append(Judgement(at=at, verdict=verdict, **fields))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise CorruptLogError(
                    f"reading {path}: line {number} is no judgement; put the file back from a backup, or delete it"
                ) from error
        return found


def book_of(home: Home) -> JudgementBook:
    """The book of a home."""
    return JudgementBook(home.record, home.salt)


def queue(home: Home, user_id: str, limit: int) -> list[ToJudge]:
    """The facts of a user to judge next, at most so many: the least sure and those of the sample, by turns.

    The same until something is judged or learned. Raises CorruptTableError and CorruptLogError.
    """
    done = {one.edge_id for one in book_of(home).of(user_id)}
    world = World(home.store.lake, user_id)
    standing = [row for row in world.edges.values() if row["status"] in STANDING and row["edge_id"] not in done]
    sampled = sorted((r for r in standing if is_sampled(r["edge_id"])), key=lambda row: _dice(row["edge_id"]))
    unsure = sorted(
        (row for row in standing if not is_sampled(row["edge_id"])), key=lambda row: (row["confidence"], row["edge_id"])
    )
    mixed = [row for row in chain.from_iterable(zip_longest(unsure, sampled)) if row is not None]
    return [
        ToJudge(
            row["edge_id"],
            _sentence(world.said(row)),
            row["relation"],
            row["confidence"],
            is_sampled(row["edge_id"]),
        )
        for row in mixed[:limit]
    ]


def judge(home: Home, wanted: str, verdict: Verdict, now: datetime, by: str = "user") -> Judgement:
    """Notes what somebody says of a fact, by its id or the beginning of one; the ledger names neither.

    Raises UsageError where no fact, or more than one, has such an id.
    """
    rows = state_where(home.store.lake, EDGES, "edge_id", [edge_id_of(home.store.lake, wanted)])
    if not rows:
        raise UsageError(f"judging {wanted:.80}: no fact has that id; `em judge --user NAME` lists those to judge")
    (row,) = rows
    book = book_of(home)
    said = Judgement(now, row["edge_id"], row["relation"], row["confidence"], verdict, book.judge(by))
    with home.lock(LOCK):
        book.append(row["user_id"], said)
    home.ledger.append(Act("judge", row["user_id"], row["edge_id"], now))
    return said


def report(home: Home, user_id: str | None = None) -> Report:
    """What the judgements of everybody's facts, or of one user's, come to. Raises CorruptLogError."""
    book = book_of(home)
    lines = book.all() if user_id is None else book.of(user_id)
    return summed({line.edge_id: line for line in lines}.values())


def summed(judged: Iterable[Judgement]) -> Report:
    """What judgements come to, one a fact."""
    judged = list(judged)
    sample = [one for one in judged if is_sampled(one.edge_id)]
    n_of: Counter[str] = Counter(one.relation for one in judged)
    bands = curve((one.confidence, one.verdict is Verdict.RIGHT) for one in judged)
    return Report(
        n_judged=len(judged),
        n_judges=len({one.by for one in judged}),
        precision=_share(sample, Verdict.RIGHT),
        trivial=_share(sample, Verdict.TRIVIAL),
        right=_share(judged, Verdict.RIGHT),
        by_relation={
            name: _share([one for one in judged if one.relation == name], Verdict.RIGHT)
            for name, _ in sorted(n_of.items(), key=lambda item: (-item[1], item[0]))
        },
        bands=bands,
        error=expected_error(bands),
    )


def forget_judged(home: Home, scope: Scope) -> int:
    """Removes what was said of the facts of a user, or of those that an erasure took away; returns how many lines."""
    book = book_of(home)
    if not book.is_there:
        return 0
    with home.lock(LOCK):
        if scope.kind is ScopeKind.USER:
            return book.forget_user(scope.user_id)
        known = {row["edge_id"] for row in state_where(home.store.lake, EDGES, "user_id", [scope.user_id])}
        return book.forget(scope.user_id, lambda edge_id: edge_id not in known)


def is_sampled(edge_id: str) -> bool:
    """Whether a fact is in the sample: by chance, and for ever."""
    return int(_dice(edge_id), 16) % ONE_OF == 0


def _dice(edge_id: str) -> str:
    return content_id("dice", edge_id).removeprefix("dice_")


def _share(judged: Sequence[Judgement], verdict: Verdict) -> Share:
    return Share(len(judged), sum(one.verdict is verdict for one in judged))


def _told(share: Share) -> dict[str, Any]:
    return {"n": share.n, "share": share.share, "interval": share.interval}


def _sentence(said: dict[str, Any]) -> str:
    negated = "not " if said["polarity"] < 0 else ""
    plain = f"{said['subject']} {negated}{said['relation']} {said['object']}"
    return f"{plain} ({said['statement']})" if said["statement"] else plain
