"""Governance: what people decide about memory, and the record of what was done."""
