"""What goes out of a home about one user, and comes in again: JSON, GraphML, a vault of Markdown notes."""
