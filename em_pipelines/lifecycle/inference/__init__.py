"""What follows from known facts: new edges from chains of edges, by rules and, where it is enabled, by a model."""
