-- Paths of `hops` stated facts in all: two edges, one of which may be a conclusion, or three stated ones. A step that
-- leads into a hub goes on only by steps that do not come from one: `from_hub` is part of the key of the join.
CREATE OR REPLACE TEMP TABLE inference_concluded AS
WITH onward AS (
    SELECT *, false AS after_hub FROM inference_steps
    UNION ALL
    SELECT *, true FROM inference_steps WHERE NOT is_from_hub
),
two AS (
    SELECT
        r.*, x.start AS node_0, x.goal AS node_1, y.goal AS node_2,
        x.start_type AS type_0, x.goal_type AS type_1, y.goal_type AS type_2,
        x.hops + y.hops AS hops, x.hops AS hops_1, y.is_into_hub,
        round(x.support * y.support, 12) AS support, list_concat(x.premises, y.premises) AS premises
    FROM rule_paths AS r
    JOIN inference_steps AS x ON x.relation = r.relation_1 AND x.is_reversed = r.is_reversed_1
    JOIN onward AS y
        ON y.relation = r.relation_2 AND y.is_reversed = r.is_reversed_2 AND y.start = x.goal
        AND y.after_hub = x.is_into_hub
        AND y.hops = CASE WHEN r.n_edges = 3 THEN 1 ELSE CAST(getvariable('hops') AS INTEGER) - x.hops END
    WHERE y.goal <> x.start
        AND (r.n_edges = 2 OR (x.hops = 1 AND getvariable('hops') = 3))
        AND (NOT r.is_stated_only OR x.hops + y.hops = r.n_edges)
        AND (r.types_0 IS NULL OR list_contains(r.types_0, x.start_type))
        AND (r.types_1 IS NULL OR list_contains(r.types_1, x.goal_type))
        AND (r.types_2 IS NULL OR list_contains(r.types_2, y.goal_type))
        AND NOT list_has_any(x.premises, y.premises)
),
paths AS (
    SELECT
        rule_id, conclusion, subject_place, object_place, unless_relation, unless_subject_place, unless_object_place,
        [node_0, node_1, node_2] AS nodes, [type_0, type_1, type_2] AS types, support, premises
    FROM two
    WHERE n_edges = 2
    UNION ALL
    SELECT
        t.rule_id, t.conclusion, t.subject_place, t.object_place, t.unless_relation, t.unless_subject_place,
        t.unless_object_place, [t.node_0, t.node_1, t.node_2, z.goal], [t.type_0, t.type_1, t.type_2, z.goal_type],
        round(t.support * z.support, 12), list_concat(t.premises, z.premises)
    FROM two AS t
    JOIN onward AS z
        ON z.relation = t.relation_3 AND z.is_reversed = t.is_reversed_3 AND z.start = t.node_2
        AND z.after_hub = t.is_into_hub AND z.hops = 1
    WHERE t.n_edges = 3 AND z.goal NOT IN (t.node_0, t.node_1)
        AND (t.types_3 IS NULL OR list_contains(t.types_3, z.goal_type))
        AND NOT list_has_any(t.premises, z.premises)
)
SELECT
    rule_id, conclusion AS relation, nodes[subject_place + 1] AS subject, nodes[object_place + 1] AS object,
    types[subject_place + 1] AS subject_type, types[object_place + 1] AS object_type, support, premises,
    unless_relation, nodes[unless_subject_place + 1] AS unless_subject, nodes[unless_object_place + 1] AS unless_object
FROM paths
