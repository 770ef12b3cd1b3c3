"""A model to read with: the real client, gateway and store, over a scripted server and a clock that never waits."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from em_pipelines.extraction.llm.extractor import LLMExtractor
from em_pipelines.extraction.llm.settings import LlmExtractionSettings, Profile
from em_pipelines.llm.asking import Asking
from em_pipelines.llm.clock import ManualClock
from em_pipelines.llm.settings import LlmSettings
from resources.models import open_models
from tests.model_server.script import Script, Step
from tests.model_server.server import ModelServer

Read = Callable[..., tuple[LLMExtractor, ModelServer]]


def extractor_over(
    server: ModelServer,
    home: Path,
    *,
    profile: Profile = Profile.FULL,
    is_health_asked: bool = False,
    **changes: Any,
) -> LLMExtractor:
    """The llm extractor of a home that asks the server; `changes` are fields of LlmSettings."""
    settings = LlmSettings(base_url=server.base_url, small="small", **changes)
    clock = ManualClock()

    @asynccontextmanager
    async def open_asking() -> AsyncIterator[Asking]:
        async with open_models(home, settings, SecretStr("sk-test-0000000000000000"), clock=clock) as models:
            collect = models.batches.collect if settings.mode == "batch" else None
            yield Asking(models.gateway, models.store, models.clock, settings.retries, collect)

    return LLMExtractor("small", open_asking, LlmExtractionSettings(profile=profile), is_health_asked=is_health_asked)


@pytest.fixture
def llm(tmp_path: Path) -> Iterator[Read]:
    """script → an extractor and the server that it asks."""
    with ExitStack() as stack:

        def make(script: Script | list[Step], **changes: Any) -> tuple[LLMExtractor, ModelServer]:
            server = stack.enter_context(ModelServer(script))
            return extractor_over(server, tmp_path / "home", **changes), server

        yield make
