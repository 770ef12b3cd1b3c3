-- Ten a user: half say what is known, half something new.
SELECT
    'claim_' || i AS claim_id, 'ext_' || i AS extraction_id,
    'user' || lpad(CAST(i % (getvariable('n_edges') // getvariable('edges_per_user')) AS VARCHAR), 7, '0') AS user_id,
    'today' AS session_id, i AS turn_number, 'msg_' || i AS message_id, 'seg_' || i AS segment_id,
    getvariable('day') + to_seconds(i % 86400) AS timestamp, 'assert' AS act, 'name ' || i % 40 AS subject,
    'person' AS subject_type, made_relation(i % 6) AS relation, 'name ' || i * 7 % 200 AS object, 'concept' AS object_type,
    CAST(NULL AS VARCHAR) AS value, CAST(NULL AS VARCHAR) AS attribute, CAST(NULL AS VARCHAR) AS "over", 1 AS polarity,
    made_type(i % 6) AS temporal_type, CAST(NULL AS DATE) AS valid_from, CAST(NULL AS DATE) AS valid_to,
    CAST(NULL AS VARCHAR) AS valid_precision, 'none' AS hedge_level, 0.9 AS confidence, 'explicit' AS source_mechanism,
    CAST([] AS VARCHAR[]) AS flags, CAST([] AS VARCHAR[]) AS context_tags, 'L2' AS privacy_level,
    false AS requires_verification, false AS has_pasted_source, CAST(NULL AS VARCHAR) AS pattern_id, 0 AS span_start,
    9 AS span_end, 'bench@1' AS extractor, 'cor_' || i AS correlation_id
FROM range(getvariable('n_claims')) AS r(i)
