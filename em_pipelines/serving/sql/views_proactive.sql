-- What memory would say by itself and what became of it, and everything that came to pass, in one trail.

CREATE VIEW starter_funnel AS
WITH heard AS (
    SELECT DISTINCT user_id, payload ->> '$.starter_id' AS starter_id, substr(type, 9) AS status
    FROM feedback WHERE starts_with(type, 'starter_')
),
stated AS (
    SELECT user_id, starter_id, status FROM starters
    UNION
    SELECT user_id, coalesce(starter_id, 'unnamed') AS starter_id, status FROM heard
),
reached AS (
    SELECT
        user_id, starter_id, bool_or(status IN ('delivered', 'engaged', 'dismissed')) AS is_delivered,
        bool_or(status = 'engaged') AS is_engaged, bool_or(status = 'dismissed') AS is_dismissed,
        bool_or(status = 'expired') AS is_expired
    FROM stated GROUP BY ALL
)
SELECT
    r.user_id, coalesce(k.kind, 'unknown') AS kind, count(*) AS n_generated,
    count(*) FILTER (is_expired) AS n_expired, count(*) FILTER (is_delivered) AS n_delivered,
    count(*) FILTER (is_engaged) AS n_engaged, count(*) FILTER (is_dismissed) AS n_dismissed,
    count(*) FILTER (is_delivered) / count(*) AS delivered_share,
    count(*) FILTER (is_engaged) / nullif(count(*) FILTER (is_delivered), 0) AS engaged_share
FROM reached AS r
LEFT JOIN starters AS k USING (user_id, starter_id)
GROUP BY ALL
ORDER BY r.user_id, kind;
COMMENT ON VIEW starter_funnel IS 'Of the openings that memory would say: how many were, and what became of them.';

-- The trail of the days, and what is made of the newest day alone or was done at night: in no table of the days, since
-- each is made again or taken back as a whole.
CREATE VIEW audit_events AS
WITH said AS (
    SELECT
        'probe_generated' AS event_type, 'probes' AS component, probe_id AS target, generated_at AS timestamp,
        correlation_id, user_id, entity_id, edge_id, gap AS decision_reasoning, value, kind, template
    FROM probes
    UNION ALL
    SELECT
        'starter_generated', 'starters', starter_id, generated_at, correlation_id, user_id, NULL, edge_id,
        concat_ws(' ', template, occasion_on), value, kind, template
    FROM starters
),
last_night AS (FROM nights WHERE is_standing ORDER BY until DESC LIMIT 1),
decided AS (
    SELECT
        CASE WHEN p.verdict = 'quarantined' THEN 'rule_quarantined' ELSE 'experience_promoted' END AS event_type,
        n.until AS timestamp, n.consolidation_id, p.user_id, p.experience_id, p.kind, p.verdict,
        CASE WHEN p.verdict = 'quarantined' THEN concat_ws(': ', p.gate, p.reason) ELSE p.reason END AS decision_reasoning
    FROM promotions AS p
    -- What is kept out is kept out by the last night, whichever saw it first.
    JOIN nights AS n ON n.consolidation_id = coalesce(p.consolidation_id, (SELECT consolidation_id FROM last_night))
    WHERE n.is_standing AND p.verdict IN ('quarantined', 'promoted')
),
kept_back AS (
    SELECT DISTINCT
        k.timestamp, k.user_id, k.target, k.kind, k.reason,
        coalesce(p.correlation_id, k.target) AS correlation_id, p.entity_id, p.edge_id
    FROM probe_suppressions AS k
    LEFT JOIN probes AS p ON p.user_id = k.user_id AND p.probe_id = k.target
    WHERE starts_with(k.target, 'probe_')
),
taken_back AS (
    SELECT consolidation_id, until AS timestamp FROM nights WHERE NOT is_standing
)
SELECT * FROM audit_trail
UNION ALL BY NAME
SELECT
    'evt_' || left(sha256(event_type || chr(31) || target), 20) AS id, timestamp, correlation_id, event_type, component,
    'GENERATE' AS operation, user_id, entity_id, edge_id, decision_reasoning,
    CAST(json_object('id', target, 'kind', kind, 'template', template, 'value', value) AS VARCHAR) AS metadata
FROM said
UNION ALL BY NAME
SELECT
    'evt_' || left(sha256(concat_ws(chr(31), 'probe_suppressed', target, reason, epoch_us(timestamp))), 20) AS id,
    timestamp, correlation_id, 'probe_suppressed' AS event_type, 'delivery' AS component, 'SUPPRESS' AS operation, user_id,
    entity_id, edge_id, reason AS decision_reasoning,
    CAST(json_object('id', target, 'kind', kind) AS VARCHAR) AS metadata
FROM kept_back
UNION ALL BY NAME
SELECT
    'evt_' || left(sha256(event_type || chr(31) || experience_id || chr(31) || coalesce(consolidation_id, '')), 20) AS id,
    timestamp, consolidation_id AS correlation_id, event_type, 'consolidation' AS component, 'NIGHT' AS operation, user_id,
    decision_reasoning,
    CAST(json_object('experience_id', experience_id, 'kind', kind, 'verdict', verdict) AS VARCHAR) AS metadata
FROM decided
UNION ALL BY NAME
SELECT
    'evt_' || left(sha256('rule_rolled_back' || chr(31) || consolidation_id), 20) AS id, timestamp,
    consolidation_id AS correlation_id, 'rule_rolled_back' AS event_type, 'consolidation' AS component,
    'ROLLBACK' AS operation, 'the night was taken back' AS decision_reasoning
FROM taken_back;
COMMENT ON VIEW audit_events IS 'audit_trail, with what probes, starters and nights came to: everything that came to pass.';
