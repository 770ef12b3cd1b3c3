"""Being honest about quality: what an extractor finds in labelled corpora, in figures, and whether they got worse."""
