"""What readers take out: facts, snapshots, state hashes."""
