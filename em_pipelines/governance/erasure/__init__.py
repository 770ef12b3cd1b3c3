"""Erasure: what somebody asks to be forgotten goes from every place it stands, and stays away."""
