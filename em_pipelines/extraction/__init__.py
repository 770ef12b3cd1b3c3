"""From messages to mentions and claims: segmentation, gate, extractors."""
