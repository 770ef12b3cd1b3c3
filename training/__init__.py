"""What is fitted seldom and kept as a file of the package. Nothing in the wheel asks for it."""
