"""English: its words, how they stand together, and what its dates mean."""
