"""Fits the model of quoted material to labelled messages."""
