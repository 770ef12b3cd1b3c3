-- How many rows are in a file says its footer; that they can be read only their values do, and an id is never empty.
-- What a day brought of a user who is set aside is in no message.
WITH said AS (
    SELECT partition_day, user_id, count(nullif(correlation_id, '')) AS n_said, 0 AS n_read
    FROM interactions GROUP BY ALL
    UNION ALL
    SELECT partition_day, user_id, 0, count(nullif(message_id, '')) FROM messages GROUP BY ALL
)
SELECT days.day, CAST(coalesce(sum(n_said) - sum(n_read), 0) AS BIGINT) AS n_missing
FROM days
LEFT JOIN (
    FROM said
    ANTI JOIN (SELECT partition_day, user_id FROM quarantine WHERE claim_id IS NULL) USING (partition_day, user_id)
) AS counted ON counted.partition_day = days.day
GROUP BY days.day
