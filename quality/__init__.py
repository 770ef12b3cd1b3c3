"""Asset checks: Great Expectations suites on tables, checks of our own on meaning."""
