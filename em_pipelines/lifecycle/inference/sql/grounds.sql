-- The facts that ground conclusions, by the entities that their names are read by.
SELECT
    s.edge_id, n.user_id, n.entity_id AS subject_id, n.entity_type AS subject_type, s.relation,
    o.entity_id AS object_id, o.entity_type AS object_type, s.learned_at
FROM inference_stated AS s
JOIN inference_nodes AS n ON n.node = s.subject
JOIN inference_nodes AS o ON o.node = s.object
WHERE s.is_premise
ORDER BY n.user_id, s.edge_id
