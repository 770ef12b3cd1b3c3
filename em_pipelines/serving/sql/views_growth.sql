-- How far memory has come with each person, and whether it gets better.

-- What each stage needs, least first; every stage needs those before it.
CREATE VIEW cold_start_stages AS
FROM (VALUES
    (0, 'empty', 0, 0, 0, NULL), (1, 'seeded', 0, 1, 0, NULL), (2, 'learning', 1, 0, 0, NULL),
    (3, 'minimum_viable', 10, 20, 5, NULL), (4, 'functional', 30, 80, 5, 'probe'),
    (5, 'mature', 100, 80, 5, 'experience'), (6, 'expert', 500, 80, 5, 'procedure')
) AS stages(stage_number, stage, n_interactions, n_edges, n_entities, also);
COMMENT ON VIEW cold_start_stages IS 'What each stage needs: interactions, facts, entities, the first of something.';

-- What is there, in the units of the stages: an interaction is a message of the person; facts are those that stand.
CREATE VIEW user_figures AS
WITH people AS (
    SELECT user_id FROM messages UNION SELECT user_id FROM entities UNION SELECT user_id FROM edges
    UNION SELECT user_id FROM skill_invocations
),
said AS (SELECT user_id, count(*) AS n_interactions FROM messages WHERE role = 'user' GROUP BY ALL),
known AS (
    SELECT
        f.user_id, count(*) AS n_edges,
        count(*) FILTER (
            f.relation IN ('likes', 'dislikes', 'prefers', 'interested_in', 'might_be_interested_in')
        ) AS n_preferences,
        count(DISTINCT CASE
            WHEN f.polarity > 0 AND f.relation IN (
                'spouse_of', 'partner_of', 'parent_of', 'child_of', 'sibling_of', 'friend_of', 'colleague_of',
                'manages', 'reports_to', 'knows'
            ) THEN CASE WHEN s.name_key = 'user' THEN f.object_id ELSE f.subject_id END
        END) AS n_people
    FROM facts AS f
    JOIN entities AS s ON s.entity_id = f.subject_id
    WHERE f.status IN ('active', 'contradicted')
    GROUP BY ALL
),
named AS (
    SELECT user_id, count(*) AS n_entities FROM entities WHERE merged_into IS NULL AND name_key <> 'user' GROUP BY ALL
),
asked AS (
    SELECT
        p.user_id, count(*) FILTER (p.status NOT IN ('queued', 'suppressed')) AS n_probes,
        count(*) FILTER (p.status = 'queued' AND list_has_any(p.context_tags, t.tags)) AS n_fitting_probes
    FROM (FROM probes QUALIFY row_number() OVER (PARTITION BY probe_id ORDER BY generated_at DESC, status) = 1) AS p
    LEFT JOIN (
        SELECT user_id, list_distinct(flatten(list(context_tags))) AS tags FROM current_edges GROUP BY ALL
    ) AS t USING (user_id)
    GROUP BY ALL
),
delivered AS (SELECT user_id, count(*) AS n_delivered FROM feedback WHERE type = 'probe_delivered' GROUP BY ALL),
learned AS (
    SELECT user_id, count(*) AS n_experiences, count(*) FILTER (kind = 'procedure') AS n_procedures
    FROM experiences WHERE status = 'active' GROUP BY ALL
),
inferred AS (SELECT user_id, count(*) AS n_inferred FROM inferred_edges GROUP BY ALL),
done AS (
    SELECT user_id, max(n) AS n_similar_tasks
    FROM (
        SELECT user_id, skill_name, count(DISTINCT session_id) AS n
        FROM skill_invocations WHERE error_category IS NULL GROUP BY ALL
    )
    GROUP BY ALL
)
SELECT
    user_id, coalesce(n_interactions, 0) AS n_interactions, coalesce(n_edges, 0) AS n_edges,
    coalesce(n_entities, 0) AS n_entities, coalesce(n_preferences, 0) AS n_preferences,
    coalesce(n_people, 0) AS n_people, greatest(coalesce(n_probes, 0), coalesce(n_delivered, 0)) AS n_probes,
    coalesce(n_fitting_probes, 0) AS n_fitting_probes, coalesce(n_experiences, 0) AS n_experiences,
    coalesce(n_procedures, 0) AS n_procedures, coalesce(n_inferred, 0) AS n_inferred,
    coalesce(n_similar_tasks, 0) AS n_similar_tasks
FROM people
LEFT JOIN said USING (user_id)
LEFT JOIN known USING (user_id)
LEFT JOIN named USING (user_id)
LEFT JOIN asked USING (user_id)
LEFT JOIN delivered USING (user_id)
LEFT JOIN learned USING (user_id)
LEFT JOIN inferred USING (user_id)
LEFT JOIN done USING (user_id);
COMMENT ON VIEW user_figures IS 'How much there is of each person, as the stages and capabilities count it.';

CREATE VIEW cold_start AS
WITH reached AS (
    SELECT
        u.*, s.stage_number,
        u.n_interactions >= s.n_interactions AND u.n_edges >= s.n_edges AND u.n_entities >= s.n_entities
        AND CASE s.also
            WHEN 'probe' THEN u.n_probes > 0 WHEN 'experience' THEN u.n_experiences > 0
            WHEN 'procedure' THEN u.n_procedures > 0 ELSE true
        END
        -- Whoever has said something is past being seeded, known or not.
        OR (s.stage = 'seeded' AND u.n_interactions > 0) AS is_reached
    FROM user_figures AS u
    CROSS JOIN cold_start_stages AS s
),
lasting AS (
    SELECT *, bool_and(is_reached) OVER (PARTITION BY user_id ORDER BY stage_number) AS is_lasting FROM reached
),
now AS (
    SELECT * EXCLUDE (is_reached, is_lasting) FROM lasting WHERE is_lasting
    QUALIFY row_number() OVER (PARTITION BY user_id ORDER BY stage_number DESC) = 1
)
SELECT
    n.user_id, s.stage, n.n_interactions, n.n_edges, n.n_entities, n.n_probes, n.n_experiences, n.n_procedures,
    next.stage AS next_stage,
    nullif(concat_ws(
        ', ',
        CASE WHEN next.n_interactions > n.n_interactions
            THEN (next.n_interactions - n.n_interactions) || ' interactions' END,
        CASE WHEN next.n_edges > n.n_edges THEN (next.n_edges - n.n_edges) || ' facts' END,
        CASE WHEN next.n_entities > n.n_entities THEN (next.n_entities - n.n_entities) || ' entities' END,
        CASE
            WHEN next.also = 'probe' AND n.n_probes = 0 OR next.also = 'experience' AND n.n_experiences = 0
                OR next.also = 'procedure' AND n.n_procedures = 0 THEN 'the first ' || next.also
        END
    ), '') AS still_needed
FROM now AS n
JOIN cold_start_stages AS s USING (stage_number)
LEFT JOIN cold_start_stages AS next ON next.stage_number = n.stage_number + 1
ORDER BY n.user_id;
COMMENT ON VIEW cold_start IS 'How far memory has come with each person, and what is needed for the next stage.';

CREATE VIEW capabilities AS
WITH needed AS (
    SELECT
        u.user_id,
        unnest([
            {'capability': 'personalisation', 'needs': '5 preferences', 'is_ready': n_preferences >= 5},
            {'capability': 'names', 'needs': '1 person with a relation', 'is_ready': n_people >= 1},
            {
                'capability': 'cross_session', 'needs': '10 facts and 3 entities',
                'is_ready': n_edges >= 10 AND n_entities >= 3
            },
            {
                'capability': 'contextual_probes', 'needs': 'a probe whose context matches',
                'is_ready': n_fitting_probes >= 1
            },
            {
                'capability': 'proactive', 'needs': '20 facts and an experience',
                'is_ready': n_edges >= 20 AND n_experiences >= 1
            },
            {'capability': 'procedures', 'needs': '3 similar tasks', 'is_ready': n_similar_tasks >= 3},
            {
                'capability': 'anticipation', 'needs': '50 facts and something that follows from them',
                'is_ready': n_edges >= 50 AND n_inferred >= 1
            }
        ], recursive := true)
    FROM user_figures AS u
)
SELECT user_id, capability, is_ready, needs FROM needed ORDER BY user_id, capability;
COMMENT ON VIEW capabilities IS 'What memory can do for each person by now, and what each capability needs.';

-- A probe is where its row or the feedback about it says that it has come: whoever answered one has been asked.
CREATE VIEW probe_funnel AS
WITH known AS (FROM probes QUALIFY row_number() OVER (PARTITION BY probe_id ORDER BY generated_at DESC, status) = 1),
heard AS (
    SELECT DISTINCT user_id, payload ->> '$.probe_id' AS probe_id, substr(type, 7) AS status
    FROM feedback WHERE starts_with(type, 'probe_')
),
stated AS (
    SELECT user_id, probe_id, status FROM known
    UNION
    SELECT user_id, coalesce(probe_id, 'unnamed') AS probe_id, status FROM heard
),
reached AS (
    SELECT
        user_id, probe_id, bool_or(status IN ('delivered', 'accepted', 'ignored', 'deflected')) AS is_delivered,
        bool_or(status = 'accepted') AS is_accepted, bool_or(status = 'ignored') AS is_ignored,
        bool_or(status = 'deflected') AS is_deflected, bool_or(status = 'suppressed') AS is_suppressed,
        bool_or(status = 'expired') AS is_expired
    FROM stated GROUP BY ALL
)
SELECT
    r.user_id, coalesce(k.kind, 'unknown') AS kind, count(*) AS n_generated,
    count(*) FILTER (is_suppressed) AS n_suppressed,
    count(*) FILTER (is_expired) AS n_expired, count(*) FILTER (is_delivered) AS n_delivered,
    count(*) FILTER (is_accepted) AS n_accepted, count(*) FILTER (is_ignored) AS n_ignored,
    count(*) FILTER (is_deflected) AS n_deflected,
    count(*) FILTER (is_delivered) / count(*) AS delivered_share,
    count(*) FILTER (is_accepted) / nullif(count(*) FILTER (is_delivered), 0) AS accepted_share
FROM reached AS r
LEFT JOIN known AS k USING (user_id, probe_id)
GROUP BY ALL
ORDER BY r.user_id, kind;
COMMENT ON VIEW probe_funnel IS 'Of the questions that memory would ask: how many were, and what became of them.';

CREATE VIEW repeated_failures AS
SELECT
    user_id, skill_name, error_category, count(*) AS n_failures, count(DISTINCT session_id) AS n_sessions,
    min(timestamp) AS first_failed_at, max(timestamp) AS last_failed_at, sum(cost_usd) AS cost_usd
FROM skill_invocations
WHERE error_category IS NOT NULL
GROUP BY ALL
HAVING count(*) > 1
ORDER BY n_failures DESC, last_failed_at DESC, user_id, skill_name, error_category;
COMMENT ON VIEW repeated_failures IS 'Failures of one skill in one way that have happened before.';

CREATE VIEW rules_by_month AS
SELECT
    date_trunc('month', e.promoted_at AT TIME ZONE 'UTC')::DATE AS month, r.user_id, e.kind, count(*) AS n_rules,
    count(*) FILTER (r.status = 'active') AS n_active, count(*) FILTER (r.status = 'in_review') AS n_in_review,
    avg(r.confidence) AS mean_confidence
FROM rules AS r
JOIN experiences AS e USING (experience_id)
GROUP BY ALL
ORDER BY month, r.user_id, e.kind;
COMMENT ON VIEW rules_by_month IS 'Rules by the month in which what they rest on was promoted.';

-- A miss: memory held the fact, the person had to say it again, and nothing had surfaced it in that conversation.
CREATE VIEW retrieval_misses AS
SELECT
    o.user_id, f.subject, f.relation, f.object, f.polarity, o.timestamp AS said_again_at, o.session_id, o.turn_number,
    o.confidence_before AS confidence_then, o.edge_id
FROM graph_ops AS o
JOIN facts AS f USING (edge_id)
JOIN messages AS m
    ON m.user_id = o.user_id AND m.session_id = o.session_id AND m.turn_number = o.turn_number AND m.role = 'user'
WHERE o.operation = 'REINFORCE' AND o.reason = 'said again in another session' AND o.confidence_before >= 0.40
  AND NOT EXISTS (
    FROM graph_ops AS r
    WHERE r.edge_id = o.edge_id AND r.session_id = o.session_id AND r.reason = 'surfaced in a session'
      AND r.timestamp <= o.timestamp
  )
ORDER BY o.timestamp, o.op_id;
COMMENT ON VIEW retrieval_misses IS 'Facts that people had to say again although memory held them.';

CREATE VIEW figures_by_day AS
SELECT (timestamp AT TIME ZONE 'UTC')::DATE AS day, name, labels, value FROM metrics ORDER BY day, name, labels;
COMMENT ON VIEW figures_by_day IS 'Figures of each day, as they were measured.';

-- A gauge is as it was at the end of its day, so only counters add up; a day on which one did not count has no row.
CREATE VIEW metric_days AS
SELECT
    (timestamp AT TIME ZONE 'UTC')::DATE AS day, name,
    CASE WHEN name LIKE 'em_graph_%' OR name LIKE 'em_confidence_distribution%' THEN 'gauge' ELSE 'counter' END AS kind,
    CAST(CAST(labels AS JSON) AS MAP(VARCHAR, VARCHAR)) AS labels, value,
    CASE WHEN kind = 'counter' THEN sum(value) OVER (PARTITION BY name, m.labels ORDER BY timestamp) END AS total
FROM metrics AS m
WHERE NOT ends_with(name, '_bucket')
ORDER BY day, name, m.labels;
COMMENT ON VIEW metric_days IS 'Metrics over days: what each day added to a counter and its total since, and gauges.';
