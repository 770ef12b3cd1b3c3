"""Wording by a model: what it is asked about an experience, what of its answer may stand, and what a night may cost."""
