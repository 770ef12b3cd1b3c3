-- Facts with names; what needs verification or is a privilege claim is never surfaced.
SELECT
    f.*,
    s.canonical_name AS subject,
    CASE WHEN f.attribute IS NOT NULL THEN f.attribute || ': ' || f.value ELSE coalesce(o.canonical_name, f.value) END
        AS object,
    list_concat([s.name_key], s.alias_keys) AS subject_keys,
    CASE WHEN o.entity_id IS NULL THEN [] ELSE list_concat([o.name_key], o.alias_keys) END AS object_keys,
    list_concat(subject_keys, object_keys) AS end_keys
FROM standing AS f
JOIN entities AS s ON s.entity_id = f.subject_id
LEFT JOIN entities AS o ON o.entity_id = f.object_id
WHERE NOT f.requires_verification AND f.privacy_level <> 'L4'
ORDER BY f.effective_confidence DESC, subject, f.relation, object, f.edge_id
