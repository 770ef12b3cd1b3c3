-- Facts that may have changed: the day on which confidence in them fell below the bound, by the closed form of decay.
INSERT INTO probe_candidates
WITH fading AS (
    SELECT
        g.template, f.*,
        days_until_below(f.confidence, f.temporal_type, getvariable('stale_below_confidence')) AS n_days
    FROM probe_own AS f
    JOIN probe_premises AS p ON p.relation = f.relation AND (len(p.types) = 0 OR list_contains(p.types, f.entity_type))
    JOIN (FROM probe_gaps WHERE form = 'stale') AS g ON g.template = p.template
    WHERE
        f.polarity = 1 AND f.status = 'active' AND f.temporal_type IN ('state', 'trait') AND f.hedge_level IN ('none', 'slight')
        AND NOT list_contains(f.flags, 'attribution_uncertain')
        AND f.effective_confidence < getvariable('stale_below_confidence')
        AND (
            f.confidence >= getvariable('stale_below_confidence')
            OR f.source_mechanism IN ('imported', 'observational', 'inferential')
        )
)
SELECT
    f.template, f.user_id, concat_ws(chr(31), f.edge_id, CAST(CAST(f.last_reinforced AS DATE) AS VARCHAR)), f.edge_id,
    NULL, f.thing_id, f.name, f.entity_type, NULL, NULL, f.importance, least(1.0, f.reinforcement_count / 3.0),
    f.context_tags,
    greatest(f.last_reinforced, CAST(CAST(f.last_reinforced AS DATE) + CAST(f.n_days AS INTEGER) AS TIMESTAMPTZ)),
    u.spoke_at, f.session_id, f.turn_number
FROM fading AS f
JOIN probe_users AS u ON u.user_id = f.user_id
WHERE f.n_days IS NOT NULL
