"""What the safety layer lets through."""

from pydantic import BaseModel, ConfigDict, Field

from em_pipelines.safety.sensitive import FINANCIAL, HEALTH, IDENTITY_DOCUMENT


class SafetySettings(BaseModel):
    """Which private facts are kept, and how much of a message is looked at. What is off is blanked before anything
    reads the text."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    is_health_enabled: bool = False
    """Keep facts about health: conditions, medicines, allergies, treatments, pregnancies; of anybody."""
    is_financial_enabled: bool = False
    """Keep facts about money: income, debts, savings, loans, credit. Account and card numbers are masked anyway."""
    is_identity_document_enabled: bool = False
    """Keep facts about identity documents, such as when a passport ends. Their numbers are masked anyway."""

    max_characters: int = Field(default=20_000, ge=1)
    """Of one message; the rest of a longer one is neither guarded nor read, and an issue says so."""

    @property
    def withheld(self) -> tuple[str, ...]:
        """The categories of sensitive.yaml that are not kept."""
        enabled = {
            HEALTH: self.is_health_enabled,
            FINANCIAL: self.is_financial_enabled,
            IDENTITY_DOCUMENT: self.is_identity_document_enabled,
        }
        return tuple(name for name, is_on in enabled.items() if not is_on)
