"""The shared pool: what recurs for one and says nothing of them, given to others; and what others gave, at its word."""
