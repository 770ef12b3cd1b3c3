"""The safety layer: what may not be kept, obeyed or shown, whoever reads the text."""
