"""Reports on a home as pages that stand alone: of a night for those who run it, of a week for those who pay for it."""
