-- Starters with their words and what became of them, the few of each day that are worth most.
WITH told AS (
    SELECT
        user_id, json_extract_string(payload, '$.starter_id') AS starter_id,
        arg_max(replace(type, 'starter_', ''), (timestamp, feedback_id)) AS said
    FROM feedback
    WHERE type IN ('starter_delivered', 'starter_engaged', 'starter_dismissed')
    GROUP BY ALL
),
timed AS (
    SELECT
        c.*,
        -- The day begins where the hour of starters does; what was learned on its own day or later comes after that.
        greatest(
            CAST(c.due_on AS TIMESTAMPTZ) + to_hours(CAST(getvariable('starter_hour') AS INTEGER)), c.learned_at
        ) AS generated_at
    FROM starter_worded AS c
),
stated AS (
    SELECT
        t.*, least(
            t.generated_at + to_seconds(CAST(getvariable('starter_hours') * 3600 AS BIGINT)),
            coalesce(CAST(t.occasion_on + 1 AS TIMESTAMPTZ), 'infinity'::TIMESTAMPTZ)
        ) AS expires_at
    FROM timed AS t
),
judged AS (
    SELECT
        s.*,
        coalesce(
            f.said,
            CASE WHEN s.expires_at <= CAST(getvariable('as_of') + 1 AS TIMESTAMPTZ) THEN 'expired' ELSE 'queued' END
        ) AS status
    FROM stated AS s
    LEFT JOIN told AS f USING (user_id, starter_id)
    WHERE s.generated_at < s.expires_at
)
SELECT
    starter_id, user_id, kind, template, text, round(value, 6) AS value,
    list_sort(list_distinct(said_tags)) AS context_tags, edge_id, experience_id, world_event_id, occasion_on, generated_at,
    expires_at, status,
    CASE WHEN session_id IS NULL THEN message_hash(user_id, starter_id, 0)
        ELSE message_hash(user_id, session_id, turn_number) END AS correlation_id
FROM judged
QUALIFY row_number() OVER (
    PARTITION BY user_id, CAST(generated_at AS DATE), status ORDER BY value DESC, starter_id
) <= getvariable('max_waiting') OR status NOT IN ('queued', 'expired')
