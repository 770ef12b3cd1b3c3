"""One look at a home by all rules that need no Dagster: which are broken, and which could not be asked.

A rule whose figure cannot be read keeps no other back. Where damage is the reason, that is what is found.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property

from em_pipelines.errors import CorruptLedgerError, CorruptLogError, CorruptTableError, EmError, SaltError
from em_pipelines.governance.alerts import figures, rules
from em_pipelines.governance.alerts.alert import Alert, Look
from em_pipelines.governance.alerts.book import LOCK, AlertBook, DamageLook
from em_pipelines.governance.alerts.rules import Finding, Pending
from em_pipelines.governance.alerts.settings import AlertSettings
from em_pipelines.governance.rebuildable_home import RebuildableHome
from em_pipelines.llm.settings import LlmSettings

AGAIN_MINUTES = 15
"""Minutes after which a damaged home is looked at again, for it may have been mended."""
DAMAGE = (CorruptTableError, CorruptLogError, CorruptLedgerError, SaltError)
_LOGGER = logging.getLogger(__name__)


class Depth(StrEnum):
    """Whether every byte is looked at for damage: always, when it is time, or only where damage is known."""

    FULL = "full"
    DUE = "due"
    LIGHT = "light"


@dataclass(frozen=True)
class Situation:
    """A home, the instant, and what the rules go by. `is_graph_set`: whether the environment names a graph database."""

    home: RebuildableHome
    now: datetime
    settings: AlertSettings
    llm: LlmSettings
    is_graph_set: bool = False

    @cached_property
    def pending(self) -> Pending | None:
        """What waits to be read; two rules ask."""
        return figures.pending(self.home, self.llm)

    def ago(self, **span: float) -> datetime:
        """The instant of so many minutes, hours or days ago."""
        return self.now - timedelta(**span)


def look_at(situation: Situation, depth: Depth = Depth.DUE) -> Look:
    """Asks every rule. Nothing of the home is changed but what the book says of the last look at every byte."""
    found: list[Alert] = []
    asked: list[str] = []
    problems: list[str] = []
    damage: list[Finding] = []
    for name, rule in _RULES.items():
        try:
            alert = rule(situation)
        except DAMAGE as error:
            damage.append(figures.finding_of(str(error)))
        except Exception as error:  # one that fails silences no other
            problems.append(_problem(name, error))
        else:
            asked.append(name)
            found += [alert] if alert else []
    try:
        damage += _damage(situation, depth)
        asked.append(rules.CORRUPTION)
    except Exception as error:
        problems.append(_problem(rules.CORRUPTION, error))
    if alert := rules.corruption(list({one.found: one for one in damage}.values())):
        found.append(alert)
    return Look(tuple(found), frozenset(asked), tuple(problems))


def _problem(name: str, error: Exception) -> str:
    """What is said of a rule that could not be asked; of what nobody expects the log has the traceback."""
    is_ours = isinstance(error, EmError)
    said = str(error) if is_ours else type(error).__name__
    _LOGGER.warning("alerts: asking %s: %s", name, said, exc_info=None if is_ours else error)
    return f"{name}: {said}"


def _damage(situation: Situation, depth: Depth) -> list[Finding]:
    """Damage that shows at a glance, and that of the last look at every byte, which is taken where it is wanted."""
    home = situation.home
    known = AlertBook(home.path).read().damage
    if _is_wanted(known, situation, depth) and not figures.is_busy(home):
        # Noted before: a look that takes longer than its process lives is not begun again at every tick.
        _note_damage(situation, known.found if known else ())
        found = tuple(figures.damage_of_all(home))
        _note_damage(situation, found)
    else:
        found = known.found if known else ()
    book = AlertBook(home.path).finding
    return [*_at_a_glance(home), *([book] if book else []), *found]


def _is_wanted(known: DamageLook | None, situation: Situation, depth: Depth) -> bool:
    has_damage = known is not None and bool(known.found)
    if depth is Depth.FULL or (depth is Depth.LIGHT and has_damage):
        return True
    if depth is Depth.LIGHT:
        return False
    again = {"minutes": AGAIN_MINUTES} if has_damage else {"hours": situation.settings.damage_hours}
    return known is None or known.at <= situation.ago(**again)


def _at_a_glance(home: RebuildableHome) -> Iterator[Finding]:
    try:
        yield from figures.damage_at_a_glance(home)
    except DAMAGE as error:
        yield figures.finding_of(str(error))


def _note_damage(situation: Situation, found: tuple[Finding, ...]) -> None:
    home = situation.home
    with home.lock(LOCK):
        store = AlertBook(home.path)
        book = store.read()
        book.damage = DamageLook(situation.now, found)
        store.write(book)


def _of_pending(
    rule: Callable[[Pending, datetime, AlertSettings], Alert | None],
) -> Callable[[Situation], Alert | None]:
    return lambda s: rule(s.pending, s.now, s.settings) if s.pending else None


_RULES: dict[str, Callable[[Situation], Alert | None]] = {
    rules.EXTRACTION_STALLED: _of_pending(rules.extraction_stalled),
    rules.EXTRACTION_STOPPED: _of_pending(rules.extraction_stopped),
    rules.HALLUCINATION_SPIKE: lambda s: rules.hallucination_spike(
        figures.most_refused(s.home, s.ago(hours=s.settings.refused_hours)), s.settings
    ),
    rules.GRAPH_SLOW: lambda s: rules.graph_slow(
        figures.graph_seconds(s.home, s.ago(hours=s.settings.graph_hours)), s.settings
    ),
    rules.GRAPH_DOWN: lambda s: rules.graph_down(figures.graph_down_since(s.home) if s.is_graph_set else None),
    rules.MODEL_BUDGET: lambda s: rules.model_budget(
        figures.budget_uses(s.home, s.llm, s.now), s.llm.budget.warning_share
    ),
    rules.PROBE_ANNOYANCE: lambda s: rules.probe_annoyance(
        figures.answered(s.home, s.ago(days=s.settings.annoyed_days), s.now), s.settings
    ),
    rules.STALE_OUTGOING: lambda s: rules.stale_outgoing(
        figures.behind(s.home, is_graph_set=s.is_graph_set), s.now, s.settings
    ),
    rules.DISK_FULL: lambda s: rules.disk_full(figures.used_share(s.home), s.settings),
}
