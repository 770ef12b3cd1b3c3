"""The memory as a property graph: what is projected, what a graph store has to offer, and the sync between the two."""
