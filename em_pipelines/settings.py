"""All settings in one place: composed of the small settings that stand beside the functions they steer.

The one reader of em.yaml and of EM_ variables. A variable beats the file, the file beats the default; nested fields
are joined by two underscores (EM_FOLD__MIN_STORAGE_CONFIDENCE=0.2).
"""

from datetime import date
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
from em_pipelines.governance.audit.settings import ReportSettings
from em_pipelines.graph.confidence_decay import DecaySettings
from em_pipelines.graph.rounds import FoldSettings
from em_pipelines.landing.settings import LandingSettings
from em_pipelines.lifecycle.inference.settings import InferenceSettings
from em_pipelines.lifecycle.revision.settings import RevisionSettings
from em_pipelines.lifecycle.state_retention_days import StateSettings
from em_pipelines.llm.settings import LlmSettings
from em_pipelines.resolution.settings import ResolutionSettings
from em_pipelines.retrieval.context.settings import ContextSettings
from em_pipelines.retrieval.settings import RetrievalSettings
from em_pipelines.storage.duckdb_engine import EngineSettings
from em_pipelines.storage.files import Access
from em_pipelines.text.guard.sensitive import SafetySettings

SETTINGS_FILE = "em.yaml"
SHORT_VARIABLES = {name: f"EM_LLM_{name.upper()}" for name in ("base_url", "small", "large", "mode")}
"""Fields of `llm` that have a short variable besides EM_LLM__FIELD."""


class Settings(BaseSettings):
    """Every setting of the project; frozen once read."""

    model_config = SettingsConfigDict(
        env_prefix="EM_", env_nested_delimiter="__", frozen=True, extra="forbid", yaml_file=SETTINGS_FILE
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
        default="none",
        pattern=r"^(none|sentence-transformers:.+|openai:.+)$",
        description="what makes vectors, of texts for search and of phrases to see which mean the same: none, "
        "sentence-transformers:MODEL or openai:MODEL",
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
    revision: RevisionSettings = Field(default_factory=RevisionSettings)

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
    try:
        return Settings(**overrides)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or SETTINGS_FILE
        raise SettingsError(
            f"reading settings: {where}: {first['msg']}; see `em settings` for every field and its meaning"
        ) from error
    except (ValueError, YAMLError) as error:
        said = " ".join(str(error).split())
        raise SettingsError(
            f"reading settings: {SETTINGS_FILE}: {said}; see `em settings` for every field and its meaning"
        ) from error
