-- Yesterday's edges that today's claims can touch; all others pass through the fold unread.
CREATE OR REPLACE TEMP TABLE live AS
SELECT
    e.*,
    concat_ws(
        chr(31), e.user_id, e.subject_id, e.relation, coalesce(e.attribute, ''),
        CASE
            WHEN e.relation IN (SELECT relation FROM functional_relations) AND NOT e.requires_verification THEN ''
            ELSE e.object_key
        END,
        unverified_mark(e.requires_verification)
    ) AS slot
FROM edges AS e
SEMI JOIN incoming AS i
    ON i.user_id = e.user_id AND i.subject_id = e.subject_id AND i.relation = e.relation;
