-- Messages of some length that stand in several conversations of a user with one role, instant and content: a log that
-- has landed twice under other ids. Whoever says the same again says it later. What tools print is alike by nature.
WITH records AS (
    SELECT partition_day, count(*) AS n_landed, count(DISTINCT session_id) AS n_conversations
    FROM messages
    WHERE role IN ('user', 'assistant') AND length(content) >= getvariable('min_characters')
    GROUP BY partition_day, user_id, role, "timestamp", content_hash
)

SELECT
    days.day,
    CAST(coalesce(sum(n_landed), 0) AS BIGINT) AS n_messages,
    -- Of several that are alike one is the first.
    CAST(coalesce(sum(n_conversations - 1), 0) AS DOUBLE) AS n_again
FROM days
LEFT JOIN records ON partition_day = days.day
GROUP BY days.day
