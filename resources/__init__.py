"""Dagster resources: the lake and the settings, built for assets."""
