-- Retractions that name a thing have this relation, too.
SELECT
    days.day, count(relation) AS n_claims,
    count(relation) FILTER (WHERE relation = 'relates_to' AND act = 'assert') AS n_last_resort
FROM days
LEFT JOIN claims ON partition_day = days.day
GROUP BY days.day
