-- Relationships to write: those that are not there, that go first, or that say something else.
CREATE OR REPLACE TEMP TABLE due_edges AS
WITH kept AS (
    SELECT h.*
    FROM held_edges AS h
    ANTI JOIN stale_edges AS s USING (relation, target, source_key, target_key, edge_id)
)

SELECT w.*, k.digest IS NULL AS is_new
FROM wanted_edges AS w
LEFT JOIN kept AS k
    ON k.edge_id = w.edge_id AND k.source_key = w.source_key AND k.target_key = w.target_key
        AND k.relation = w.relation AND k.target = w.target
WHERE
    w.user_id IN (SELECT user_id FROM chosen)
    AND (CAST(getvariable('is_full') AS BOOLEAN) OR k.digest IS DISTINCT FROM w.digest)
