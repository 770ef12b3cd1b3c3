-- Facts that the people who speak about memory today can mean, with every name of both ends: yesterday's, and what is
-- said today.
WITH facts AS (
    SELECT
        edge_id, user_id, subject_id, relation, object_id, value, attribute, object_key, polarity, temporal_type,
        requires_verification, privacy_level, status, confidence, statement, learned_at, last_reinforced,
        source_mechanism, provenance, contradicts
    FROM edges SEMI JOIN acting USING (user_id)
    WHERE status <> 'retracted'
    UNION ALL BY NAME
    SELECT
        claim_id AS edge_id, user_id, subject_id, relation, object_id, value, attribute, object_key, polarity,
        temporal_type, requires_verification, privacy_level, 'active' AS status, confidence, statement,
        timestamp AS learned_at, timestamp AS last_reinforced, source_mechanism,
        [{
            'session_id': session_id, 'turn_number': turn_number, 'span_start': span_start, 'span_end': span_end,
            'extraction_id': extraction_id
        }] AS provenance,
        CAST(NULL AS VARCHAR) AS contradicts
    FROM resolved SEMI JOIN acting USING (user_id)
),
names AS (
    SELECT entity_id, list_concat([name_key], alias_keys) AS names
    FROM entities SEMI JOIN acting USING (user_id)
),
canonical AS (
    SELECT n.entity_id, list_distinct(list_concat(n.names, coalesce(c.names, []))) AS names
    FROM names AS n
    LEFT JOIN merged AS m USING (entity_id)
    LEFT JOIN names AS c ON c.entity_id = m.canonical_id
)
SELECT f.*, s.names AS subject_names, coalesce(o.names, []) AS object_names
FROM facts AS f
JOIN canonical AS s ON s.entity_id = f.subject_id
LEFT JOIN canonical AS o ON o.entity_id = f.object_id
ORDER BY f.status NOT IN ('active', 'contradicted'), f.edge_id
