"""Figures of memory: which there are, how they are counted of each day, and what they come to now."""
