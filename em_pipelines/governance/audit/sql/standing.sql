-- Facts in force at the end of the day before, and until when time alone was at them: on a day whose fold changed them,
-- until the day before it. A day without any facts was not folded: the next one that was tells of them.
CREATE OR REPLACE TEMP VIEW standing AS
SELECT
    b.*,
    s.day AS faded_from,
    CASE
        WHEN e.edge_id IS NULL
            OR (e.status, e.confidence, e.last_reinforced, e.valid_from, len(e.provenance))
                IS DISTINCT FROM (b.status, b.confidence, b.last_reinforced, b.valid_from, len(b.provenance))
            THEN b.trail_day - 1
        ELSE b.trail_day
    END AS faded_until
FROM state_edges AS b
JOIN state_days AS s ON s.trail_day = b.trail_day AND s.table_name = 'edges'
LEFT JOIN edges AS e ON e.trail_day = b.trail_day AND e.edge_id = b.edge_id
SEMI JOIN (SELECT DISTINCT trail_day FROM edges) AS folded ON folded.trail_day = b.trail_day
WHERE b.status IN ('active', 'contradicted')
