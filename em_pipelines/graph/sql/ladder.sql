-- Active edges of the relations that know no circle, of the people of whom such were touched today.
WITH joined AS (
    SELECT
        e.edge_id, e.user_id, e.learned_at, k.relation_key, k.is_inverse, k.is_symmetric,
        coalesce(s.canonical_id, e.subject_id) AS subject_now, coalesce(o.canonical_id, e.object_id) AS object_now
    FROM edges AS e
    JOIN relation_kinds AS k USING (relation)
    LEFT JOIN merged AS s ON s.entity_id = e.subject_id
    LEFT JOIN merged AS o ON o.entity_id = e.object_id
    WHERE k.relation_key IN (SELECT relation_key FROM acyclic)
      AND e.status = 'active' AND e.polarity = 1 AND NOT e.requires_verification AND e.object_id IS NOT NULL
      AND e.user_id IN (SELECT user_id FROM live SEMI JOIN acyclic USING (relation_key))
      AND e.edge_id NOT IN (SELECT edge_id FROM live)
)
SELECT
    edge_id, user_id, learned_at, relation_key,
    CASE WHEN is_inverse THEN object_now ELSE subject_now END AS subject_key,
    CASE WHEN is_inverse THEN subject_now ELSE object_now END AS target_key,
    false AS is_today
FROM joined
UNION ALL
SELECT edge_id, user_id, learned_at, relation_key, subject_key, target_key, true AS is_today
FROM live SEMI JOIN acyclic USING (relation_key)
WHERE status = 'active' AND polarity = 1 AND NOT requires_verification AND object_id IS NOT NULL
