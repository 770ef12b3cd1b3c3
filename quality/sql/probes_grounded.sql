-- Questions that say nothing, that rest on a fact which is not there, does not stand or is not to be asked about, or of
-- which another is of the very same cause.
WITH asked AS (
    SELECT
        *, row_number() OVER () AS row_number,
        count(*) OVER (
            PARTITION BY partition_day, user_id, kind, gap, entity_id, edge_id, other_edge_id
        ) AS n_of_cause
    FROM probes
),

named AS (
    SELECT row_number, partition_day, user_id, unnest([edge_id, other_edge_id]) AS edge_id FROM asked
),

ungrounded AS (
    SELECT DISTINCT n.row_number
    FROM named AS n
    ANTI JOIN current_edges AS e
        ON e.partition_day = n.partition_day AND e.user_id = n.user_id AND e.edge_id = n.edge_id
        AND list_contains(getvariable('standing'), e.status)
        AND list_contains(getvariable('open_levels'), e.privacy_level) AND NOT e.requires_verification
    WHERE n.edge_id IS NOT NULL
)

SELECT
    days.day,
    count(a.row_number) FILTER (
        WHERE trim(a.text) = '' OR trim(a.benefit) = '' OR a.expires_at <= a.generated_at
    ) AS n_wordless,
    count(u.row_number) AS n_ungrounded,
    count(a.row_number) FILTER (WHERE a.n_of_cause > 1) AS n_twice
FROM days
LEFT JOIN asked AS a ON a.partition_day = days.day
LEFT JOIN ungrounded AS u ON u.row_number = a.row_number
GROUP BY days.day
