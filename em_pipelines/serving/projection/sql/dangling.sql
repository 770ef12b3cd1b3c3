-- Facts about a thing that no entity row tells of.
SELECT count(*)
FROM wanted_edges AS w
WHERE w.source_key NOT IN (SELECT key FROM wanted_entities)
    OR w.target = 'Entity' AND w.target_key NOT IN (SELECT key FROM wanted_entities)
