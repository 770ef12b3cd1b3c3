"""Inference by a model: what it is asked of a user's facts, and what of its answer may be judged."""
