-- The messages of a day that claims were read in, with how many; of imported notes every line is told to be kept.
SELECT
    days.day,
    list({role: m.role, subject: m.subject, content: m.content, n_claims: c.n_claims})
        FILTER (WHERE m.message_id IS NOT NULL AND m.note_privacy IS NULL) AS messages
FROM days
LEFT JOIN (SELECT partition_day, message_id, count(*) AS n_claims FROM claims GROUP BY ALL) AS c
    ON c.partition_day = days.day
LEFT JOIN messages AS m ON m.partition_day = days.day AND m.message_id = c.message_id
GROUP BY days.day
