"""Asking the pack of one user of a home: what every door goes through, so that none can forget what is to be erased."""

from pathlib import Path

from em_pipelines.erasure.overlay import hidden
from em_pipelines.home import Home
from em_pipelines.retrieval.pack import Pack
from em_pipelines.retrieval.packs import folder_of
from em_pipelines.retrieval.search import Hit, Search, search

KEPT_OPEN = 16
"""Packs that a process keeps open; another's opening takes the place of the one that was opened first."""

_open: dict[Path, tuple[tuple[int, int], Pack]] = {}


def opened(home: Home, user_id: str) -> Pack | None:
    """The user's pack, opened once for as long as it is not made anew; None where nothing of them is indexed."""
    folder = folder_of(home, user_id)
    try:
        stat = (folder / "pack.json").stat()
    except FileNotFoundError:
        _open.pop(folder, None)
        return None
    version = (stat.st_ino, stat.st_mtime_ns)
    known = _open.get(folder)
    if known and known[0] == version:
        return known[1]
    while len(_open) >= KEPT_OPEN:
        _open.pop(next(iter(_open)), None)
    _open[folder] = (version, Pack(folder))
    return _open[folder][1]


def ask(home: Home, user_id: str, wanted: Search) -> list[Hit]:
    """The hits in the memory of one user, without what pending requests to forget cover; see `search.search`.

    Nothing is written, and no model is asked. A user of whom nothing is indexed has no hits, nor has an empty question.
    """
    pack = opened(home, user_id)
    if pack is None or not wanted.text.strip():
        return []
    found = search(pack, wanted, home.settings.retrieval)
    veils = hidden(home, user_id)
    return [
        hit
        for hit in found
        if not any(
            veil.hides_document(session_id=hit.session_id, edge_id=hit.edge_id, text=hit.text, said_on=hit.said_on)
            for veil in veils
        )
    ]
