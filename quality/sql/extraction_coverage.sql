-- Messages that anything of the same day came of, or whose user is set aside for the day.
WITH read AS (
    SELECT partition_day, message_id FROM mentions
    UNION SELECT partition_day, message_id FROM claims
    UNION SELECT partition_day, message_id FROM extraction_issues
    UNION SELECT m.partition_day, m.message_id FROM messages AS m
    SEMI JOIN (FROM quarantine WHERE claim_id IS NULL) AS q
        ON q.partition_day = m.partition_day AND q.user_id = m.user_id
)
SELECT
    days.day,
    count(m.message_id) AS n_messages,
    count(m.message_id) FILTER (WHERE r.message_id IS NOT NULL) AS n_covered
FROM days
LEFT JOIN messages AS m ON m.partition_day = days.day
LEFT JOIN read AS r ON r.partition_day = days.day AND r.message_id = m.message_id
GROUP BY days.day
