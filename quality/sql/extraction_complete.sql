SELECT days.day, count(issue) AS n_waiting
FROM days
LEFT JOIN extraction_issues ON partition_day = days.day AND list_contains(getvariable('issues'), issue)
GROUP BY days.day
