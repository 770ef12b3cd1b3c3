"""What holds of language as such: where sentences end. No meaning, no names, nothing of a home."""
