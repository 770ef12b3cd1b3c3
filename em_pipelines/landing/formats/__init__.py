"""Converters: one module a format that people already have, each from its shape to fields of records."""
