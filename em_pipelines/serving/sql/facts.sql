-- Facts with names, in no order; what needs verification or is a privilege claim is never surfaced. A phrase is found
-- by its words as a thing is by its names.
WITH named AS (
    SELECT entity_id, canonical_name, entity_type, list_concat([name_key], alias_keys) AS keys FROM entities
)
SELECT
    f.*,
    s.canonical_name AS subject,
    s.entity_type AS subject_type,
    o.entity_type AS object_type,
    CASE WHEN f.relation = 'has_attribute' THEN f.attribute || ': ' || f.value
        ELSE coalesce(o.canonical_name, f.value) END AS object,
    s.keys AS subject_keys,
    CASE
        WHEN o.keys IS NOT NULL THEN o.keys
        WHEN list_contains(getvariable('phrase_relations'), f.relation) AND f.value IS NOT NULL THEN [lower(trim(f.value))]
        ELSE []
    END AS object_keys,
    list_concat(subject_keys, object_keys) AS end_keys,
    f.status IN ('active', 'contradicted', 'archived')
        AND f.effective_confidence < getvariable('told_from')
        AND is_own_word(f.confidence, f.temporal_type, f.source_mechanism, f.flags) AS is_old
FROM standing AS f
JOIN named AS s ON s.entity_id = f.subject_id
LEFT JOIN named AS o ON o.entity_id = f.object_id
WHERE NOT f.requires_verification AND f.privacy_level <> 'L4'
