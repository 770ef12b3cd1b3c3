-- Pairs of names that were parted today, as they are read now.
SELECT DISTINCT coalesce(a.canonical_id, e.entity_id), coalesce(b.canonical_id, e.other_id)
FROM entity_ops AS e
LEFT JOIN merged AS a ON a.entity_id = e.entity_id
LEFT JOIN merged AS b ON b.entity_id = e.other_id
WHERE e.operation = 'SPLIT' AND e.other_id IS NOT NULL
