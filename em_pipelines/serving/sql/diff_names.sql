-- Names that are read by another than before. A name that is there no more is not told of: it may have been erased.
SELECT
    n.user_id, n.canonical_name AS name, was.canonical_name AS was_read_as, now.canonical_name AS is_read_as,
    n.merged_into IS NULL AS is_split, o.entity_id IS NOT NULL AS was_known, n.entity_id, n.first_seen,
    list_distinct(list_concat([n.name_key], n.alias_keys, coalesce(list_concat([now.name_key], now.alias_keys), [])))
        AS end_keys
FROM later.entities AS n
LEFT JOIN earlier.entities AS o USING (entity_id)
LEFT JOIN later.entities AS was ON was.entity_id = o.merged_into
LEFT JOIN later.entities AS now ON now.entity_id = n.merged_into
WHERE n.merged_into IS DISTINCT FROM o.merged_into
  AND (getvariable('user_id') IS NULL OR n.user_id = getvariable('user_id'))
  AND NOT n.requires_verification AND n.privacy_level <> 'L4'
ORDER BY n.user_id, n.canonical_name, n.entity_id
