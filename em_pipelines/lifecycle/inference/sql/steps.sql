-- The facts so far as steps of a path, in both directions as far as a rule walks them. A node where more steps of a
-- kind meet than a joint may take is a hub of that kind.
CREATE OR REPLACE TEMP TABLE inference_steps AS
WITH walked AS (
    SELECT relation_1 AS relation, is_reversed_1 AS is_reversed FROM rule_paths WHERE n_edges > 1
    UNION
    SELECT relation_2, is_reversed_2 FROM rule_paths WHERE n_edges > 1
    UNION
    SELECT relation_3, is_reversed_3 FROM rule_paths WHERE n_edges > 2
),
both_ways AS (
    SELECT
        hops, relation, false AS is_reversed, subject AS start, object AS goal, subject_type AS start_type,
        object_type AS goal_type, support, premises
    FROM inference_facts
    UNION ALL
    SELECT hops, relation, true, object, subject, object_type, subject_type, support, premises FROM inference_facts
)
SELECT
    b.*,
    count(*) OVER (PARTITION BY relation, is_reversed, start) > getvariable('max_fan_out') AS is_from_hub,
    count(*) OVER (PARTITION BY relation, is_reversed, goal) > getvariable('max_fan_out') AS is_into_hub
FROM both_ways AS b
SEMI JOIN walked USING (relation, is_reversed);
