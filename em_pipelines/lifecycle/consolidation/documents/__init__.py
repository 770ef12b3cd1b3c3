"""MEMORY.md and SKILL.md: what the nights came to, for people and agents to read as files."""
