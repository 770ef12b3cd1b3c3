"""The occasions of starters and their wordings, as starter_templates.yaml has them."""

from functools import cache
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from em_pipelines.errors import PatternError
from em_pipelines.language.values import read_yaml
from em_pipelines.lifecycle.proactive.gaps import MAX_WORDINGS

TEMPLATES = Path(__file__).with_name("starter_templates.yaml")


class Occasion(BaseModel):
    """One kind of occasion: of which kind the starter is, what it is worth (0 to 1), and how it is said."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["date", "plan", "experience", "world_event"]
    worth: float = Field(gt=0, le=1)
    shapes: tuple[str, ...] = ()
    wordings: tuple[str, ...] = Field(min_length=1, max_length=MAX_WORDINGS)

    @field_validator("shapes", mode="before")
    @classmethod
    def _split(cls, given: object) -> object:
        return tuple(given.split()) if isinstance(given, str) else given

    def wording(self, starter_id: str) -> str:
        """One of the wordings, by the last digit of the id: always the same."""
        return self.wordings[int(starter_id[-1], 16) % len(self.wordings)]


@cache
def load_occasions(templates: Path = TEMPLATES) -> dict[str, Occasion]:
    """Every occasion by its name. Raises PatternError where the file cannot be read."""
    try:
        listed = read_yaml(templates.read_text(encoding="utf-8"))
        return {name: Occasion.model_validate(one) for name, one in listed.items()}
    except (OSError, yaml.YAMLError, ValidationError, AttributeError) as error:
        raise PatternError(f"reading {templates.name}: {error}") from error
