-- Relationships to write: those that are not there, or say something else.
CREATE OR REPLACE TEMP TABLE due_edges AS
SELECT w.*, w.edge_id NOT IN (SELECT edge_id FROM held_edges) AS is_new
FROM wanted_edges AS w
WHERE
    w.user_id IN (SELECT user_id FROM chosen)
    AND (
        CAST(getvariable('is_full') AS BOOLEAN)
        OR NOT EXISTS (
            FROM held_edges AS h
            WHERE
                h.edge_id = w.edge_id AND h.source_key = w.source_key AND h.target_key = w.target_key
                AND h.relation = w.relation AND h.target = w.target AND h.digest = w.digest
        )
        OR EXISTS (
            FROM stale_edges AS s
            WHERE
                s.edge_id = w.edge_id AND s.source_key = w.source_key AND s.target_key = w.target_key
                AND s.relation = w.relation AND s.target = w.target
        )
    )
