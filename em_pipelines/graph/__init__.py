"""From claims to facts: the diff and the fold, the only writer of edges."""
