"""What of the landed log is lost: segments that its manifest names, and days that tables hold and the log does not.

Nothing is folded while something is lost: a day made without it would look like a day on which less was said. Readers
go on with what was made before.
"""

from datetime import date
from pathlib import Path

from em_pipelines.errors import CorruptLogError
from em_pipelines.governance.rebuildable_home import RebuildableHome
from em_pipelines.storage.landed_log import lost_error
from em_pipelines.storage.log_manifest import Segment


def restoring(home: Path) -> Path:
    """The file that stands in a home while it is being restored."""
    return home / "restoring.json"


def check_restored(home: RebuildableHome) -> None:
    """Raises CorruptLogError where the home was not restored to its end: whatever it lacks is yet to come."""
    if restoring(home.path).exists():
        raise CorruptLogError(f"reading {home.path}: restoring it was interrupted; the same `em restore` again ends it")


def lost(home: RebuildableHome) -> list[Segment]:
    """What is lost, in order. Raises CorruptLogError where the manifest itself is lost or damaged, and where the home
    was not restored to its end."""
    check_restored(home)
    found = set(home.store.log.lost().values())
    manifest = home.store.log.manifest
    if manifest is None or home.book.pending():  # an erasure that was killed has emptied days that tables still hold
        return sorted(found)
    return sorted(found | _days_of_tables_alone(home, manifest.listed().days))


def check(home: RebuildableHome) -> None:
    """Enters what no entry names yet. Raises CorruptLogError where something is lost; SaltError if nobody can say."""
    check_restored(home)
    home.salt.verify()
    with home.lock("landing"):
        home.store.log.settle()
        found = lost(home)
    if found:
        raise lost_error(found)


def _days_of_tables_alone(home: RebuildableHome, known: set[tuple[str, date]]) -> set[Segment]:
    """Days that a table of the log holds, that the log has nothing of and no entry ever named."""
    return {
        Segment(step.log_kind, day, 0)
        for step in home.steps.values()
        if step.log_kind
        for day in set(home.store.lake.days(step.outputs[0])).difference(home.store.log.days(step.log_kind))
        if (step.log_kind, day) not in known
    }
