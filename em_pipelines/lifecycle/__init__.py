"""What time does to facts: decay, expiry, archival."""
