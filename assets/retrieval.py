"""The index packs: unpartitioned, for only the newest are searched."""

import logging

import dagster as dg

from assets.daily import OWNERS
from em_pipelines.language.counting import counted
from em_pipelines.observability.work import work
from em_pipelines.retrieval import packs
from resources.home import HomeResource

_LOGGER = logging.getLogger(__name__)


@dg.asset(
    name="index_packs",
    group_name="serving",
    deps=["messages", "current_edges", "experiences"],
    owners=OWNERS,
    kinds={"bm25s"},
    description="One pack a user: what was said, what is known and what recurs, ready to be searched.",
)
def index_packs(home: HomeResource) -> dg.MaterializeResult:
    with work("em.step", step="index_packs"):
        users = packs.build(home.home)
        _LOGGER.info("made %s", counted(len(users), "index pack"))
    n_documents, n_bytes = packs.size_of(home.home)
    return dg.MaterializeResult(
        metadata={
            "packs_made": dg.IntMetadataValue(len(users)),
            "packs": dg.IntMetadataValue(len(packs.folders(home.home))),
            "dagster/row_count": dg.IntMetadataValue(n_documents),
            "megabytes": dg.FloatMetadataValue(round(n_bytes / 1e6, 1)),
        }
    )
