-- What is not known of a thing or person that the remembered one has to do with.
INSERT INTO probe_candidates
SELECT
    g.template, f.user_id, concat_ws(chr(31), g.template, f.thing_id), arg_min(f.edge_id, (f.learned_at, f.edge_id)),
    NULL, f.thing_id, any_value(f.name), any_value(f.entity_type), NULL, NULL, any_value(f.importance),
    any_value(f.reach), list_distinct(flatten(list(f.context_tags))), min(f.learned_at), max(f.spoken_at),
    arg_min(f.session_id, (f.learned_at, f.edge_id)), arg_min(f.turn_number, (f.learned_at, f.edge_id))
FROM probe_own AS f
JOIN probe_premises AS p ON p.relation = f.relation AND (len(p.types) = 0 OR list_contains(p.types, f.entity_type))
JOIN (FROM probe_gaps WHERE form = 'thing') AS g ON g.template = p.template
WHERE
    f.polarity = 1 AND f.is_premise
    AND (len(g.words) = 0 OR list_contains(g.words, lower(f.name)))
    AND (NOT g.is_undated OR (f.valid_from IS NULL AND NOT regexp_matches(coalesce(f.statement, ''), getvariable('dated'), 'i')))
    AND (g.unless_said IS NULL OR NOT regexp_matches(coalesce(f.statement, ''), g.unless_said, 'i'))
    AND NOT EXISTS (
        FROM probe_facts AS k JOIN probe_missing AS m ON m.relation = k.relation
        WHERE m.template = g.template AND k.user_id = f.user_id AND k.subject_id = f.thing_id AND k.polarity = 1
    )
    -- A brother told of by name since is taken for the one who had none: `What is your brother's name?` `Tomasz.`
    AND NOT (
        EXISTS (FROM probe_missing AS m WHERE m.template = g.template AND m.relation = 'has_name')
        AND EXISTS (
            FROM probe_own AS k JOIN probe_shapes AS s ON s.name = k.name AND s.entity_type = k.entity_type
            WHERE k.user_id = f.user_id AND k.relation = f.relation AND k.polarity = 1 AND s.shape = 'person'
                AND k.thing_id <> f.thing_id AND k.learned_at > f.learned_at
        )
    )
GROUP BY g.template, f.user_id, f.thing_id
