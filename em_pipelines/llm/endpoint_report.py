"""What trying an endpoint has shown, for whoever sets it up."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

MESSAGES_A_CALL = 20
"""What one question asks about, usually."""
MIN_CONTEXT_OF_FULL = 8192
"""Tokens of context that the prompt of the profile `full` and its answer take."""


@dataclass(frozen=True, slots=True)
class EndpointReport:
    """What an endpoint takes of the small model, how fast it is, and what is wrong with it.

    `models` are those it lists; None where it lists none. `problem` is empty where the sample was read. `seconds` is
    how long the answer to the sample took, `tokens_a_second` how fast it was written. `takes` says by name of the
    feature what the endpoint takes; what is not in it was not tried.
    """

    address: str
    model: str
    models: tuple[str, ...] | None
    problem: str = ""
    takes: dict[str, Any] = field(default_factory=dict)
    n_calls: int = 0
    seconds: float = 0.0
    tokens_a_second: float = 0.0

    @property
    def hours_a_thousand_messages(self) -> float:
        """How long a thousand messages take with one call at a time."""
        return 1000 / MESSAGES_A_CALL * self.seconds / 3600

    @property
    def settings_to_use(self) -> str:
        """What to set so that the endpoint is used well."""
        context = self.takes.get("context")
        is_short = isinstance(context, int) and context < MIN_CONTEXT_OF_FULL
        if is_short or self.hours_a_thousand_messages > 1:
            return "EM_READING__PROFILE=lean, for shorter prompts and answers"
        return "as they are"


CheckEndpoint = Callable[..., EndpointReport]
"""(settings) → what was found out."""
