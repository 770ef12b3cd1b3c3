-- How many claims of a day are how sure: in ten bins of equal width, the last with 1.
SELECT
    days.day,
    list_transform(range(10), lambda bin: CAST(coalesce(list_sum(list_transform(
        bins, lambda found: CASE WHEN found = bin THEN 1 ELSE 0 END
    )), 0) AS BIGINT)) AS counts
FROM days
LEFT JOIN (
    SELECT partition_day, list(least(9, greatest(0, CAST(floor(confidence * 10 + 1e-9) AS INTEGER)))) AS bins
    FROM claims
    GROUP BY partition_day
) ON partition_day = days.day
