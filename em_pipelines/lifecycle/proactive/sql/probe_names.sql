-- Names that a question may have to say, each once with its type.
SELECT DISTINCT f.name, f.entity_type
FROM probe_own AS f
SEMI JOIN probe_premises AS p ON p.relation = f.relation
UNION
SELECT name, entity_type FROM probe_things
WHERE entity_type = 'person' AND is_open AND NOT is_user AND mention_count >= getvariable('min_mentions')
UNION
SELECT role || ' ' || name, 'namesake' FROM probe_namesakes
