-- Few of each thing and wording, and of those the ones worth most, beside what was asked already.
WITH spread AS (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY user_id, status = 'queued', coalesce(entity_id, probe_id) ORDER BY value DESC, probe_id
        ) AS of_thing
    FROM probe_judged
    SEMI JOIN probe_fine USING (text, benefit)
),
varied AS (
    SELECT *, row_number() OVER (PARTITION BY user_id, status = 'queued', template ORDER BY value DESC, probe_id) AS of_template
    FROM spread
    WHERE of_thing <= getvariable('max_per_entity') OR status NOT IN ('queued', 'expired')
),
ranked AS (
    SELECT *, row_number() OVER (PARTITION BY user_id, status ORDER BY value DESC, probe_id) AS of_user
    FROM varied
    WHERE of_template <= getvariable('max_per_template') OR status NOT IN ('queued', 'expired')
)
SELECT
    probe_id, user_id, kind, template, text, gap, benefit, value,
    list_sort(list_distinct(list_concat(
        topics, said_tags,
        CASE WHEN name IS NULL THEN [] ELSE [lower(name)] END,
        CASE WHEN entity_type IS NULL OR entity_type IN ('concept', 'namesake') THEN [] ELSE [entity_type] END,
        CASE WHEN other_name IS NULL THEN [] ELSE [lower(other_name)] END
    ))) AS context_tags,
    -- A phrase is a thing here and no entity.
    CASE WHEN entity_id IN (SELECT entity_id FROM known_entities) THEN entity_id END AS entity_id, edge_id,
    other_edge_id, generated_at, expires_at, status,
    CASE WHEN session_id IS NULL THEN message_hash(user_id, probe_id, 0)
        ELSE message_hash(user_id, session_id, turn_number) END AS correlation_id
FROM ranked
WHERE of_user <= getvariable('max_waiting') OR status NOT IN ('queued', 'expired')
