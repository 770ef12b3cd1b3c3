"""The home in figures and charts, for pages and for the reports of nights and weeks."""
