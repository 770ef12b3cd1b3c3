SELECT
    'edge_' || left(sha256(CAST(i AS VARCHAR)), 20) AS edge_id,
    made_user(i) AS user_id,
    made_entity(i // getvariable('edges_per_user'), i % getvariable('edges_per_user') // 25) AS subject_id,
    made_relation(i) AS relation,
    CASE WHEN i % 8 <> 6 THEN made_entity(i // getvariable('edges_per_user'), i % 200) END AS object_id,
    CASE WHEN i % 8 = 6 THEN 'value ' || i END AS value,
    CASE WHEN i % 8 = 6 THEN 'key ' || i % 97 END AS attribute,
    CAST(NULL AS VARCHAR) AS "over",
    CASE WHEN i % 8 <> 6 THEN made_entity(i // getvariable('edges_per_user'), i % 200) ELSE 'value ' || i END AS object_key,
    1 + i % 25 AS spell, 1 AS polarity, made_type(i) AS temporal_type,
    CASE WHEN i % 8 = 7 THEN getvariable('day') - CAST(i % 300 AS INTEGER) END AS valid_from,
    CAST(NULL AS DATE) AS valid_to,
    CASE WHEN i % 8 = 7 THEN 'day' END AS valid_precision,
    getvariable('day') - to_days(CAST(1 + i % 700 AS INTEGER)) AS learned_at, CAST(NULL AS TIMESTAMPTZ) AS unlearned_at,
    getvariable('day') - to_days(CAST(1 + i % 300 AS INTEGER)) AS last_reinforced,
    (ARRAY[0.9, 0.8, 0.65, 0.45, 0.3])[1 + i % 5] AS confidence, i % 3 AS reinforcement_count,
    'none' AS hedge_level, 'explicit' AS source_mechanism, CAST([] AS VARCHAR[]) AS flags,
    CAST([] AS VARCHAR[]) AS context_tags, 'L2' AS privacy_level, false AS requires_verification,
    i % 50 = 0 AS has_pasted_source,
    CASE WHEN i % 9 = 0 THEN 'superseded' ELSE 'active' END AS status,
    CAST(NULL AS VARCHAR) AS supersedes, CAST(NULL AS VARCHAR) AS superseded_by, CAST(NULL AS VARCHAR) AS contradicts,
    [{
        'session_id': 's' || i % 5000, 'turn_number': i % 40, 'span_start': 3, 'span_end': 40,
        'extraction_id': 'ext_' || left(sha256(CAST(i % 50000 AS VARCHAR)), 20)
    }] AS provenance
FROM range(getvariable('n_edges')) AS r(i)
