"""The control UI: one home in a browser, for those who run it and for those who are remembered in it."""
