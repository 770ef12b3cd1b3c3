SELECT
    made_entity(u, n) AS entity_id, 'user' || lpad(CAST(u AS VARCHAR), 7, '0') AS user_id, 'name ' || n AS canonical_name,
    'name ' || n AS name_key, CAST([] AS VARCHAR[]) AS aliases, CAST([] AS VARCHAR[]) AS alias_keys,
    'concept' AS entity_type, CAST(getvariable('day') - 400 AS TIMESTAMPTZ) AS first_seen,
    CAST(getvariable('day') - 1 AS TIMESTAMPTZ) AS last_referenced, 3 AS mention_count, 0.3 AS importance,
    1.0 AS certainty, 'L2' AS privacy_level, false AS requires_verification, CAST([] AS VARCHAR[]) AS qualifiers,
    CASE WHEN n % 20 = 19 THEN made_entity(u, n - 1) END AS merged_into,
    CASE WHEN n % 20 = 19 THEN CAST(getvariable('day') - 100 AS TIMESTAMPTZ) END AS merged_at,
    CAST([] AS VARCHAR[]) AS distinct_from, '' AS discriminator,
    CAST([] AS STRUCT(entity_id VARCHAR, method VARCHAR, score DOUBLE, linked_at TIMESTAMPTZ)[]) AS links, CASE WHEN n % 20 = 19 THEN 'merged' ELSE 'active' END AS status
FROM range(getvariable('n_edges') // getvariable('edges_per_user')) AS users(u), range(200) AS names(n)
