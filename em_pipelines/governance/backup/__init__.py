"""Backups of a home: what cannot be made again, copied to a folder and back."""
