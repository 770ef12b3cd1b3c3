-- People who are spoken of often, and nobody knows who they are to the person.
INSERT INTO probe_candidates
SELECT
    g.template, t.user_id, concat_ws(chr(31), g.template, t.entity_id), NULL, NULL, t.entity_id, t.name, t.entity_type,
    NULL, NULL, t.importance, 0.6, [], t.first_seen, t.last_referenced, NULL, NULL
FROM probe_things AS t
SEMI JOIN probe_users AS u ON u.user_id = t.user_id
ANTI JOIN probe_selves AS x ON x.user_id = t.user_id AND x.entity_id = t.entity_id
CROSS JOIN (FROM probe_gaps WHERE form = 'person') AS g
WHERE
    t.entity_type = 'person' AND t.is_open AND NOT t.is_user
    AND t.mention_count >= getvariable('min_mentions')
    AND (
        list_contains(getvariable('given_names'), split_part(lower(t.name), ' ', 1))
        OR list_has_all(getvariable('person_roles'), t.qualifiers)
    )
    AND NOT EXISTS (
        FROM known_edges AS k
        WHERE k.user_id = t.user_id AND k.status IN ('active', 'contradicted')
            AND (k.subject_id = t.entity_id OR k.object_id = t.entity_id)
            AND (
                k.requires_verification OR k.privacy_level IN ('L3', 'L4')
                OR k.relation IN (SELECT relation FROM probe_missing AS m WHERE m.template = g.template)
            )
    )
