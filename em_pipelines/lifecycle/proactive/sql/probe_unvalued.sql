-- What the person does or has to do with, and nobody knows whether they like it.
INSERT INTO probe_candidates
SELECT
    g.template, f.user_id, concat_ws(chr(31), g.template, f.thing_id), arg_min(f.edge_id, (f.learned_at, f.edge_id)),
    NULL, f.thing_id, any_value(f.name), any_value(f.entity_type), NULL, NULL, any_value(f.importance),
    any_value(f.reach), list_distinct(flatten(list(f.context_tags))), min(f.learned_at), max(f.spoken_at),
    arg_min(f.session_id, (f.learned_at, f.edge_id)), arg_min(f.turn_number, (f.learned_at, f.edge_id))
FROM probe_own AS f
JOIN probe_premises AS p ON p.relation = f.relation AND (len(p.types) = 0 OR list_contains(p.types, f.entity_type))
JOIN (FROM probe_gaps WHERE form = 'unvalued') AS g ON g.template = p.template
WHERE
    f.polarity = 1 AND f.is_premise
    AND NOT EXISTS (
        FROM probe_facts AS k JOIN probe_missing AS m ON m.relation = k.relation
        WHERE m.template = g.template AND k.user_id = f.user_id AND k.is_users AND k.thing_id = f.thing_id
    )
    AND (g.unless_said IS NULL OR NOT regexp_matches(coalesce(f.statement, ''), g.unless_said, 'i'))
GROUP BY g.template, f.user_id, f.thing_id
