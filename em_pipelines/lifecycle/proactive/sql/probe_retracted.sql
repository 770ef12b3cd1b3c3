-- Facts about a thing, whoever their subjects are, of which something was retracted and nobody has said which.
INSERT INTO probe_candidates
SELECT
    g.template, c.user_id, c.contradiction_id, n.edge_id, o.edge_id, t.entity_id, t.name, t.entity_type, NULL, NULL,
    t.importance, 1.0, list_distinct(list_concat(n.context_tags, o.context_tags)), c.detected_at, u.spoke_at,
    n.session_id, n.turn_number
FROM known_contradictions AS c
JOIN probe_facts AS n ON n.user_id = c.user_id AND n.edge_id = c.edge_id AND n.is_askable
JOIN probe_facts AS o ON o.user_id = c.user_id AND o.edge_id = c.other_edge_id AND o.is_askable
JOIN probe_things AS s ON s.user_id = n.user_id AND s.entity_id = n.subject_id
JOIN probe_things AS t
    ON t.user_id = n.user_id AND t.entity_id = coalesce(n.thing_id, n.subject_id) AND t.is_open AND NOT t.is_user
JOIN probe_users AS u ON u.user_id = c.user_id
CROSS JOIN (FROM probe_gaps WHERE form = 'retracted') AS g
WHERE c.status = 'open' AND c.reason = 'retraction' AND s.is_open
