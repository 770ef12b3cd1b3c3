-- Yesterday's edges that today can touch: those that what is said may meet, and those of names joined or parted today.
-- All others pass through the fold unread.
CREATE OR REPLACE TEMP TABLE live AS
WITH joined AS (
    SELECT
        e.*,
        k.relation_key, k.family, k.is_functional AND NOT e.requires_verification AS is_functional, k.is_inverse,
        k.is_symmetric, k.is_paired,
        CASE WHEN e.polarity = 1 THEN k.tone ELSE k.tone_denied END AS tone,
        coalesce(s.canonical_id, e.subject_id) AS subject_now,
        coalesce(o.canonical_id, e.object_id) AS object_now
    FROM edges AS e
    JOIN relation_kinds AS k USING (relation)
    LEFT JOIN merged AS s ON s.entity_id = e.subject_id
    LEFT JOIN merged AS o ON o.entity_id = e.object_id
    WHERE NOT is_dropped(
    e.status, e.confidence, e.last_reinforced, e.temporal_type, e.source_mechanism, e.flags, getvariable('as_of')
)
),
turned AS (
    SELECT
        *,
        is_turned(is_inverse, is_symmetric, user_id, subject_now, object_now) AS turns,
        is_of_others(is_paired, user_id, subject_now, object_now) AS is_of_others
    FROM joined
),
placed AS (
    SELECT
        * EXCLUDE (turns, is_of_others, subject_now, object_now, is_inverse, is_symmetric, is_paired),
        CASE WHEN turns THEN object_now ELSE subject_now END AS subject_key,
        CASE WHEN turns THEN subject_now ELSE coalesce(object_now, object_key) END AS target_key,
        CASE WHEN turns AND NOT is_of_others THEN object_now ELSE subject_now END AS holder_key,
        CASE WHEN is_of_others THEN '' WHEN turns THEN object_now ELSE subject_now END AS meeting_key
    FROM turned
),
touched AS (
    SELECT * FROM placed AS p SEMI JOIN incoming AS i USING (user_id, meeting_key, family)
    UNION
    SELECT * FROM placed AS p SEMI JOIN regrouped AS r ON r.entity_id = p.subject_key
    UNION
    SELECT * FROM placed AS p SEMI JOIN regrouped AS r ON r.entity_id = p.target_key
)
SELECT
    *, slot_of(user_id, meeting_key, family, attribute, is_functional, target_key, requires_verification) AS slot
FROM touched;
