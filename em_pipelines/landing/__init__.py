"""From files that people have to landed log records, duplicates and dead letters."""
