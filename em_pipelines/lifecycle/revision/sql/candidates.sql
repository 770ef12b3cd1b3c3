-- Facts about public things that are due, the most urgent first: contradicted ones, then the most used.
-- Names and types are those by which entities are read; a name that is one with a person's is a person's.
WITH things AS (
    SELECT
        user_id, coalesce(merged_into, entity_id) AS read_id, sum(mention_count) AS mention_count,
        max(privacy_level) AS privacy_level, bool_or(requires_verification) AS requires_verification,
        bool_or(entity_type = 'person') AS is_person
    FROM entities
    GROUP BY ALL
),
ends AS (
    SELECT e.user_id, e.entity_id, r.canonical_name, r.entity_type, t.mention_count
    FROM entities AS e
    JOIN entities AS r ON r.entity_id = coalesce(e.merged_into, e.entity_id) AND r.user_id = e.user_id
    JOIN things AS t ON t.read_id = r.entity_id AND t.user_id = e.user_id
    WHERE list_contains(getvariable('entity_types'), r.entity_type)
        AND NOT t.is_person AND NOT t.requires_verification AND t.privacy_level <= 'L2'
),
-- Every word by which the user or somebody he knows goes: where one stands in a fact, the fact is about somebody.
personal AS (
    SELECT user_id, list(DISTINCT word) AS words
    FROM (
        SELECT user_id, unnest(regexp_extract_all(lower(named), '[\pL\pN]{2,}')) AS word
        FROM (
            SELECT user_id, unnest(list_concat([canonical_name], aliases, qualifiers)) AS named
            FROM entities WHERE entity_type = 'person'
            UNION ALL SELECT DISTINCT user_id, user_id FROM entities
            UNION ALL
            SELECT n.user_id, n.value
            FROM edges AS n
            JOIN entities AS p ON p.entity_id = n.subject_id AND p.user_id = n.user_id
            WHERE n.relation = 'has_name' AND p.entity_type = 'person'
        )
    )
    WHERE NOT list_contains(getvariable('plain_words'), word)
    GROUP BY user_id
),
left_alone AS (
    SELECT DISTINCT edge_id
    FROM asked
    WHERE date_diff('day', asked_on, getvariable('asked_on'))
        < CASE WHEN outcome = 'unknown' THEN getvariable('retry_days') ELSE getvariable('stale_days') END
)
SELECT
    f.user_id, f.edge_id, s.canonical_name AS subject, s.entity_type AS subject_type, f.relation,
    coalesce(o.canonical_name, f.value) AS object, o.entity_type AS object_type, f.attribute,
    f.status = 'contradicted' AS is_contradicted,
    CAST(f.reinforcement_count + s.mention_count + coalesce(o.mention_count, 0) AS BIGINT) AS uses
FROM edges AS f
JOIN ends AS s ON s.entity_id = f.subject_id AND s.user_id = f.user_id
LEFT JOIN ends AS o ON o.entity_id = f.object_id AND o.user_id = f.user_id
LEFT JOIN personal AS p ON p.user_id = f.user_id
ANTI JOIN left_alone AS a ON a.edge_id = f.edge_id
WHERE f.status IN ('active', 'contradicted')
    AND f.polarity = 1
    AND list_contains(getvariable('relations'), f.relation)
    AND (o.entity_id IS NOT NULL OR (f.object_id IS NULL AND f.value IS NOT NULL))
    AND f.temporal_type IN ('attribute', 'trait', 'state')
    AND f.privacy_level <= 'L2' AND NOT f.requires_verification
    AND NOT list_has_any(f.flags, getvariable('flags'))
    AND (f.valid_to IS NULL OR f.valid_to > getvariable('asked_on'))
    AND (f.attribute IS NULL OR list_contains(getvariable('attributes'), lower(f.attribute)))
    AND (
        f.status = 'contradicted'
        OR date_diff('day', CAST(f.last_reinforced AS DATE), getvariable('asked_on') - 1) > getvariable('stale_days')
    )
    AND NOT list_has_any(
        coalesce(p.words, []),
        regexp_extract_all(lower(concat_ws(' ', s.canonical_name, o.canonical_name, f.value)), '[\pL\pN]{2,}')
    )
ORDER BY is_contradicted DESC, uses DESC, f.last_reinforced, f.edge_id
