-- A name that is one with another points at the entity they are read by, which is never itself such a name.
SELECT a.entity_id AS row_id
FROM entities AS a
LEFT JOIN entities AS b ON b.entity_id = a.merged_into
WHERE (a.merged_into IS NOT NULL AND (b.entity_id IS NULL OR b.merged_into IS NOT NULL))
   OR (a.merged_into IS NOT NULL) <> (a.status = 'merged')
   OR NOT coalesce(a.importance BETWEEN 0 AND 1 AND a.certainty BETWEEN 0 AND 1, false)
