-- The most open conflicts that any one thing of any user has.
SELECT days.day, coalesce(max(n_open), 0) AS most
FROM days
LEFT JOIN (
    SELECT partition_day, count(*) AS n_open
    FROM contradictions
    WHERE status = 'open'
    GROUP BY partition_day, user_id, entity_id
) ON partition_day = days.day
GROUP BY days.day
