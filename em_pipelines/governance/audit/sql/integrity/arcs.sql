-- What is above what, by active facts: inverse relations are read the other way round.
SELECT
    f.edge_id,
    concat_ws(chr(31), f.user_id, h.hierarchy, CASE WHEN h.is_inverse THEN f.object_thing ELSE f.subject_thing END) AS lower,
    concat_ws(chr(31), f.user_id, h.hierarchy, CASE WHEN h.is_inverse THEN f.subject_thing ELSE f.object_thing END) AS upper
FROM facts AS f
JOIN hierarchies AS h ON h.relation = f.relation
WHERE f.status = 'active' AND f.polarity = 1 AND NOT f.requires_verification
