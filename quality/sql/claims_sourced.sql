-- Claims that no message of their user and day says, or that point at characters which the message has not.
SELECT
    days.day,
    count(c.claim_id) FILTER (
        WHERE m.message_id IS NULL
           OR NOT (c.span_start >= 0 AND c.span_start < c.span_end AND c.span_end <= length(m.content))
    ) AS n_unsourced
FROM days
LEFT JOIN claims AS c ON c.partition_day = days.day
LEFT JOIN messages AS m
    ON m.partition_day = days.day AND m.message_id = c.message_id AND m.user_id = c.user_id
    AND m.session_id = c.session_id AND m.turn_number = c.turn_number
GROUP BY days.day
