-- The edges that stand, with ends as names are read. A view, for the state is not to be kept in memory.
CREATE OR REPLACE TEMP VIEW named AS
SELECT
    e.* REPLACE (
        coalesce(s.canonical_id, e.subject_id) AS subject_id,
        coalesce(o.canonical_id, e.object_id) AS object_id,
        coalesce(o.canonical_id, e.object_key) AS object_key
    ),
    s.canonical_id IS NOT NULL OR o.canonical_id IS NOT NULL AS may_repeat
FROM edges_standing AS e
LEFT JOIN clustered AS s ON s.entity_id = e.subject_id AND s.as_of = e.as_of
LEFT JOIN clustered AS o ON o.entity_id = e.object_id AND o.as_of = e.as_of
WHERE NOT is_purged(e.status, e.confidence, e.last_reinforced, e.temporal_type, e.as_of)
