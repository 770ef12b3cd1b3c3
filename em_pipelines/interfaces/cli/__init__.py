"""The commands of `em`, one module a topic; cli.py puts them together."""
