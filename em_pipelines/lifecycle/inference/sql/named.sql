-- Inferred edges with names, those of each premise in the order of the chain. Best first.
WITH names AS (
    SELECT
        e.user_id, e.entity_id, r.canonical_name, r.name_key, r.alias_keys
    FROM known_entities AS e
    JOIN known_entities AS r ON r.user_id = e.user_id AND r.entity_id = coalesce(e.merged_into, e.entity_id)
),
because AS (
    SELECT
        p.edge_id, list(s.canonical_name || ' ' || e.relation || ' ' || o.canonical_name ORDER BY p.place) AS said
    FROM (
        SELECT edge_id, unnest(premises) AS premise, generate_subscripts(premises, 1) AS place FROM inferred
    ) AS p
    JOIN known_edges AS e ON e.edge_id = p.premise
    JOIN names AS s ON s.user_id = e.user_id AND s.entity_id = e.subject_id
    JOIN names AS o ON o.user_id = e.user_id AND o.entity_id = e.object_id
    GROUP BY p.edge_id
)
SELECT
    i.*, s.canonical_name AS subject, o.canonical_name AS object, b.said AS because,
    list_concat([s.name_key], s.alias_keys, [o.name_key], o.alias_keys) AS end_keys
FROM inferred AS i
JOIN because AS b USING (edge_id)
JOIN names AS s ON s.user_id = i.user_id AND s.entity_id = i.subject_id
JOIN names AS o ON o.user_id = i.user_id AND o.entity_id = i.object_id
ORDER BY i.confidence DESC, i.user_id, subject, i.relation, object, i.edge_id
