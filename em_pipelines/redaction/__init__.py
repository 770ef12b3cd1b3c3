"""Redaction: what is erased or asked to be, what that covers, and what is left of a record."""
