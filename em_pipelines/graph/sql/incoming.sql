-- What is said today, in the order in which it was said. `place` counts within the slot: statements of one slot are
-- folded one after the other, those of different slots at once.
CREATE OR REPLACE TEMP TABLE incoming AS
WITH joined AS (
    SELECT
        c.*,
        k.relation_key, k.family, k.is_functional, k.is_inverse, k.is_symmetric, k.is_paired, k.is_lasting,
        CASE WHEN c.polarity = 1 THEN k.tone ELSE k.tone_denied END AS tone,
        coalesce(s.canonical_id, c.subject_id) AS subject_now,
        coalesce(o.canonical_id, c.object_id) AS object_now
    FROM resolved AS c
    JOIN relation_kinds AS k USING (relation)
    LEFT JOIN merged AS s ON s.entity_id = c.subject_id
    LEFT JOIN merged AS o ON o.entity_id = c.object_id
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
)
SELECT
    *,
    slot_of(user_id, meeting_key, family, attribute, is_functional, target_key, requires_verification) AS slot,
    {
        'session_id': session_id, 'turn_number': turn_number, 'span_start': span_start, 'span_end': span_end,
        'extraction_id': extraction_id
    } AS source,
    row_number() OVER (
        PARTITION BY slot
        ORDER BY timestamp, session_id, turn_number, span_start, span_end, act = 'assert', claim_id
    ) AS place
FROM placed;
