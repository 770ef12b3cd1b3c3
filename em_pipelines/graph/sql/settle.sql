-- How the changed edges stand now that the round is over.
UPDATE changes SET
    after = standing(l.status, l.valid_from, l.valid_to, l.spell, l.reinforcement_count),
    confidence_after = l.confidence
FROM live AS l
WHERE l.edge_id = changes.edge_id AND changes.after IS NULL;
