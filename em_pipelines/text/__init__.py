"""Text: words in, words out; cleaning, keys and matching of names, masking, the guard."""
