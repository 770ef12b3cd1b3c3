"""The record: what was done to memory and why, whether memory is sound, and how it is mended where it is not."""
