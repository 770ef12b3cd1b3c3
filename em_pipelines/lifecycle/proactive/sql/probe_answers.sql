-- Which gaps of the remembered person have an answer. A negated fact answers where there may be several, not where there
-- is one: who does not work at one place works at another.
CREATE OR REPLACE TEMP TABLE probe_answers AS
SELECT DISTINCT f.user_id, m.template
FROM probe_facts AS f
JOIN probe_missing AS m ON m.relation = f.relation
LEFT JOIN probe_things AS t ON t.user_id = f.user_id AND t.entity_id = f.thing_id
WHERE
    f.is_users AND NOT list_contains(f.flags, 'hypothetical') AND (f.polarity = 1 OR NOT m.is_functional)
    AND (len(m.types) = 0 OR list_contains(m.types, t.entity_type) OR list_has_any(m.types, f.context_tags))
