SELECT days.day, count(q.quarantine_id) AS n_aside
FROM days
LEFT JOIN quarantine AS q ON q.partition_day = days.day
GROUP BY days.day
