"""Finding what was said and what is known: one index pack a user, scored whole, and nothing of anybody else in it."""
