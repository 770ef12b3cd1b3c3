-- Items that were refused, each at the instant of its message; the most that lie within one hour, its end left out.
-- Instants are exact to the microsecond.
WITH refused AS (
    SELECT partition_day, "timestamp" AS said_at
    FROM extraction_issues
    WHERE list_contains(getvariable('issues'), issue)
),

within AS (
    SELECT
        partition_day,
        count(*) OVER (
            PARTITION BY partition_day
            ORDER BY said_at
            RANGE BETWEEN INTERVAL 3599999999 MICROSECONDS PRECEDING AND CURRENT ROW
        ) AS n_items
    FROM refused
)

SELECT days.day, coalesce(max(n_items), 0) AS most
FROM days
LEFT JOIN within ON partition_day = days.day
GROUP BY days.day
