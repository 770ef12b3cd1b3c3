-- Pairs of facts of the person that speak against each other, and neither of which has been decided for.
INSERT INTO probe_candidates
SELECT
    g.template, n.user_id, c.contradiction_id, n.edge_id, o.edge_id, n.thing_id, n.name, n.entity_type,
    CASE WHEN g.has_other THEN o.name END, CASE WHEN g.has_other THEN o.entity_type END,
    greatest(n.importance, o.importance), 1.0, list_distinct(list_concat(n.context_tags, o.context_tags)),
    c.detected_at, u.spoke_at, n.session_id, n.turn_number
FROM known_contradictions AS c
JOIN probe_own AS n ON n.user_id = c.user_id AND n.edge_id = c.edge_id
JOIN probe_own AS o ON o.user_id = c.user_id AND o.edge_id = c.other_edge_id
JOIN probe_users AS u ON u.user_id = c.user_id
JOIN probe_premises AS p ON p.relation = n.relation AND (len(p.types) = 0 OR list_contains(p.types, n.entity_type))
JOIN (FROM probe_gaps WHERE form IN ('either', 'whether')) AS g ON g.template = p.template
WHERE
    c.status = 'open'
    AND CASE g.form
        WHEN 'either' THEN n.thing_id <> o.thing_id AND n.polarity = 1 AND o.polarity = 1
        ELSE n.thing_id = o.thing_id
    END
