"""Local times of a chat, which names no offset, as instants: also those of the hour that comes twice in autumn.

The order of the file decides: a chat that runs back within that hour is in its second turn from there on.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

_OUT_OF_ORDER = timedelta(minutes=1)
"""By so much messages may be out of order without the clock having been set back."""
_MINUTE = timedelta(minutes=1)


def is_repeated(at: datetime, zone: ZoneInfo) -> bool:
    """Whether a local time comes twice: the clock is set back from behind it to before it."""
    offsets = [at.replace(tzinfo=zone, fold=fold).utcoffset() or timedelta() for fold in (0, 1)]
    return offsets[0] > offsets[1]


def repeated_minutes(at: datetime, zone: ZoneInfo) -> tuple[int, int]:
    """The first and last minute of the day, at a local time that comes twice, of those that do."""
    first = last = at.replace(tzinfo=None, second=0, microsecond=0)
    while is_repeated(first - _MINUTE, zone):
        first -= _MINUTE
    while is_repeated(last + _MINUTE, zone):
        last += _MINUTE
    return first.hour * 60 + first.minute, last.hour * 60 + last.minute


@dataclass(slots=True)
class LocalClock:
    """The clock of one chat. Times are given in the order of the file."""

    zone: ZoneInfo
    _last: datetime | None = None
    _is_second: bool = False

    def at(self, local: datetime) -> datetime:
        """A local time in the zone; of one that comes twice, the second where the chat has run back to it."""
        if (
            not is_repeated(local, self.zone)
            or self._last is None
            or not is_repeated(self._last, self.zone)
            or self._last.date() != local.date()
        ):
            self._is_second = False
        elif local < self._last - _OUT_OF_ORDER:
            self._is_second = True
        self._last = local
        return local.replace(tzinfo=self.zone, fold=int(self._is_second))
