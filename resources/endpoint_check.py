"""Tries the endpoint of the settings: its list of models, then one conversation that is read as every other one is.

What it takes is found out as in a run (`resources.dialect`), from nothing, and kept in the home for the runs to come.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import openai

from em_pipelines.environment import environment
from em_pipelines.errors import ModelError
from em_pipelines.extraction.llm.extractor import LLMExtractor
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.endpoint_profiles import EndpointProfile, EndpointProfiles
from em_pipelines.llm.endpoint_report import EndpointReport
from em_pipelines.llm.settings import LlmSettings
from em_pipelines.schema.readings import Extraction, Outcome, Segment, Turn
from em_pipelines.settings import Settings
from resources.clock import SystemClock
from resources.dialect import FORMATS, Dialect
from resources.endpoint import OPENAI_URL, our_errors, read_api_key
from resources.model_access import asking_of
from resources.models import answers_path

LIST_SECONDS = 10.0
USER, ASSISTANT = "user", "assistant"
SAMPLE = (
    (USER, "I moved to Ostrava in March, my brother Ferenc lives there too."),
    (ASSISTANT, "How do you like it so far?"),
    (USER, "I love it. I work at Lindqvist Optics now, and I want to learn Czech."),
)
"""An invented conversation with facts that every model finds."""
FORMAT_NAMES = {
    "json_schema": "JSON schema", "json_object": "JSON object", "none": "none: the schema stands in the prompt",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Sample:
    """The settings of asking about the sample: a home of its own, and no waiting."""

    home: Path
    llm: LlmSettings


def check_endpoint(settings: Settings) -> EndpointReport:
    """Tries the endpoint and the small model of the settings. Raises SettingsError where no key is set."""
    key = read_api_key(environment())
    llm = settings.llm
    model = llm.model_of("small")
    models = _listed(llm, key.get_secret_value())
    with TemporaryDirectory() as folder:
        no_waits = {"ladder": llm.ladder.model_copy(update={"delays_seconds": ()}), "n_awaited_trials": 0}
        asked = _Sample(Path(folder), llm.model_copy(update={**no_waits, "mode": "realtime"}))
        begun = time.monotonic()
        (reading,) = LLMExtractor(model, asking_of(asked), settings.reading).extract_all([_segment()])
        seconds = time.monotonic() - begun
        with AnswerStore(answers_path(asked.home)) as store:
            profile = EndpointProfiles(llm.address, store.database).of(model)
    _keep(settings, model, profile)
    answered = [call for call in reading.calls if call["completion_tokens"]]  # also what could not be read
    latency = sum(call["latency_ms"] for call in answered) / 1000
    return EndpointReport(
        address=llm.base_url or OPENAI_URL,
        model=model,
        models=models,
        problem=_problem(reading),
        takes=_taken(profile, llm) if answered else {},
        n_calls=len(reading.calls),
        seconds=latency or seconds,
        tokens_a_second=sum(call["completion_tokens"] for call in answered) / latency if latency else 0.0,
    )


def _segment() -> Segment:
    at = datetime(2026, 3, 2, 9, tzinfo=UTC)
    turns = (Turn(f"m{n}", n, role, USER if role == USER else None, text, at) for n, (role, text) in enumerate(SAMPLE))
    return Segment("check", "check", "check", "text", tuple(turns))


def _listed(llm: LlmSettings, key: str) -> tuple[str, ...] | None:
    """The models that the endpoint lists, by name; many list none."""
    try:
        with (
            our_errors("listing models", SystemClock()),
            openai.OpenAI(
                base_url=llm.base_url or OPENAI_URL, api_key=key, max_retries=0, timeout=LIST_SECONDS
            ) as client,
        ):
            return tuple(sorted(str(one.id) for one in client.models.list().data))
    except (ModelError, AttributeError, TypeError):
        return None


def _keep(settings: Settings, model: str, profile: EndpointProfile) -> None:
    """Lets runs of the home know what was learned, in the place of what they knew before."""
    if not settings.home.exists():
        return
    with AnswerStore(answers_path(settings.home), settings.llm.address) as store:
        profiles = EndpointProfiles(settings.llm.address, store.database)
        profiles.forget(model)
        profiles.put(model, profile, SystemClock().now())


def _problem(reading: Extraction) -> str:
    if reading.outcome is not Outcome.COMPLETE:
        return next((issue.detail for issue in reading.issues if issue.detail), reading.reason)
    if not _names(reading.claims):
        return "the model was asked and answered, and found none of the facts of the sample; try a larger model"
    return ""


def _names(claims: Iterable[object]) -> bool:
    return any(getattr(claim, "object", None) for claim in claims)


def _taken(profile: EndpointProfile, llm: LlmSettings) -> dict[str, object]:
    place = max((form.place for form in profile.formats.values()), default=0)
    return {
        "structured outputs": FORMAT_NAMES[FORMATS[place]],
        "streaming": "stream" not in profile.refused_parameters,
        "temperature": "temperature" not in profile.refused_parameters,
        "limit of an answer": profile.output_limit or Dialect(EndpointProfiles(llm.address)).usual_limit,
        "longest answer": profile.max_output_tokens or "not known to be limited",
        "context": profile.context_tokens or "not known to be short",
        "longest wait": f"{profile.longest_wait_seconds or 0.0:.1f} s",
        "patience": f"{llm.timeout_seconds or profile.patience_seconds:.0f} s without progress",
    }
