"""What each page shows and does: plain functions from what was asked to what is rendered."""
