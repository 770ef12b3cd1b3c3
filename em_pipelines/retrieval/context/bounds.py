"""How large a context block may be. Apart from its settings, so that naming the bounds costs nothing."""

BUDGET_TOKENS = 800
"""No block is larger, whatever is asked for."""
LEAST_TOKENS = 40
"""Room for a block with nothing in it."""
