-- Facts on several names of one thing, each with the one of them that is kept: few, so that only they are grouped.
CREATE OR REPLACE TEMP TABLE repeated AS
SELECT * FROM (
    SELECT
        as_of,
        edge_id,
        first_value(edge_id) OVER (
            PARTITION BY as_of, user_id, subject_id, relation, object_key, attribute, polarity, requires_verification
            ORDER BY confidence DESC, last_reinforced DESC, edge_id
        ) AS kept_id
    FROM named
    WHERE may_repeat AND status IN ('active', 'contradicted')
)
WHERE kept_id <> edge_id
