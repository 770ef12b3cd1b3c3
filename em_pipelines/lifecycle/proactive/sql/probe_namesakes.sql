-- Two people of one name, each with a role of their own: whether they are one.
INSERT INTO probe_candidates
SELECT
    g.template, a.user_id, concat_ws(chr(31), g.template, a.entity_id, b.entity_id), NULL, NULL, a.entity_id,
    a.role || ' ' || a.name, 'namesake', b.role || ' ' || b.name, 'namesake', greatest(a.importance, b.importance), 0.6,
    [], greatest(a.first_seen, b.first_seen), greatest(a.last_referenced, b.last_referenced), NULL, NULL
FROM probe_namesakes AS a
JOIN probe_namesakes AS b
    ON b.user_id = a.user_id AND b.name_key = a.name_key AND a.entity_id < b.entity_id AND a.role <> b.role
CROSS JOIN (FROM probe_gaps WHERE form = 'namesakes') AS g
WHERE NOT list_contains(a.distinct_from, b.entity_id) AND NOT list_contains(b.distinct_from, a.entity_id)
