-- What each day added to the counters, and what the gauges were at its end: metric_day, name, labels, value. Labels are
-- JSON with sorted keys; buckets count what is at most their end, as in Prometheus.
WITH changed AS (
    SELECT
        o.metric_day, o.operation, coalesce(e.relation, c.relation, 'unknown') AS relation,
        coalesce(e.temporal_type, c.temporal_type, 'unknown') AS temporal_type
    FROM graph_ops AS o
    LEFT JOIN (SELECT metric_day, edge_id, relation, temporal_type FROM state_current_edges) AS e
        ON e.metric_day = o.metric_day AND e.edge_id = o.edge_id
    LEFT JOIN (
        SELECT metric_day, claim_id, min(relation) AS relation, min(temporal_type) AS temporal_type
        FROM claims GROUP BY ALL
    ) AS c ON c.metric_day = o.metric_day AND c.claim_id = o.claim_id
),
unread AS (
    SELECT metric_day, message_id, min(CASE issue WHEN 'dead_letter' THEN 'dead_letter' ELSE 'skipped' END) AS status
    FROM extraction_issues
    WHERE issue IN ('dead_letter', 'skipped')
    GROUP BY ALL
),
waits AS (SELECT DISTINCT metric_day, message_id FROM extraction_issues WHERE issue = 'pending'),
of_messages AS (
    SELECT m.metric_day, coalesce(u.status, CASE WHEN w.message_id IS NULL THEN 'read' ELSE 'pending' END) AS status
    FROM messages AS m
    LEFT JOIN unread AS u USING (metric_day, message_id)
    LEFT JOIN waits AS w USING (metric_day, message_id)
),
doubts AS (
    SELECT i.metric_day, h.stage FROM extraction_issues AS i JOIN hallucinations AS h ON h.issue = i.issue
),
reached AS (
    SELECT metric_day, 'landing' AS stage, 'landed' AS status FROM interactions
    UNION ALL SELECT metric_day, 'landing', 'dead_letter' FROM dead_letters
    WHERE status <> 'replayed' AND reason <> 'other_branch'
    UNION ALL SELECT metric_day, 'reading', status FROM of_messages
    UNION ALL SELECT metric_day, 'verification', 'kept' FROM claims
    UNION ALL SELECT metric_day, 'verification', 'kept' FROM mentions
    UNION ALL SELECT metric_day, 'verification', 'doubted' FROM doubts
),
standing AS (
    SELECT metric_day, relation, temporal_type, effective_confidence AS confidence
    FROM state_current_edges WHERE status IN ('active', 'contradicted')
),
calls AS (SELECT *, prompt_tokens + completion_tokens AS n_tokens FROM llm_calls),
asked AS (FROM calls WHERE NOT is_cache_hit),
heard AS (
    SELECT metric_day, type, coalesce(payload ->> '$.kind', 'unknown') AS kind, payload ->> '$.outcome' AS outcome
    FROM feedback
),
counted AS (
    SELECT metric_day, 'em_extraction_total' AS name, to_json({'stage': stage, 'status': status}) AS labels FROM reached
    UNION ALL
    SELECT
        metric_day, 'em_entities_extracted',
        to_json({
            'source_mechanism': CASE WHEN is_explicit THEN 'explicit' ELSE 'inferential' END, 'type': entity_type
        })
    FROM mentions
    UNION ALL
    SELECT metric_day, 'em_edges_created', to_json({'relation': relation, 'temporal_type': temporal_type})
    FROM changed WHERE operation = 'INSERT'
    UNION ALL
    SELECT metric_day, 'em_edges_reinforced', to_json({'relation': relation}) FROM changed WHERE operation = 'REINFORCE'
    UNION ALL
    SELECT metric_day, 'em_edges_contradicted', to_json({'relation': relation})
    FROM changed WHERE operation = 'CONTRADICT'
    UNION ALL
    SELECT
        metric_day, 'em_edges_archived',
        to_json({'reason': CASE operation WHEN 'EXPIRE' THEN 'expired' ELSE 'faded' END})
    FROM audit_trail WHERE event_type = 'edge_archived'
    UNION ALL
    SELECT metric_day, 'em_graph_nodes_total', to_json({'type': entity_type})
    FROM state_entities WHERE status = 'active'
    UNION ALL
    SELECT metric_day, 'em_graph_edges_total', to_json({'relation': relation}) FROM standing
    UNION ALL
    SELECT metric_day, 'em_probe_' || substr(type, 7), to_json({'type': kind})
    FROM heard WHERE type IN ('probe_delivered', 'probe_accepted')
    UNION ALL
    SELECT metric_day, 'em_starter_' || substr(type, 9), to_json({'type': kind})
    FROM heard WHERE type IN ('starter_delivered', 'starter_engaged')
    UNION ALL
    SELECT metric_day, 'em_hallucination_detected', to_json({'stage': stage}) FROM doubts
    UNION ALL
    SELECT metric_day, 'em_llm_errors', to_json({'error_type': error_type, 'model': model})
    FROM calls WHERE error_type IS NOT NULL
    UNION ALL
    SELECT metric_day, 'em_revision_edges_processed', to_json({'action': coalesce(outcome, 'unknown')})
    FROM heard WHERE type = 'revision'
    UNION ALL
    SELECT metric_day, 'em_inference_edges_created', JSON '{}' FROM audit_trail WHERE event_type = 'inference_created'
    UNION ALL
    SELECT metric_day, 'em_user_corrections', to_json({'correction_type': type})
    FROM heard WHERE type IN ('correct', 'confirm', 'retract', 'merge', 'split', 'forget')
),
buckets AS (
    SELECT
        s.metric_day, 'em_confidence_distribution_bucket' AS name,
        to_json({'le': b.shown, 'temporal_type': s.temporal_type}) AS labels,
        count(*) FILTER (s.confidence <= b.le) AS value
    FROM standing AS s CROSS JOIN confidence_buckets AS b
    GROUP BY ALL
    UNION ALL
    SELECT
        a.metric_day, 'em_llm_latency_ms_bucket', to_json({'le': b.shown, 'model': a.model, 'task': a.task}),
        count(*) FILTER (a.latency_ms <= b.le)
    FROM asked AS a CROSS JOIN duration_buckets AS b
    GROUP BY ALL
),
summed AS (
    SELECT
        metric_day, 'em_confidence_distribution' AS name, to_json({'temporal_type': temporal_type}) AS labels,
        sum(confidence) AS total, count(*) AS n
    FROM standing GROUP BY ALL
    UNION ALL
    SELECT metric_day, 'em_llm_latency_ms', to_json({'model': model, 'task': task}), sum(latency_ms), count(*)
    FROM asked GROUP BY ALL
),
told AS (
    SELECT metric_day, name, labels, count(*) AS value FROM counted GROUP BY ALL
    UNION ALL
    SELECT metric_day, 'em_llm_tokens_used', to_json({'model': model, 'task': task}), sum(n_tokens)
    FROM asked GROUP BY ALL
    UNION ALL SELECT metric_day, name, labels, value FROM buckets
    UNION ALL SELECT metric_day, name || '_sum', labels, total FROM summed
    UNION ALL SELECT metric_day, name || '_count', labels, n FROM summed
)
SELECT
    metric_day, timezone('UTC', CAST(metric_day AS TIMESTAMP)) AS timestamp, name, CAST(labels AS VARCHAR) AS labels,
    CAST(value AS DOUBLE) AS value
FROM told
