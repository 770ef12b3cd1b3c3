"""Finding by a question what readers may see now: the index is of the last run, archiving and feedback are of today."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date

from em_pipelines.feedback.archived import Place
from em_pipelines.home import Home
from em_pipelines.retrieval.asking import ask
from em_pipelines.retrieval.documents import FACT, MESSAGE
from em_pipelines.retrieval.hits import Hit
from em_pipelines.retrieval.search import Search


def find(
    home: Home, user_id: str, wanted: Search, archived: frozenset[Place], standing: Callable[[], Iterable[str]]
) -> list[Hit]:
    """The hits of `ask` without archived messages and, where feedback waits, without facts that no longer stand.

    `standing` gives the ids of the facts that readers see now; it is asked only where it can matter. A search of an
    earlier day is answered as that day's reader would have been.
    """
    hits = ask(home, user_id, replace(wanted, n_hits=wanted.n_hits + len(archived)))
    messages = [h for h in hits if h.kind == MESSAGE and (h.session_id, h.turn_number) not in archived]
    others = [h for h in hits if h.kind != MESSAGE]
    is_now = wanted.until is None
    if is_now and any(h.kind == FACT for h in others) and home.waiting(user_id, date.max).feedback:
        known = frozenset(standing())
        others = [h for h in others if h.edge_id is None or h.edge_id in known]
    return messages[: wanted.n_hits] + others[: wanted.n_hits]
