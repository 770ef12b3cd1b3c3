-- Of several derivations of one fact the surest, with what its premises say of it, in the columns of inferred_edges.
WITH surest AS (
    SELECT relation, subject, object, min((-support, rule_id, premises)) AS best
    FROM inference_facts
    WHERE origin <> 'stated'
    GROUP BY relation, subject, object
),
numbered AS (
    SELECT
        row_number() OVER () AS fact, relation, subject, object, best[2] AS rule_id, -best[1] AS support,
        best[3] AS premises
    FROM surest
),
grounded AS (
    SELECT
        p.fact, list(s.edge_id ORDER BY p.place) AS premises, max(s.learned_at) AS learned_at,
        max(s.privacy_level) AS privacy_level
    FROM (SELECT fact, unnest(premises) AS edge, generate_subscripts(premises, 1) AS place FROM numbered) AS p
    JOIN inference_stated AS s USING (edge)
    GROUP BY p.fact
)
SELECT
    inferred_hash(s.user_id, s.entity_id, n.relation, o.entity_id) AS edge_id,
    s.user_id, s.entity_id AS subject_id, n.relation, o.entity_id AS object_id,
    least(getvariable('max_confidence'), round(n.support * getvariable('factor'), 12)) AS confidence,
    n.rule_id, g.premises, len(g.premises) AS hops, t.temporal_type, 'inferential' AS source_mechanism,
    g.privacy_level, g.learned_at, CAST(getvariable('as_of') AS DATE) AS as_of
FROM numbered AS n
JOIN grounded AS g USING (fact)
JOIN inference_nodes AS s ON s.node = n.subject
JOIN inference_nodes AS o ON o.node = n.object
JOIN relation_traits AS t ON t.relation = n.relation
