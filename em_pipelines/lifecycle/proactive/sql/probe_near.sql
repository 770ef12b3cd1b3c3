-- What is not known of the person where something near it is: of several premises the one that was spoken of last. Where
-- the question does not say its name, nothing of the question does.
INSERT INTO probe_candidates
SELECT
    g.template, f.user_id, g.template, arg_max(f.edge_id, (f.spoken_at, f.edge_id)), NULL,
    CASE WHEN any_value(g.shape) IS NOT NULL THEN arg_max(f.thing_id, (f.spoken_at, f.edge_id)) END,
    CASE WHEN any_value(g.shape) IS NOT NULL THEN arg_max(f.name, (f.spoken_at, f.edge_id)) END,
    CASE WHEN any_value(g.shape) IS NOT NULL THEN arg_max(f.entity_type, (f.spoken_at, f.edge_id)) END, NULL, NULL,
    max(f.importance), max(f.reach), arg_max(f.context_tags, (f.spoken_at, f.edge_id)), min(f.learned_at),
    max(f.spoken_at), arg_max(f.session_id, (f.spoken_at, f.edge_id)), arg_max(f.turn_number, (f.spoken_at, f.edge_id))
FROM probe_own AS f
JOIN probe_premises AS p ON p.relation = f.relation AND (len(p.types) = 0 OR list_contains(p.types, f.entity_type))
JOIN (FROM probe_gaps WHERE form = 'near') AS g ON g.template = p.template
LEFT JOIN probe_shapes AS s ON s.name = f.name AND s.entity_type = f.entity_type AND s.shape = g.shape
WHERE
    f.polarity = 1 AND f.is_premise AND (g.shape IS NULL OR s.shape IS NOT NULL)
    AND NOT EXISTS (FROM probe_answers AS a WHERE a.user_id = f.user_id AND a.template = g.template)
GROUP BY g.template, f.user_id
HAVING NOT bool_or(coalesce(regexp_matches(coalesce(f.statement, ''), g.unless_said, 'i'), false))
