"""The encoder that gives texts vectors for search."""
