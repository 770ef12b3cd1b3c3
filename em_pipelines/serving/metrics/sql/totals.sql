-- Counters of all days together; gauges, and the distribution of what stands, of the newest.
SELECT name, labels, sum(value) AS value
FROM metrics
WHERE name NOT IN (SELECT name FROM of_now) OR CAST(timestamp AS DATE) = $newest
GROUP BY ALL
