-- The facts of one snapshot as they may be shown, of one user if one is named. `$side` is its name in this connection.
CREATE TEMP VIEW $side_facts AS
SELECT
    e.edge_id, e.user_id, s.canonical_name AS subject, e.relation,
    CASE WHEN e.relation = 'has_attribute' THEN e.attribute || ': ' || e.value
        ELSE coalesce(o.canonical_name, e.value) END AS object,
    e.polarity, e.status, e.effective_confidence AS confidence,
    CASE
        WHEN e.effective_confidence >= 0.85 THEN 'plain' WHEN e.effective_confidence >= 0.60 THEN 'hedged'
        WHEN e.effective_confidence >= 0.40 THEN 'careful' ELSE 'background'
    END AS band,
    e.temporal_type, e.valid_from, e.valid_to, e.learned_at, e.last_reinforced, e.confidence AS asserted,
    e.superseded_by, e.provenance, e.statement,
    list_concat([s.name_key], s.alias_keys, coalesce(list_concat([o.name_key], o.alias_keys), [])) AS end_keys
FROM $side.current_edges AS e
JOIN $side.entities AS s ON s.entity_id = e.subject_id
LEFT JOIN $side.entities AS o ON o.entity_id = e.object_id
WHERE (getvariable('user_id') IS NULL OR e.user_id = getvariable('user_id'))
  AND NOT e.requires_verification AND e.privacy_level <> 'L4'
  AND e.relation NOT IN ('instruction', 'decision', 'plan', 'event', 'state', 'relationship', 'preference', 'fact');
