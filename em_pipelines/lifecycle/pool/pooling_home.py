"""A home that may have to do with a shared pool: its book of what it took and gave."""

from functools import cached_property
from typing import Protocol

from em_pipelines.lifecycle.consolidation.consolidating_home import ConsolidatingHome, ConsolidationHomeSettings
from em_pipelines.lifecycle.pool.books import PoolBook
from em_pipelines.lifecycle.pool.settings import PoolSettings


class PoolingHomeSettings(ConsolidationHomeSettings, Protocol):
    """The settings of consolidation and of the pool."""

    @property
    def pool(self) -> PoolSettings: ...


class PoolingHome(ConsolidatingHome):
    """What the pool wants of a home beside its nights."""

    settings: PoolingHomeSettings

    @cached_property
    def pool_book(self) -> PoolBook:
        """What was taken from pools and given to them."""
        return PoolBook(self.path, self.record)
