"""Benchmarks: speed and memory of the engine, run by `make bench` and never as tests."""
