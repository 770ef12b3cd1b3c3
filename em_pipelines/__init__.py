"""Experience memory as a fold over an append-only log: the engine, and the composition root that wires it."""
