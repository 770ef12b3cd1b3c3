-- How well memory reads, and what reading costs.

CREATE VIEW quality_by_day AS
WITH said AS (
    SELECT
        (timestamp AT TIME ZONE 'UTC')::DATE AS day, count(*) AS n_messages,
        count(*) FILTER (role = 'user') AS n_user_messages,
        count(DISTINCT (user_id, session_id)) AS n_sessions
    FROM messages GROUP BY ALL
),
claimed AS (
    SELECT
        (timestamp AT TIME ZONE 'UTC')::DATE AS day, count(*) AS n_claims, avg(confidence) AS mean_confidence,
        count(*) FILTER (relation = 'relates_to' AND act = 'assert') AS n_relates_to, count(*) FILTER (requires_verification) AS n_withheld
    FROM claims GROUP BY ALL
),
doubted AS (
    SELECT
        (timestamp AT TIME ZONE 'UTC')::DATE AS day, count(DISTINCT message_id) FILTER (issue = 'skipped') AS n_skipped,
        count(*) FILTER (issue = 'discarded') AS n_discarded, count(*) FILTER (severity = 'error') AS n_errors
    FROM extraction_issues GROUP BY ALL
),
changed AS (
    SELECT
        (timestamp AT TIME ZONE 'UTC')::DATE AS day, count(*) FILTER (operation = 'INSERT') AS n_new,
        count(*) FILTER (operation = 'CONTRADICT') AS n_contradicted
    FROM graph_ops GROUP BY ALL
),
refused AS (SELECT landed_on AS day, count(*) AS n_dead_letters FROM dead_letters WHERE reason <> 'other_branch' GROUP BY ALL)
SELECT
    day, coalesce(n_messages, 0) AS n_messages, coalesce(n_user_messages, 0) AS n_user_messages,
    coalesce(n_sessions, 0) AS n_sessions, coalesce(n_claims, 0) AS n_claims, mean_confidence,
    coalesce(n_skipped, 0) AS n_skipped, coalesce(n_discarded, 0) AS n_discarded, coalesce(n_errors, 0) AS n_errors,
    coalesce(n_withheld, 0) AS n_withheld,
    coalesce(n_relates_to, 0) / greatest(1, coalesce(n_claims, 0)) AS relates_to_share,
    coalesce(n_new, 0) AS n_new_facts, coalesce(n_contradicted, 0) AS n_contradicted,
    coalesce(n_dead_letters, 0) AS n_dead_letters
FROM said
FULL JOIN claimed USING (day)
FULL JOIN doubted USING (day)
FULL JOIN changed USING (day)
FULL JOIN refused USING (day)
ORDER BY day;
COMMENT ON VIEW quality_by_day IS 'Messages, claims, doubts, changes and dead letters of each day.';

-- Of what people wrote; rules read English, and what waits for a model has an issue that names the language.
CREATE VIEW languages AS
WITH waiting AS (
    SELECT DISTINCT message_id FROM extraction_issues WHERE issue = 'skipped' AND reason = 'other_language'
)
SELECT
    m.user_id, m.language, count(*) AS n_messages, count(w.message_id) AS n_waiting,
    min((m.timestamp AT TIME ZONE 'UTC')::DATE) AS first_on, max((m.timestamp AT TIME ZONE 'UTC')::DATE) AS last_on
FROM messages AS m
LEFT JOIN waiting AS w USING (message_id)
WHERE m.subject IS NOT NULL
GROUP BY ALL
ORDER BY m.user_id, n_messages DESC, m.language;
COMMENT ON VIEW languages IS 'What people write in, by user, and how many of the messages wait for a model; null: too short to tell.';

-- The shares of relations in a week against those of the four weeks before: half the sum of the differences, 0 to 1
-- (total variation distance). Weeks of few claims differ by chance, so they are told apart by `n_claims`.
CREATE VIEW extraction_drift AS
WITH weekly AS (
    SELECT date_trunc('week', timestamp AT TIME ZONE 'UTC')::DATE AS week, extractor, relation, count(*) AS n
    FROM claims GROUP BY ALL
),
totals AS (SELECT week, extractor, CAST(sum(n) AS BIGINT) AS n_claims FROM weekly GROUP BY ALL),
weeks AS (
    SELECT t.week, t.extractor, t.n_claims, CAST(sum(b.n_claims) AS BIGINT) AS n_before
    FROM totals AS t
    LEFT JOIN totals AS b ON b.week BETWEEN t.week - 28 AND t.week - 7
    GROUP BY ALL
),
before AS (
    SELECT w.week, w.extractor, b.relation, sum(b.n) AS n
    FROM weeks AS w
    JOIN weekly AS b ON b.week BETWEEN w.week - 28 AND w.week - 7
    GROUP BY ALL
),
distances AS (
    SELECT
        week, extractor,
        sum(abs(coalesce(a.n, 0) / w.n_claims - coalesce(b.n, 0) / w.n_before)) / 2 AS relation_distance
    FROM weekly AS a
    FULL JOIN before AS b USING (week, extractor, relation)
    JOIN weeks AS w USING (week, extractor)
    WHERE w.n_before > 0
    GROUP BY ALL
),
claimed AS (
    SELECT
        date_trunc('week', timestamp AT TIME ZONE 'UTC')::DATE AS week, extractor, avg(confidence) AS mean_confidence,
        avg(CAST(hedge_level <> 'none' AS INTEGER)) AS hedged_share, avg(CAST(polarity < 0 AS INTEGER)) AS denied_share,
        avg(CAST(relation = 'relates_to' AND act = 'assert' AS INTEGER)) AS relates_to_share
    FROM claims GROUP BY ALL
),
said AS (
    SELECT date_trunc('week', timestamp AT TIME ZONE 'UTC')::DATE AS week, count(*) AS n_user_messages
    FROM messages WHERE role = 'user' GROUP BY ALL
)
SELECT
    w.week, w.extractor, w.n_claims, w.n_before, s.n_user_messages,
    w.n_claims / s.n_user_messages AS claims_per_message,
    c.mean_confidence, c.hedged_share, c.denied_share, c.relates_to_share, d.relation_distance,
    c.mean_confidence - avg(c.mean_confidence) OVER earlier AS confidence_change,
    w.n_claims / s.n_user_messages - avg(w.n_claims / s.n_user_messages) OVER earlier AS claims_change
FROM weeks AS w
JOIN claimed AS c USING (week, extractor)
LEFT JOIN distances AS d USING (week, extractor)
LEFT JOIN said AS s USING (week)
WINDOW earlier AS (ORDER BY w.week RANGE BETWEEN INTERVAL 28 DAY PRECEDING AND INTERVAL 7 DAY PRECEDING)
ORDER BY w.week, w.extractor;
COMMENT ON VIEW extraction_drift IS 'What extractors gave each week, against the four weeks before.';

CREATE VIEW cost_by_model AS
SELECT
    model, task, count(*) AS n_calls, count(*) FILTER (is_cache_hit) AS n_cached,
    count(*) FILTER (outcome = 'failed') AS n_failed,
    CAST(sum(prompt_tokens) FILTER (NOT is_cache_hit) AS BIGINT) AS prompt_tokens,
    CAST(sum(completion_tokens) FILTER (NOT is_cache_hit) AS BIGINT) AS completion_tokens,
    coalesce(sum(cost_usd), 0) AS cost_usd, coalesce(sum(cost_usd), 0) / count(*) AS cost_per_call_usd,
    median(latency_ms) FILTER (NOT is_cache_hit) AS median_ms, min((called_at AT TIME ZONE 'UTC')::DATE) AS first_on,
    max((called_at AT TIME ZONE 'UTC')::DATE) AS last_on
FROM llm_calls
GROUP BY ALL
ORDER BY cost_usd DESC, model, task;
COMMENT ON VIEW cost_by_model IS 'Calls, tokens and US dollars by model and task.';

-- A call is of the conversation of its segment; a pass over a whole conversation of that of its message.
CREATE VIEW cost_by_session AS
WITH turns AS (SELECT DISTINCT correlation_id, user_id, session_id FROM messages),
calls AS (
    SELECT
        coalesce(s.user_id, t.user_id) AS user_id, coalesce(s.session_id, t.session_id) AS session_id,
        count(*) AS n_calls,
        CAST(sum(c.prompt_tokens + c.completion_tokens) FILTER (NOT c.is_cache_hit) AS BIGINT) AS n_tokens,
        sum(c.cost_usd) AS model_cost_usd
    FROM llm_calls AS c
    LEFT JOIN segments AS s USING (segment_id)
    LEFT JOIN turns AS t ON s.segment_id IS NULL AND t.correlation_id = c.correlation_id
    WHERE coalesce(s.session_id, t.session_id) IS NOT NULL
    GROUP BY ALL
),
skills AS (
    SELECT user_id, session_id, count(*) AS n_invocations, sum(cost_usd) AS skill_cost_usd
    FROM skill_invocations GROUP BY ALL
),
talks AS (
    SELECT user_id, session_id, min(started_at) AS started_at, CAST(sum(n_turns) AS BIGINT) AS n_turns,
        CAST(sum(n_facts) AS BIGINT) AS n_facts
    FROM sessions GROUP BY ALL
)
SELECT
    user_id, session_id, t.started_at, t.n_turns, t.n_facts, coalesce(c.n_calls, 0) AS n_calls,
    coalesce(c.n_tokens, 0) AS n_tokens, coalesce(c.model_cost_usd, 0) AS model_cost_usd,
    coalesce(k.n_invocations, 0) AS n_invocations, coalesce(k.skill_cost_usd, 0) AS skill_cost_usd
FROM talks AS t
FULL JOIN calls AS c USING (user_id, session_id)
FULL JOIN skills AS k USING (user_id, session_id)
ORDER BY t.started_at, user_id, session_id;
COMMENT ON VIEW cost_by_session IS 'What each conversation cost: models that read it, skills that were called in it.';

-- Not what was lost: what is there, and is not in the facts. A claim, or what a day brought of a user.
CREATE VIEW left_out AS
SELECT
    q.user_id, q.day, q.step, q.rule, q.reason, q.claim_id,
    c.subject, c.relation, coalesce(c.object, c.value) AS object, c.polarity,
    (
        SELECT count(*) FROM messages AS m
        WHERE q.claim_id IS NULL AND m.user_id = q.user_id AND (m.timestamp AT TIME ZONE 'UTC')::DATE = q.day
    ) AS n_messages
FROM quarantine AS q
LEFT JOIN claims AS c USING (claim_id)
ORDER BY q.user_id, q.day, q.step;
COMMENT ON VIEW left_out IS
'What this snapshot leaves out: claims that break a rule, and days that could not be made for a user, who has the state of the day before.';
