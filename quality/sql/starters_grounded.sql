-- Openings that say nothing, that rest on a fact which is not there, does not stand or is not to be told, or of which
-- another is of the very same occasion.
WITH said AS (
    SELECT
        *, row_number() OVER () AS row_number,
        count(*) OVER (
            PARTITION BY partition_day, user_id, kind, edge_id, experience_id, world_event_id, occasion_on
        ) AS n_of_cause
    FROM starters
),

ungrounded AS (
    SELECT s.row_number
    FROM said AS s
    ANTI JOIN current_edges AS e
        ON e.partition_day = s.partition_day AND e.user_id = s.user_id AND e.edge_id = s.edge_id
        AND list_contains(getvariable('standing'), e.status)
        AND list_contains(getvariable('open_levels'), e.privacy_level) AND NOT e.requires_verification
    WHERE s.edge_id IS NOT NULL
)

SELECT
    days.day,
    count(s.row_number) FILTER (WHERE trim(s.text) = '' OR s.expires_at <= s.generated_at) AS n_wordless,
    count(u.row_number) AS n_ungrounded,
    count(s.row_number) FILTER (WHERE s.n_of_cause > 1) AS n_twice
FROM days
LEFT JOIN said AS s ON s.partition_day = days.day
LEFT JOIN ungrounded AS u ON u.row_number = s.row_number
GROUP BY days.day
