"""What asking a model for words came to: apart from the asking, which readers do not need."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Asked:
    """What asking a model for words came to. Calls and dollars are those of the whole night, whichever run asked;
    `n_waiting` are without an answer and asked again, `n_kept_out` had none that may stand; `note` says why asking
    ended early, and `alerts` which budgets are nearly used."""

    n_calls: int = 0
    cost_usd: float = 0.0
    n_worded: int = 0
    n_waiting: int = 0
    n_kept_out: int = 0
    note: str | None = None
    alerts: tuple[str, ...] = field(default=())
