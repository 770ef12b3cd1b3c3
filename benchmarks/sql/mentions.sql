SELECT
    'men_' || i || '_' || e AS mention_id, user_number AS user_id, 'today' AS session_id, i AS turn_number,
    'msg_' || i AS message_id, 'seg_' || i AS segment_id,
    CASE e WHEN 0 THEN 'name ' || i % 40 ELSE 'name ' || i * 7 % 200 END AS name, 'concept' AS entity_type,
    CAST(NULL AS VARCHAR) AS role, 0 AS span_start, 5 AS span_end, true AS is_explicit, 'bench@1' AS extractor,
    getvariable('day') + to_seconds(i % 86400) AS timestamp, 'cor_' || i AS correlation_id
FROM (
    SELECT
        i, 'user' || lpad(CAST(i % (getvariable('n_edges') // getvariable('edges_per_user')) AS VARCHAR), 7, '0')
            AS user_number
    FROM range(getvariable('n_claims')) AS r(i)
), range(2) AS ends(e)
