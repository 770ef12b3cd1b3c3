"""The sensor of batches: when it asks for a run, and what that run keeps."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from pydantic import SecretStr

from em_pipelines.errors import AnswerPendingError
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.batch_queue import BatchQueue
from em_pipelines.llm.clock import ManualClock
from em_pipelines.llm.settings import LlmSettings
from em_pipelines.settings import Settings, load_settings
from resources.home import HomeResource
from resources.models import answers_path, open_models
from sensors.batches import batches_sensor, collect_batches
from tests.model_server.questions import question
from tests.model_server.script import answer
from tests.model_server.server import ModelServer

sensor = batches_sensor(collect_batches)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer([answer({"likes": "plums"})]) as server:
        yield server


@pytest.fixture
def settings(home_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("EM_LLM_API_KEY", "k")
    return load_settings(home=home_path, llm=LlmSettings(base_url=server.base_url, small="small", mode="batch"))


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral(str(tmp_path), settings={"telemetry": {"enabled": False}}) as instance:
        yield instance


def tick(settings: Settings, instance: dg.DagsterInstance) -> dg.RunRequest | str:
    with dg.build_sensor_context(instance=instance, resources={"home": HomeResource.of(settings)}) as context:
        found: Any = sensor(context)
        return found if isinstance(found, dg.RunRequest) else str(found.skip_message)


def send(settings: Settings) -> None:
    async def sending() -> None:
        async with open_models(settings.home, settings.llm, SecretStr("k")) as models:
            with pytest.raises(AnswerPendingError):
                await models.gateway.complete(question())
            assert await models.gateway.flush() == 1

    asyncio.run(sending())


def test_without_a_batch_nobody_is_asked_anything(
    settings: Settings, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    assert tick(settings, instance) == "no batch is out"
    assert not settings.home.exists()
    assert server.requests == []


def test_a_batch_that_has_ended_is_collected_once(
    settings: Settings, instance: dg.DagsterInstance, server: ModelServer
) -> None:
    server.batches.n_polls = 2
    send(settings)
    assert tick(settings, instance) == "1 batches are at work"
    assert isinstance(tick(settings, instance), dg.RunRequest)
    done = collect_batches.execute_in_process(instance=instance, resources={"home": HomeResource.of(settings)})
    assert done.success
    with AnswerStore(answers_path(settings.home)) as store:
        assert BatchQueue(store.database).open_batches() == []
        assert store.answer(question(), ManualClock().now()) is not None
    assert tick(settings, instance) == "no batch is out"


def test_while_a_run_collects_no_other_is_asked_for(settings: Settings, instance: dg.DagsterInstance) -> None:
    send(settings)
    instance.create_run_for_job(collect_batches, status=dg.DagsterRunStatus.STARTED)
    assert tick(settings, instance) == "a run is at work"


def test_a_missing_key_or_an_endpoint_that_is_down_is_said(
    settings: Settings, instance: dg.DagsterInstance, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(settings)
    server.__exit__(None, None, None)
    assert "1 batches are out: asking for a batch: there was no connection" in str(tick(settings, instance))
    monkeypatch.delenv("EM_LLM_API_KEY")
    assert "none of EM_LLM_API_KEY and OPENAI_API_KEY is set" in str(tick(settings, instance))


def test_a_run_that_cannot_collect_fails_and_says_why(settings: Settings, instance: dg.DagsterInstance) -> None:
    send(settings)
    down = settings.model_copy(update={"llm": settings.llm.model_copy(update={"base_url": "http://127.0.0.1:9/v1"})})
    done = collect_batches.execute_in_process(
        instance=instance, resources={"home": HomeResource.of(down)}, raise_on_error=False
    )
    (failed,) = (event for event in done.all_events if event.is_step_failure)
    assert "there was no connection" in str(failed.step_failure_data.user_failure_data)
