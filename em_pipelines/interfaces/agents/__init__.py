"""What agents do with one user's memory: store, list, explain, page through it, and check what they will say."""
