"""Sensors and schedules: what starts work without a hand."""
