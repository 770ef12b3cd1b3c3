-- Both ends of a fact, and the facts that it revises or speaks against.
SELECT edge_id AS row_id FROM facts
WHERE subject_user IS NULL OR (object_id IS NOT NULL AND object_user IS NULL)
UNION
SELECT o.edge_id
FROM (SELECT edge_id, unnest([supersedes, superseded_by, contradicts]) AS other_id FROM edges) AS o
ANTI JOIN edges AS e ON e.edge_id = o.other_id
WHERE o.other_id IS NOT NULL
