-- Entities whose names were joined or parted today, as they are read now.
CREATE OR REPLACE TEMP TABLE regrouped AS
SELECT DISTINCT coalesce(m.canonical_id, c.entity_id) AS entity_id
FROM (
    SELECT entity_id FROM entity_ops WHERE operation IN ('MERGE', 'SPLIT')
    UNION
    SELECT other_id FROM entity_ops WHERE operation IN ('MERGE', 'SPLIT') AND other_id IS NOT NULL
) AS c
LEFT JOIN merged AS m USING (entity_id)
