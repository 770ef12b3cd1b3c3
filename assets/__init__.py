"""Dagster assets: load, call one engine step, write, report."""
