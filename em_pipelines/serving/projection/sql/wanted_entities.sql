-- Every thing once, by the row it is read by; names that are one with it are its aliases.
CREATE OR REPLACE TEMP TABLE wanted_entities AS
WITH ends AS (
    SELECT source_key AS key FROM wanted_edges
    UNION
    SELECT target_key FROM wanted_edges WHERE target = 'Entity'
),

things AS (
    SELECT
        user_id,
        coalesce(merged_into, entity_id) AS entity_id,
        list_distinct(flatten(list(list_concat([canonical_name], aliases)) FILTER (
            NOT requires_verification AND privacy_level <> 'L4'
        ))) AS names,
        CAST(sum(mention_count) AS BIGINT) AS mention_count,
        max(importance) AS importance,
        min(first_seen) AS first_seen,
        max(last_referenced) AS last_referenced
    FROM entities_known
    GROUP BY ALL
),

shown AS (
    SELECT
        entity_key(t.user_id, t.entity_id) AS key,
        t.user_id,
        user_key(t.user_id) AS user_key,
        t.entity_id,
        e.canonical_name AS name,
        left(e.name_key, CAST(getvariable('max_lookup_characters') AS INTEGER)) AS name_key,
        list_sort(list_filter(coalesce(t.names, []), lambda name: name <> e.canonical_name)) AS aliases,
        e.entity_type,
        t.mention_count,
        round(t.importance, 4) AS importance,
        e.privacy_level,
        instant(t.first_seen) AS first_seen,
        instant(t.last_referenced) AS last_referenced,
        e.requires_verification OR e.privacy_level = 'L4' AS is_withheld
    FROM things AS t
    JOIN entities_known AS e ON e.entity_id = t.entity_id AND e.user_id = t.user_id
)

SELECT * EXCLUDE (is_withheld), digest_of(shown) AS digest
FROM shown
WHERE NOT is_withheld OR key IN (SELECT key FROM ends)
