"""Schema: the tables that there are, declared once."""
