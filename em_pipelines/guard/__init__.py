"""Guard: what is kept out of memory, whoever extracted it."""
