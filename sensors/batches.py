"""The sensor of batches, and the job that it asks for: answers are collected when the endpoint has them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import dagster as dg

from em_pipelines.environment import environment
from em_pipelines.errors import LockedError, ModelError, SettingsError
from em_pipelines.home import COLLECTED
from em_pipelines.pipeline import Pipeline
from resources.batch import BatchClient
from resources.endpoint import read_api_key
from resources.home import HomeResource
from resources.models import n_open_batches, open_models
from sensors.landing import AT_WORK

INTERVAL_SECONDS = 60
"""A batch takes minutes to a day."""
T = TypeVar("T")


def batches_sensor(job: dg.JobDefinition) -> dg.SensorDefinition:
    """Asks for a collecting run when a batch has ended. Where no batch is out, nothing is asked of anybody."""

    @dg.sensor(
        name="batches",
        job=job,
        minimum_interval_seconds=INTERVAL_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Answers of the Batch API are collected when a batch has ended; needs the key of the endpoint.",
    )
    def watch_batches(context: dg.SensorEvaluationContext, home: HomeResource) -> dg.RunRequest | dg.SkipReason:
        n_open = n_open_batches(home.home)
        if not n_open:
            return dg.SkipReason("no batch is out")
        if context.instance.get_runs(dg.RunsFilter(job_name=job.name, statuses=AT_WORK), limit=1):
            return dg.SkipReason("a run is at work")
        try:
            has_ended = with_batches(home.home, lambda batches: batches.has_ended())
        except (ModelError, SettingsError) as error:
            return dg.SkipReason(f"{n_open} batches are out: {error}")
        return dg.RunRequest() if has_ended else dg.SkipReason(f"{n_open} batches are at work")

    return watch_batches


@dg.op(description="Keeps the answers of batches that have ended; what they did not answer is asked again.")
def collect_answers(context: dg.OpExecutionContext, home: HomeResource) -> None:
    try:
        found = with_batches(home.home, lambda batches: batches.collect())
    except (ModelError, LockedError) as error:
        raise dg.Failure(str(error)) from None
    if found.n_answered or found.n_failed or found.n_released:
        (home.home.path / COLLECTED).touch()
    context.log.info(
        f"collected {found.n_answered} answers and {found.n_failed} failures; {found.n_released} questions wait again, "
        f"{found.n_open} batches are out"
    )


@dg.job(description="Collects answers from the Batch API; days that waited for them are extracted by the next run.")
def collect_batches() -> None:
    collect_answers()


def with_batches(home: Pipeline, work: Callable[[BatchClient], Awaitable[T]]) -> T:
    """Does one thing with the batches of a home, with the key of the environment."""

    async def working() -> T:
        async with open_models(home.path, home.settings.llm, read_api_key(environment())) as models:
            return await work(models.batches)

    return asyncio.run(working())
