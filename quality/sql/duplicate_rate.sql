-- Messages of some length that say what another message of the same user and role says on the same day, whatever
-- conversation it stands in: a log that has landed twice under other names. What tools print is alike by nature.
WITH said AS (
    SELECT partition_day, count(*) OVER (PARTITION BY partition_day, user_id, role, content_hash) AS n_alike
    FROM messages
    WHERE role IN ('user', 'assistant') AND length(content) >= getvariable('min_characters')
)
SELECT
    days.day,
    count(n_alike) AS n_messages,
    -- Of several that are alike one is the first.
    CAST(coalesce(sum(1 - 1.0 / n_alike), 0) AS DOUBLE) AS n_again
FROM days
LEFT JOIN said ON partition_day = days.day
GROUP BY days.day
