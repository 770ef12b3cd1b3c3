-- Rows that point at something: how many point at nothing, and how many at what is another user's alone.
WITH pointing AS (FROM referring WHERE target_id IS NOT NULL),

known AS (SELECT DISTINCT partition_day, target_id, user_id FROM targets),

judged AS (
    SELECT
        p.partition_day,
        count(t.user_id) AS n_there,
        count(t.user_id) FILTER (WHERE t.user_id = p.user_id) AS n_own
    FROM pointing AS p
    LEFT JOIN known AS t
        ON t.target_id = p.target_id AND (t.partition_day = p.partition_day OR NOT getvariable('is_same_day'))
    GROUP BY p.partition_day, p.row_number, p.target_id
)

SELECT
    partition_day AS day,
    count(*) FILTER (WHERE n_there = 0) AS n_dangling,
    count(*) FILTER (WHERE n_there > 0 AND n_own = 0) AS n_crossing
FROM judged
GROUP BY partition_day
