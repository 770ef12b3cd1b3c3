"""The declared schema of every table, one module a group."""
