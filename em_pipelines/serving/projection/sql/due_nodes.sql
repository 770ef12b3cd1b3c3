-- Nodes of one label to write: those that are not there, or say something else.
CREATE OR REPLACE TEMP TABLE due_nodes AS
SELECT w.*, h.key IS NULL AS is_new
FROM wanted_nodes AS w
LEFT JOIN held_nodes AS h ON h.key = w.key AND h.label = getvariable('label')
WHERE
    w.user_id IN (SELECT user_id FROM chosen)
    AND (CAST(getvariable('is_full') AS BOOLEAN) OR h.digest IS DISTINCT FROM w.digest)
