"""What work says of itself while it goes on: which it is, in log lines and in spans. Knows of no vendor."""
