-- The day's events. Every source table gives its own; what an operation is called there decides the type here.
-- Of many days at once: `trail_day` is the day that an event is told on.
WITH ends AS (
    SELECT edge_id, subject_id FROM edges SEMI JOIN graph_ops USING (edge_id)
    UNION
    SELECT edge_id, subject_id FROM state_edges SEMI JOIN graph_ops USING (edge_id)
),
of_graph AS (
    SELECT
        CASE
            WHEN o.operation = 'DELETE' THEN 'edge_deleted_by_user'
            WHEN o.operation IN ('CONFIRM', 'RETRACT') OR o.source_mechanism = 'user_correction' THEN 'fact_corrected'
            WHEN o.operation = 'INSERT' THEN 'edge_created'
            WHEN o.operation = 'REINFORCE' THEN 'edge_reinforced'
            WHEN o.operation = 'CONTRADICT' THEN 'edge_contradicted'
            WHEN o.operation = 'REVISE' THEN 'edge_revised'
        END AS event_type,
        o.op_id AS source_id, '' AS occasion, o.timestamp, o.correlation_id, 'fold' AS component, o.operation,
        o.user_id, e.subject_id AS entity_id, o.edge_id, o.before AS old_value, o.after AS new_value,
        o.confidence_before, o.confidence_after, o.source_mechanism, o.session_id, o.reason AS decision_reasoning,
        o.trail_day,
        CAST(to_json({'claim_id': o.claim_id, 'op_id': o.op_id, 'turn_number': o.turn_number}) AS VARCHAR) AS metadata
    FROM graph_ops AS o
    LEFT JOIN ends AS e USING (edge_id)
),
of_registry AS (
    SELECT
        CASE operation
            WHEN 'CREATE' THEN 'entity_created' WHEN 'MERGE' THEN 'entity_merged' WHEN 'SPLIT' THEN 'entity_split'
            WHEN 'DELETE' THEN 'entity_deleted_by_user'
        END AS event_type,
        op_id AS source_id, '' AS occasion, timestamp, correlation_id, 'resolution' AS component, operation,
        user_id, entity_id, CASE WHEN operation = 'SPLIT' THEN other_id END AS old_value,
        CASE WHEN operation = 'MERGE' THEN other_id END AS new_value, session_id, reason AS decision_reasoning, trail_day,
        CAST(to_json({'method': method, 'op_id': op_id, 'score': score, 'turn_number': turn_number}) AS VARCHAR)
            AS metadata
    FROM entity_ops
),
of_extraction AS (
    SELECT
        CASE WHEN issue IN (SELECT issue FROM hallucinations) THEN 'hallucination_detected'
            ELSE 'extraction_skipped' END AS event_type,
        issue_id AS source_id, '' AS occasion, timestamp, correlation_id, 'extraction' AS component,
        issue AS operation, user_id, session_id, concat_ws(': ', reason, nullif(detail, '')) AS decision_reasoning,
        trail_day,
        CAST(to_json({
            'extractor': extractor, 'message_id': message_id, 'severity': severity, 'turn_number': turn_number
        }) AS VARCHAR) AS metadata
    FROM extraction_issues
    WHERE issue IN (SELECT issue FROM hallucinations) OR issue IN (SELECT issue FROM skips)
),
of_time AS (
    SELECT
        CASE WHEN old_status = new_status THEN 'edge_decayed' ELSE 'edge_archived' END AS event_type,
        edge_id AS source_id, CAST(faded_on AS VARCHAR) AS occasion,
        timezone('UTC', CAST(faded_on AS TIMESTAMP)) AS timestamp,
        'cor_' || left(sha256(concat_ws(
            chr(31), 'cor', id_part(user_id), id_part(provenance[-1].session_id),
            id_part(CAST(provenance[-1].turn_number AS VARCHAR))
        )), 20) AS correlation_id,
        'decay' AS component,
        CASE new_status WHEN 'expired' THEN 'EXPIRE' WHEN 'archived' THEN 'ARCHIVE' ELSE 'DECAY' END AS operation,
        user_id, subject_id AS entity_id, edge_id,
        CAST(to_json({'band': band(confidence_before), 'status': old_status}) AS VARCHAR) AS old_value,
        CAST(to_json({'band': band(confidence_after), 'status': new_status}) AS VARCHAR) AS new_value,
        confidence_before, confidence_after, source_mechanism, provenance[-1].session_id AS session_id,
        CASE new_status
            WHEN 'expired' THEN 'its time is over' WHEN 'archived' THEN 'too little confidence is left'
            ELSE 'not said again for long enough to fall into a lower band'
        END AS decision_reasoning,
        trail_day
    FROM faded
),
of_feedback AS (
    SELECT
        CASE WHEN type = 'revision' THEN 'revision_' || (payload ->> 'outcome') ELSE type END AS event_type,
        feedback_id AS source_id, '' AS occasion, f.timestamp,
        coalesce(o.correlation_id, feedback_id) AS correlation_id,
        CASE WHEN type = 'revision' THEN 'revision' ELSE 'feedback' END AS component, type AS operation, f.user_id,
        coalesce(payload ->> 'edge_id', o.edge_id) AS edge_id, payload ->> 'new_object' AS new_value,
        f.session_id, coalesce(payload ->> 'source', 'feedback') AS decision_reasoning, payload AS metadata,
        f.trail_day
    FROM feedback AS f
    LEFT JOIN (
        SELECT trail_day, claim_id, min(edge_id) AS edge_id, min(correlation_id) AS correlation_id
        FROM graph_ops
        GROUP BY ALL
    ) AS o ON o.claim_id = f.feedback_id AND o.trail_day = f.trail_day
    WHERE type IN (SELECT type FROM feedback_events)
       OR (type = 'revision' AND payload ->> 'outcome' IN ('verified', 'changed'))
),
of_inference AS (
    SELECT
        'inference_created' AS event_type, edge_id AS source_id, CAST(trail_day AS VARCHAR) AS occasion,
        timezone('UTC', CAST(trail_day AS TIMESTAMP)) AS timestamp, edge_id AS correlation_id,
        'inference' AS component, rule_id AS operation, user_id, subject_id AS entity_id, edge_id,
        confidence AS confidence_after, 'inferential' AS source_mechanism,
        concat('follows from ', len(premises), ' facts by rule ', rule_id) AS decision_reasoning,
        CAST(to_json({'hops': hops, 'premises': premises}) AS VARCHAR) AS metadata,
        trail_day
    FROM inferred_edges
    ANTI JOIN state_inferred_edges USING (trail_day, edge_id)
),
of_erasures AS (
    SELECT
        told.event_type, erasure_id AS source_id, '' AS occasion, timestamp, erasure_id AS correlation_id,
        'erasure' AS component, 'DELETE' AS operation,
        concat('erased on request of ', actor, ', scope ', scope, ', certificate ', erasure_id) AS decision_reasoning,
        trail_day, CAST(to_json({'n': told.n}) AS VARCHAR) AS metadata
    FROM erasures, unnest([
        {'event_type': 'edge_deleted_by_user', 'n': n_edges}, {'event_type': 'entity_deleted_by_user', 'n': n_entities}
    ]) AS of_kind (told)
    WHERE told.n > 0
),
events AS (
    FROM of_graph
    UNION ALL BY NAME FROM of_registry
    UNION ALL BY NAME FROM of_extraction
    UNION ALL BY NAME FROM of_time
    UNION ALL BY NAME FROM of_feedback
    UNION ALL BY NAME FROM of_inference
    UNION ALL BY NAME FROM of_erasures
)
SELECT audit_hash(event_type, source_id, occasion) AS id, * EXCLUDE (source_id, occasion)
FROM events
