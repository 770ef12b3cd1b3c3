"""The llm extractor: one structured answer of a model a segment, checked section by section."""
