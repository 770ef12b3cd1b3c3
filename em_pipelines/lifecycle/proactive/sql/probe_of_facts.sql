-- Facts that could be more exact, or of which it is not sure whose they are.
INSERT INTO probe_candidates
SELECT
    g.template, f.user_id, concat_ws(chr(31), g.template, f.edge_id), f.edge_id, NULL, f.thing_id, f.name,
    f.entity_type, NULL, NULL, f.importance, f.reach, f.context_tags, f.learned_at, f.spoken_at, f.session_id,
    f.turn_number
FROM probe_own AS f
JOIN probe_premises AS p ON p.relation = f.relation AND (len(p.types) = 0 OR list_contains(p.types, f.entity_type))
JOIN (FROM probe_gaps WHERE form IN ('broad', 'alone', 'hedged', 'uncertain')) AS g ON g.template = p.template
WHERE
    f.polarity = 1 AND f.is_premise
    AND (g.form = 'uncertain') = list_contains(f.flags, 'attribution_uncertain')
    AND CASE g.form
        WHEN 'broad' THEN list_contains(g.words, lower(f.name))
        WHEN 'alone' THEN f.over IS NULL
        WHEN 'hedged' THEN f.hedge_level IN ('moderate', 'strong')
        ELSE true
    END
    -- Who likes something else of the sort since has said what there is instead.
    AND (
        g.form <> 'alone'
        OR NOT EXISTS (
            FROM probe_own AS k
            WHERE k.user_id = f.user_id AND k.relation IN ('likes', 'prefers') AND k.polarity = 1
                AND k.entity_type = f.entity_type AND k.thing_id <> f.thing_id AND k.learned_at > f.learned_at
        )
    )
    -- Who likes music, and jazz, has said what kind.
    AND (
        g.form <> 'broad'
        OR NOT EXISTS (
            FROM probe_facts AS k JOIN probe_premises AS q ON q.relation = k.relation AND q.template = g.template
            WHERE k.user_id = f.user_id AND k.is_users AND k.thing_id <> f.thing_id
                AND list_has_any(k.context_tags, f.context_tags)
        )
    )
