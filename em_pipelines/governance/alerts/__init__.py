"""What somebody should look at, and whether it was told: rules over figures of a home, and the book of what stands."""
