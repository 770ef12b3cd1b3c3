"""Fits the model of standing instructions to labelled messages."""
