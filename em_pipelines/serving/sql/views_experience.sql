-- What nights made of what happened, what they made it of, and whether it helps.

CREATE VIEW failure_modes AS
SELECT
    e.user_id, e.component AS skill_name, e.category AS error_category, e.trigger, e.mitigation, r.text AS rule,
    e.n_occurrences, e.n_sources, e.confidence, e.strength, e.status, e.tier, e.first_seen, e.last_seen, e.experience_id
FROM experiences AS e
LEFT JOIN rules AS r USING (experience_id)
WHERE e.kind = 'failure'
ORDER BY e.user_id, e.component, e.n_occurrences DESC, e.category;
COMMENT ON VIEW failure_modes IS 'How skills are known to fail, what tells it, and what was called before they worked.';

CREATE VIEW episodes AS
SELECT user_id, session_id, started_at, ended_at, session_type, n_turns, n_facts, summary
FROM sessions
WHERE summary IS NOT NULL
ORDER BY user_id, started_at, session_id;
COMMENT ON VIEW episodes IS 'What of each conversation is worth telling, in a line or two.';

-- Both ways: what an experience rests on, and of which experiences one observation is part.
CREATE VIEW experience_evidence AS
SELECT
    l.experience_id, l.user_id, e.kind, e.component, e.text AS experience, l.evidence_id, l.timestamp, l.session_id,
    l.turn_number, coalesce(s.skill_name || coalesce(': ' || s.error_category, ''), m.content) AS observation
FROM experience_links AS l
JOIN experiences AS e USING (experience_id)
LEFT JOIN skill_invocations AS s ON s.invocation_id = l.evidence_id
LEFT JOIN messages AS m
    ON m.user_id = l.user_id AND m.session_id = l.session_id AND m.turn_number = l.turn_number
ORDER BY l.user_id, l.experience_id, l.timestamp, l.evidence_id;
COMMENT ON VIEW experience_evidence IS 'What each experience rests on, and of which experiences each observation is part.';

CREATE VIEW promotion_gates AS
SELECT
    user_id, verdict, coalesce(gate, 'none') AS gate, kind, count(*) AS n_patterns,
    CAST(sum(n_occurrences) AS BIGINT) AS n_occurrences, max(last_seen) AS last_seen
FROM promotions
GROUP BY ALL
ORDER BY user_id, verdict, n_patterns DESC, gate, kind;
COMMENT ON VIEW promotion_gates IS 'What the gates said of everything that happened more than once, by gate.';

CREATE VIEW retention_tiers AS
SELECT
    user_id, tier, kind, count(*) AS n_experiences, avg(strength) AS mean_strength, min(last_seen) AS oldest_last_seen
FROM experiences
GROUP BY ALL
ORDER BY user_id, tier DESC, kind;
COMMENT ON VIEW retention_tiers IS 'How much of what is known is fresh, and how much is on its way out.';

CREATE VIEW promotions_by_month AS
SELECT
    date_trunc('month', promoted_at AT TIME ZONE 'UTC')::DATE AS month, user_id, kind, count(*) AS n_promoted,
    count(*) FILTER (status = 'active') AS n_active, count(*) FILTER (status = 'in_review') AS n_in_review
FROM experiences
GROUP BY ALL
ORDER BY month, user_id, kind;
COMMENT ON VIEW promotions_by_month IS 'Experiences by the month at whose night they were promoted.';

CREATE VIEW nights_by_month AS
SELECT
    date_trunc('month', until AT TIME ZONE 'UTC')::DATE AS month, count(*) AS n_nights,
    count(*) FILTER (NOT is_standing) AS n_rolled_back,
    count(*) FILTER (NOT is_standing) / count(*) AS rolled_back_share
FROM nights
GROUP BY ALL
ORDER BY month;
COMMENT ON VIEW nights_by_month IS 'Nights by month, and how many of them were taken back.';

-- A failure is resolved by the next success of its skill in the log of its user, in whichever conversation.
CREATE VIEW resolutions AS
SELECT
    f.user_id, f.skill_name, f.error_category, f.timestamp AS failed_at, f.session_id, s.timestamp AS resolved_at,
    s.session_id AS resolved_in, date_diff('millisecond', f.timestamp, s.timestamp) / 1000 AS seconds_to_resolve,
    f.invocation_id
FROM (FROM skill_invocations WHERE error_category IS NOT NULL) AS f
ASOF LEFT JOIN (FROM skill_invocations WHERE error_category IS NULL) AS s
    ON s.user_id = f.user_id AND s.skill_name = f.skill_name AND s.timestamp >= f.timestamp
ORDER BY f.timestamp, f.invocation_id;
COMMENT ON VIEW resolutions IS 'Each failure of a skill, and when the skill worked again for the same user.';

CREATE VIEW resolution_latency AS
SELECT
    date_trunc('month', failed_at AT TIME ZONE 'UTC')::DATE AS month, user_id, skill_name, count(*) AS n_failures,
    count(resolved_at) AS n_resolved, median(seconds_to_resolve) AS median_seconds,
    max(seconds_to_resolve) AS longest_seconds
FROM resolutions
GROUP BY ALL
ORDER BY month, user_id, skill_name;
COMMENT ON VIEW resolution_latency IS 'How long it takes from a failure of a skill until it works again, by month.';

-- Asking writes nothing, so what was offered is not known; what agents say they used is.
CREATE VIEW memory_use AS
WITH talks AS (
    SELECT DISTINCT user_id, session_id, date_trunc('month', min(started_at) AT TIME ZONE 'UTC')::DATE AS month
    FROM sessions GROUP BY user_id, session_id
),
used AS (
    SELECT user_id, session_id, count(DISTINCT edge_id) AS n
    FROM graph_ops WHERE reason = 'surfaced in a session' GROUP BY ALL
),
missed AS (SELECT user_id, session_id, count(*) AS n FROM retrieval_misses GROUP BY ALL)
SELECT
    t.month, t.user_id, count(*) AS n_sessions, count(u.n) AS n_sessions_with_memory,
    count(u.n) / count(*) AS session_share, CAST(coalesce(sum(u.n), 0) AS BIGINT) AS n_used,
    CAST(coalesce(sum(m.n), 0) AS BIGINT) AS n_missed,
    sum(u.n) / nullif(coalesce(sum(u.n), 0) + coalesce(sum(m.n), 0), 0) AS used_share
FROM talks AS t
LEFT JOIN used AS u USING (user_id, session_id)
LEFT JOIN missed AS m USING (user_id, session_id)
GROUP BY ALL
ORDER BY t.month, t.user_id;
COMMENT ON VIEW memory_use IS 'In how many conversations what memory told was used, and how much, as agents report it.';

CREATE VIEW self_improvement AS
WITH failed AS (
    SELECT
        *, row_number() OVER (PARTITION BY user_id, skill_name, error_category ORDER BY timestamp, invocation_id) > 1
            AS is_repeated
    FROM skill_invocations WHERE error_category IS NOT NULL
),
failures AS (
    SELECT
        date_trunc('month', timestamp AT TIME ZONE 'UTC')::DATE AS month, count(*) AS n_failures,
        count(*) FILTER (is_repeated) AS n_repeated_failures
    FROM failed GROUP BY ALL
),
costs AS (
    SELECT
        date_trunc('month', started_at AT TIME ZONE 'UTC')::DATE AS month, count(*) AS n_sessions,
        sum(model_cost_usd) AS model_cost_usd, sum(skill_cost_usd) AS skill_cost_usd
    FROM cost_by_session WHERE started_at IS NOT NULL GROUP BY ALL
),
resolved AS (
    SELECT
        date_trunc('month', failed_at AT TIME ZONE 'UTC')::DATE AS month,
        median(seconds_to_resolve) AS median_seconds_to_resolve
    FROM resolutions GROUP BY ALL
),
promoted AS (SELECT month, CAST(sum(n_rules) AS BIGINT) AS n_rules FROM rules_by_month GROUP BY ALL),
missed AS (
    SELECT date_trunc('month', said_again_at AT TIME ZONE 'UTC')::DATE AS month, count(*) AS n_misses
    FROM retrieval_misses GROUP BY ALL
),
surfaced AS (
    SELECT date_trunc('month', timestamp AT TIME ZONE 'UTC')::DATE AS month, count(*) AS n_surfaced
    FROM graph_ops WHERE reason = 'surfaced in a session' GROUP BY ALL
)
SELECT
    month, coalesce(n_sessions, 0) AS n_sessions, coalesce(n_failures, 0) AS n_failures,
    coalesce(n_repeated_failures, 0) AS n_repeated_failures,
    n_repeated_failures / nullif(n_failures, 0) AS repeated_failure_share,
    median_seconds_to_resolve, coalesce(model_cost_usd, 0) / nullif(n_sessions, 0) AS model_cost_per_session_usd,
    coalesce(skill_cost_usd, 0) / nullif(n_sessions, 0) AS skill_cost_per_session_usd,
    coalesce(n_rules, 0) AS n_rules_promoted, coalesce(n_misses, 0) AS n_retrieval_misses,
    coalesce(n_misses, 0) / nullif(coalesce(n_misses, 0) + coalesce(n_surfaced, 0), 0) AS retrieval_miss_share,
    coalesce(n_nights, 0) AS n_nights, rolled_back_share
FROM costs
FULL JOIN failures USING (month)
FULL JOIN resolved USING (month)
FULL JOIN nights_by_month USING (month)
FULL JOIN promoted USING (month)
FULL JOIN missed USING (month)
FULL JOIN surfaced USING (month)
ORDER BY month;
COMMENT ON VIEW self_improvement IS 'By month what should get better: failures, how long they last, costs, rules, misses, rollbacks.';

-- Of a thing by all its names. Both halves grow with the logarithm, as mentions do: the tenth says less than the second.
CREATE VIEW entity_importance AS
WITH named AS (
    SELECT entity_id, user_id, coalesce(merged_into, entity_id) AS read_as, mention_count, importance FROM entities
),
things AS (
    SELECT user_id, read_as, CAST(sum(mention_count) AS BIGINT) AS n_mentions, max(importance) AS by_mentions
    FROM named GROUP BY ALL
),
standing AS (
    SELECT f.user_id, s.read_as AS one, coalesce(o.read_as, f.edge_id) AS other
    FROM facts AS f
    JOIN named AS s ON s.entity_id = f.subject_id
    LEFT JOIN named AS o ON o.entity_id = f.object_id
    WHERE f.polarity > 0 AND f.status IN ('active', 'contradicted')
),
linked AS (
    SELECT user_id, entity_id, count(DISTINCT other) AS n_links
    FROM (
        SELECT user_id, one AS entity_id, other FROM standing
        UNION ALL SELECT user_id, other, one FROM standing
    ) GROUP BY ALL
)
SELECT
    t.user_id, e.canonical_name AS name, e.entity_type, t.n_mentions, coalesce(l.n_links, 0) AS n_links, t.by_mentions,
    least(1.0, ln(1 + coalesce(l.n_links, 0)) / ln(1 + 20)) AS centrality,
    (t.by_mentions + least(1.0, ln(1 + coalesce(l.n_links, 0)) / ln(1 + 20))) / 2 AS importance, t.read_as AS entity_id
FROM things AS t
JOIN entities AS e ON e.entity_id = t.read_as
LEFT JOIN linked AS l ON l.entity_id = t.read_as
WHERE e.name_key <> 'user'
ORDER BY t.user_id, importance DESC, name;
COMMENT ON VIEW entity_importance IS 'How much each thing matters: by how often it is spoken of, and to how much it is tied.';
