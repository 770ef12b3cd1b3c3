"""From mentions to entities: normalization, matching, the registry."""
