-- What happened in each of the last twelve weeks (Monday to Sunday, UTC), the newest first.
WITH happened AS (
    SELECT
        date_trunc('week', timestamp AT TIME ZONE 'UTC')::DATE AS week,
        count(*) FILTER (WHERE operation = 'INSERT') AS n_learned,
        count(*) FILTER (WHERE operation IN ('REINFORCE', 'CONFIRM')) AS n_reinforced,
        count(*) FILTER (WHERE operation = 'REVISE') AS n_changed,
        count(*) FILTER (WHERE operation IN ('RETRACT', 'DELETE')) AS n_taken_back,
        count(*) FILTER (WHERE source_mechanism = 'user_correction') AS n_by_people
    FROM graph_ops AS o
    ANTI JOIN observations AS n ON n.observation_id = o.edge_id
    GROUP BY ALL
),

said AS (
    SELECT
        date_trunc('week', timestamp AT TIME ZONE 'UTC')::DATE AS week,
        count(*) AS n_messages,
        count(DISTINCT user_id) AS n_people
    FROM messages
    GROUP BY ALL
),

spent AS (
    SELECT
        date_trunc('week', called_at AT TIME ZONE 'UTC')::DATE AS week,
        count(*) AS n_calls,
        sum(cost_usd) AS cost_usd
    FROM llm_calls
    GROUP BY ALL
)

SELECT
    week,
    coalesce(n_people, 0) AS n_people,
    coalesce(n_messages, 0) AS n_messages,
    coalesce(n_learned, 0) AS n_learned,
    coalesce(n_reinforced, 0) AS n_reinforced,
    coalesce(n_changed, 0) AS n_changed,
    coalesce(n_taken_back, 0) AS n_taken_back,
    coalesce(n_by_people, 0) AS n_by_people,
    coalesce(n_calls, 0) AS n_calls,
    coalesce(cost_usd, 0) AS cost_usd
FROM happened
FULL JOIN said USING (week)
FULL JOIN spent USING (week)
ORDER BY week DESC
LIMIT 12
