"""All settings in one place: composed of the small settings that stand beside the functions they steer.

The one reader of em.yaml and of EM_ variables. A variable beats the file, the file beats the default; nested fields
are joined by two underscores (EM_FOLD__MIN_STORAGE_CONFIDENCE=0.2).
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    YamlConfigSettingsSource,
)
from yaml import YAMLError

from em_pipelines.environment import environment
from em_pipelines.errors import SettingsError
from em_pipelines.evaluation.settings import EvaluationSettings
from em_pipelines.extraction.llm.settings import LlmExtractionSettings
from em_pipelines.extraction.settings import (
    DurableSettings,
    RulesSettings,
    SegmentationSettings,
    VerificationSettings,
)
from em_pipelines.governance.alerts.settings import AlertSettings
from em_pipelines.governance.audit.settings import QualitySettings, ReportSettings
from em_pipelines.governance.backup.settings import BackupSettings
from em_pipelines.governance.reports.settings import ReportsSettings
from em_pipelines.governance.review_settings import ReviewSettings
from em_pipelines.graph.confidence_decay import DecaySettings
from em_pipelines.graph.rounds import FoldSettings
from em_pipelines.guard.sensitive import SafetySettings
from em_pipelines.landing.settings import LandingSettings
from em_pipelines.lifecycle.consolidation.settings import ConsolidationSettings
from em_pipelines.lifecycle.inference.settings import InferenceSettings
from em_pipelines.lifecycle.pool.settings import PoolSettings
from em_pipelines.lifecycle.proactive.settings import ProactiveSettings
from em_pipelines.lifecycle.revision.settings import RevisionSettings
from em_pipelines.lifecycle.state_retention_days import StateSettings
from em_pipelines.llm.settings import LlmSettings
from em_pipelines.observability.settings import LogSettings, TracingSettings
from em_pipelines.resolution.settings import ResolutionSettings
from em_pipelines.retrieval.context.settings import ContextSettings
from em_pipelines.retrieval.settings import BUILT_IN, RetrievalSettings
from em_pipelines.schema.near_names import hint
from em_pipelines.storage.duckdb_engine import EngineSettings
from em_pipelines.storage.files import Access

SETTINGS_FILE = "em.yaml"
PREFIX = "EM_"
NEARLY = 0.85
"""Ratio of matching characters (`difflib`) from which a variable is a misspelling of one of ours: a letter of seven."""
SHORT_VARIABLES = {
    **{name: f"EM_LLM_{name.upper()}" for name in ("base_url", "small", "large", "mode")},
    "embedder_base_url": "EM_EMBEDDER_BASE_URL",
}
"""Fields of `llm` that have a short variable besides EM_LLM__FIELD."""

OTHER_VARIABLES = (
    "EM_LLM_API_KEY", "EM_EMBEDDER_API_KEY", "EM_REVISION_API_KEY", "EM_MCP_TOKEN", "EM_METRICS_TOKEN",
    "EM_ALERTS_WEBHOOK_URL", "EM_ALERTS_SMTP_USER", "EM_ALERTS_SMTP_PASSWORD",
)  # fmt: skip
"""What is read of the environment and is no setting."""
_CHOICE = re.compile(r"\^\(([\w|-]+)\)\$")


class Settings(BaseSettings):
    """Every setting of the project; frozen once read."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", frozen=True, extra="forbid", yaml_file=SETTINGS_FILE
    )

    home: Path = Field(default=Path(".em"), description="where the log, the lake, snapshots and Dagster's own home lie")
    access: Access = Field(
        default=Access.OWNER,
        description="who may use what is made in the home: owner, or group for the group of its folder, too",
    )
    extractor: str = Field(
        default="rules", pattern="^(rules|llm)$", description="which extractor reads the messages: rules or llm"
    )
    embedder: str = Field(
        default=BUILT_IN,
        pattern=rf"^(none|{BUILT_IN}|sentence-transformers:.+|openai:.+)$",
        description="what makes vectors of texts for search: none, built-in, sentence-transformers:MODEL or "
        "openai:MODEL; the last two also of phrases, to see which mean the same",
    )
    partitions_from: date | None = Field(
        default=None,
        description="the first day that Dagster shows; unless set, the month of the first log that has landed",
    )
    engine: EngineSettings = Field(default_factory=EngineSettings)
    states: StateSettings = Field(default_factory=StateSettings)
    landing: LandingSettings = Field(default_factory=LandingSettings)
    safety: SafetySettings = Field(default_factory=SafetySettings)
    rules: RulesSettings = Field(default_factory=RulesSettings)
    segmentation: SegmentationSettings = Field(default_factory=SegmentationSettings)
    durable: DurableSettings = Field(default_factory=DurableSettings)
    verification: VerificationSettings = Field(default_factory=VerificationSettings)
    evaluation: EvaluationSettings = Field(default_factory=EvaluationSettings)
    resolution: ResolutionSettings = Field(default_factory=ResolutionSettings)
    fold: FoldSettings = Field(default_factory=FoldSettings)
    decay: DecaySettings = Field(default_factory=DecaySettings)
    inference: InferenceSettings = Field(default_factory=InferenceSettings)
    retrieval: RetrievalSettings = Field(default_factory=RetrievalSettings)
    context: ContextSettings = Field(default_factory=ContextSettings)
    llm: LlmSettings = Field(default_factory=LlmSettings)
    reading: LlmExtractionSettings = Field(default_factory=LlmExtractionSettings)
    report: ReportSettings = Field(default_factory=ReportSettings)
    alerts: AlertSettings = Field(default_factory=AlertSettings)
    reports: ReportsSettings = Field(default_factory=ReportsSettings)
    backup: BackupSettings = Field(default_factory=BackupSettings)
    quality: QualitySettings = Field(default_factory=QualitySettings)
    revision: RevisionSettings = Field(default_factory=RevisionSettings)
    review: ReviewSettings = Field(default_factory=ReviewSettings)
    consolidation: ConsolidationSettings = Field(default_factory=ConsolidationSettings)
    proactive: ProactiveSettings = Field(default_factory=ProactiveSettings)
    pool: PoolSettings = Field(default_factory=PoolSettings)
    log: LogSettings = Field(default_factory=LogSettings)
    tracing: TracingSettings = Field(default_factory=TracingSettings)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003  (the signature is the library's)
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What is passed in beats the environment, which beats em.yaml."""
        given = environment()
        short = {name: given[name_of] for name, name_of in SHORT_VARIABLES.items() if given.get(name_of)}
        short_settings = InitSettingsSource(settings_cls, {"llm": short} if short else {})
        return init_settings, env_settings, short_settings, YamlConfigSettingsSource(settings_cls)


def load_settings(**overrides: Any) -> Settings:
    """Reads em.yaml of the working directory and EM_ variables; raises SettingsError naming the field at fault."""
    _check_variables()
    try:
        return Settings(**overrides)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or SETTINGS_FILE
        raise SettingsError(
            f"reading settings: {where}: {_found(first)}; see `em settings` for every field and its meaning"
        ) from error
    except (ValueError, YAMLError) as error:
        said = " ".join(str(error).split())
        raise SettingsError(
            f"reading settings: {SETTINGS_FILE}: {said}; see `em settings` for every field and its meaning"
        ) from error


def _found(problem: Mapping[str, Any]) -> str:
    """What is wrong with a field, in words: of one that is none the nearest is named, of a choice all there are."""
    if problem["type"] == "extra_forbidden":
        *above, name = problem["loc"]
        meant = hint(str(name), _fields(above))
        return f"there is no such setting{f'; {meant}' if meant else ''}"
    choices = _CHOICE.fullmatch(str(problem.get("ctx", {}).get("pattern", "")))
    if choices:
        return f"it is not one of {', '.join(choices[1].split('|'))}"
    return str(problem["msg"])


def _fields(path: Sequence[object]) -> list[str]:
    """The fields of the settings object at a path; none where there is no such object."""
    model: Any = Settings
    for part in path:
        found = model.model_fields.get(part) if hasattr(model, "model_fields") else None
        model = found.annotation if found else None
    return [*getattr(model, "model_fields", ())]


def _check_variables() -> None:
    """Raises SettingsError for a variable that is nearly one of ours: its value would be passed over without a word.

    Whatever else begins with EM_ is somebody else's.
    """
    known = {PREFIX + name.upper() for name in Settings.model_fields} | {*SHORT_VARIABLES.values(), *OTHER_VARIABLES}
    for name in environment():
        if not name.upper().startswith(PREFIX) or "__" in name or name.upper() in known:
            continue
        if meant := get_close_matches(name.upper(), sorted(known), 1, NEARLY):
            raise SettingsError(
                f"reading settings: the variable {name} is none of ours; did you mean {meant[0]}? see `em settings`"
            )
