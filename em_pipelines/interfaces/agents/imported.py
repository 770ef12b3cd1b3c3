"""What agents see of imported facts that wait for a look, and what they pass on of the person's decisions.

An address book is anybody's words, so nothing of a fact is shown but what would be known of it were it accepted: the
guard stands before the list as it stands before the fold. The decisions are those of `em review`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from em_pipelines.errors import UsageError
from em_pipelines.governance.review import Review, Wanted
from em_pipelines.landing.imported_facts import Waiting
from em_pipelines.pipeline import Pipeline
from em_pipelines.redaction.veils import Veil, hidden
from em_pipelines.schema.rows import ClaimRow


@dataclass(frozen=True, slots=True)
class ImportedFact:
    """An imported fact: where it stands (`line` from 1), and what would be known if it were accepted.

    `kind` is contacts, calendar or notes, `confidence` 0 to 1. Of what the guard keeps away (`is_withheld`) no word is
    here, and accepting it changes nothing; `em review list` shows it to people.
    """

    seed_id: str
    kind: str
    file: str | None
    line: int | None
    session_id: str | None
    is_withheld: bool
    subject: str | None = None
    relation: str | None = None
    object: str | None = None
    attribute: str | None = None
    statement: str | None = None
    polarity: int | None = None
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The ids of facts that were decided upon, and of those that the guard keeps away, which wait still."""

    decided: tuple[str, ...]
    withheld: tuple[str, ...] = ()


def imported_facts(home: Pipeline, wanted: Wanted, *, is_rejected: bool = False) -> list[ImportedFact]:
    """What waits of one user, by file and line, or was turned away. What a pending request to forget covers is left
    out. Raises UsageError."""
    review, veils = _review(home), hidden(home, wanted.user_id or "")
    items = [item for item in review.waiting(wanted, is_rejected=is_rejected) if not _is_covered(item, veils)]
    admitted = review.admitted(items)
    return [_shown(item, admitted.get(item.seed_id)) for item in items]


def decide(home: Pipeline, wanted: Wanted, *, accepts: bool, actor: str) -> Reviewed:
    """Accepts or rejects what is meant. Raises UsageError where nothing says which, or an id fits none or several."""
    if not wanted.is_narrowed:
        raise UsageError("choosing imported facts: give their ids, a file or a kind")
    review = _review(home, actor)
    done = review.accept(review.choose_to_accept(wanted)) if accepts else review.reject(review.choose(wanted))
    return Reviewed(_ids(done.decided), _ids(done.withheld))


def _review(home: Pipeline, actor: str = "user") -> Review:
    return Review(home, home.settings.safety, home.settings.review.trusted_kinds, actor)


def _ids(items: Sequence[Waiting]) -> tuple[str, ...]:
    return tuple(item.seed_id for item in items)


def _is_covered(item: Waiting, veils: Sequence[Veil]) -> bool:
    """An import has no day of its own here, so it counts as from before every request."""
    text = " ".join(
        str(item.fact[name]) for name in ("subject", "object", "attribute", "statement") if name in item.fact
    )
    where = {"session_id": item.session_id, "edge_id": None, "text": text, "said_on": date.min}
    return any(veil.hides_document(**where) for veil in veils)  # type: ignore[arg-type]


def _shown(item: Waiting, claim: ClaimRow | None) -> ImportedFact:
    place = (item.seed_id, item.source_kind, item.file, item.line, item.session_id)
    if claim is None or claim["requires_verification"]:
        return ImportedFact(*place, is_withheld=True)
    said = claim["object"] if claim["object"] is not None else claim["value"]
    return ImportedFact(
        *place, is_withheld=False, subject=claim["subject"], relation=claim["relation"], object=said,
        attribute=claim["attribute"], statement=claim["statement"], polarity=claim["polarity"],
        confidence=claim["confidence"],
    )  # fmt: skip
