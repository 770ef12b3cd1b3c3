"""From landed interactions to cleaned messages and their sessions."""
