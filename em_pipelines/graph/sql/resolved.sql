-- The day's claims with the entities that their ends name. Acts upon known facts are added once their facts are found.
CREATE OR REPLACE TEMP TABLE resolved AS
WITH named AS (
    SELECT m.message_id, m.name, min(l.entity_id) AS entity_id
    FROM mentions AS m
    JOIN entity_mentions AS l USING (mention_id)
    GROUP BY ALL
)
SELECT
    c.*,
    s.entity_id AS subject_id,
    o.entity_id AS object_id,
    coalesce(o.entity_id, lower(trim(c.value))) AS object_key,
    c.source_mechanism = 'user_correction' AS is_decided,
    CAST(NULL AS VARCHAR) AS pair_id
FROM claims AS c
JOIN named AS s ON s.message_id = c.message_id AND s.name = c.subject
LEFT JOIN named AS o ON o.message_id = c.message_id AND o.name = c.object
WHERE c.act = 'assert'
  AND c.confidence >= getvariable('min_storage_confidence')
  AND coalesce(o.entity_id, c.value) IS NOT NULL;
