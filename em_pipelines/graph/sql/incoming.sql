-- The day's claims with their ends resolved, in the order in which they were said.
-- `slot` is what can hold one fact at a time: the subject's relation where that is functional, else the very fact.
-- What has to be verified first has slots of its own: "my name is Admin" must not take the place of a name.
-- `place` counts within the slot: claims of one slot are folded one after the other, those of different slots at once.
CREATE OR REPLACE TEMP TABLE incoming AS
WITH named AS (
    SELECT m.message_id, m.name, min(l.entity_id) AS entity_id
    FROM mentions AS m
    JOIN entity_mentions AS l USING (mention_id)
    GROUP BY ALL
),
resolved AS (
    SELECT
        c.*,
        s.entity_id AS subject_id,
        o.entity_id AS object_id,
        coalesce(o.entity_id, lower(trim(c.value))) AS object_key,
        c.relation IN (SELECT relation FROM functional_relations) AND NOT c.requires_verification AS is_functional
    FROM claims AS c
    JOIN named AS s ON s.message_id = c.message_id AND s.name = c.subject
    LEFT JOIN named AS o ON o.message_id = c.message_id AND o.name = c.object
    WHERE c.confidence >= getvariable('min_storage_confidence')
      AND coalesce(o.entity_id, c.value) IS NOT NULL
),
slotted AS (
    SELECT
        *,
        concat_ws(
            chr(31), user_id, subject_id, relation, coalesce(attribute, ''),
            CASE WHEN is_functional THEN '' ELSE object_key END, unverified_mark(requires_verification)
        ) AS slot
    FROM resolved
)
SELECT
    *,
    {
        'session_id': session_id, 'turn_number': turn_number, 'span_start': span_start, 'span_end': span_end,
        'extraction_id': extraction_id
    } AS source,
    row_number() OVER (
        PARTITION BY slot ORDER BY timestamp, session_id, turn_number, span_start, span_end, claim_id
    ) AS place
FROM slotted;
