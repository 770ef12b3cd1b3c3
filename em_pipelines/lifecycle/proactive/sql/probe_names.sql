-- Names that a question may have to say, each once with its type.
SELECT DISTINCT f.name, f.entity_type
FROM probe_own AS f
SEMI JOIN probe_premises AS p ON p.relation = f.relation
UNION
SELECT name, entity_type FROM probe_things
WHERE entity_type = 'person' AND is_open AND NOT is_user AND mention_count >= getvariable('min_mentions')
UNION
SELECT role || ' ' || name, 'namesake' FROM probe_namesakes
UNION
SELECT t.name, t.entity_type
FROM known_contradictions AS c
JOIN probe_facts AS f ON f.user_id = c.user_id AND f.edge_id = c.edge_id
JOIN probe_things AS t ON t.user_id = f.user_id AND t.entity_id IN (f.thing_id, f.subject_id) AND NOT t.is_user
WHERE c.status = 'open' AND c.reason = 'retraction'
