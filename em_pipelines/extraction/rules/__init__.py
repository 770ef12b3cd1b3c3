"""The rules extractor: patterns as data over a small engine that reads clauses."""
