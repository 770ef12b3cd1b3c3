-- Extractions, each at its first instant, of which something was discarded; the most that lie within one hour, its end
-- left out. Instants are exact to the microsecond.
WITH discarded AS (
    SELECT partition_day, min("timestamp") AS first_at
    FROM extraction_issues
    WHERE list_contains(getvariable('issues'), issue)
    GROUP BY partition_day, segment_id
),

within AS (
    SELECT
        partition_day,
        count(*) OVER (
            PARTITION BY partition_day
            ORDER BY first_at
            RANGE BETWEEN INTERVAL 3599999999 MICROSECONDS PRECEDING AND CURRENT ROW
        ) AS n_extractions
    FROM discarded
)

SELECT days.day, coalesce(max(n_extractions), 0) AS most
FROM days
LEFT JOIN within ON partition_day = days.day
GROUP BY days.day
