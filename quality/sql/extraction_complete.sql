SELECT days.day, count(issue) AS n_waiting, coalesce(mode(detail), '') AS cause
FROM days
LEFT JOIN extraction_issues ON partition_day = days.day AND list_contains(getvariable('issues'), issue)
GROUP BY days.day
