-- Inferred edges that are out of bounds, or rest on anything but active facts of their own user and day.
WITH inferred AS (SELECT *, row_number() OVER () AS row_number FROM inferred_edges),

premises AS (SELECT row_number, partition_day, user_id, unnest(premises) AS premise FROM inferred),

ungrounded AS (
    SELECT DISTINCT p.row_number
    FROM premises AS p
    ANTI JOIN current_edges AS e
        ON e.partition_day = p.partition_day AND e.user_id = p.user_id AND e.edge_id = p.premise
        AND e.status = 'active' AND e.polarity = 1
)

SELECT
    days.day,
    count(i.row_number) FILTER (
        WHERE u.row_number IS NOT NULL
           OR NOT coalesce(len(i.premises) = i.hops AND i.hops BETWEEN 1 AND getvariable('max_hops'), false)
           OR NOT coalesce(i.confidence BETWEEN 0 AND getvariable('max_confidence'), false)
    ) AS n_wrong
FROM days
LEFT JOIN inferred AS i ON i.partition_day = days.day
LEFT JOIN ungrounded AS u ON u.row_number = i.row_number
GROUP BY days.day
