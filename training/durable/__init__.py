"""Sentences of invented conversations, labelled by whether they are worth keeping, and as what (GUIDELINES.md)."""
