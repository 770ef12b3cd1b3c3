"""Consolidation: from what happened again and again to what is known of it, at night, and taken back as a whole."""
