-- Messages that no model has read, and the reason that most of them have; of equally frequent ones the first.
WITH reasons AS (
    SELECT partition_day, coalesce(detail, '') AS detail, count(*) AS n_messages
    FROM extraction_issues
    WHERE list_contains(getvariable('issues'), issue)
    GROUP BY partition_day, coalesce(detail, '')
)

SELECT
    days.day,
    CAST(coalesce(sum(n_messages), 0) AS BIGINT) AS n_waiting,
    coalesce(first(detail ORDER BY n_messages DESC, detail), '') AS cause
FROM days
LEFT JOIN reasons ON partition_day = days.day
GROUP BY days.day
