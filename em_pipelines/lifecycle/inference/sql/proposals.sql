-- What was proposed and rests on facts that ground conclusions now: one to three of them, each once, that lead in their
-- order from the subject to the object. Where a rule says the same, the rule does.
CREATE OR REPLACE TEMP TABLE inference_concluded AS
WITH ends AS (
    SELECT p.relation, p.premises, s.node AS subject, o.node AS object, s.entity_type AS subject_type,
        o.entity_type AS object_type
    FROM proposals AS p
    JOIN relation_traits AS t ON t.relation = p.relation
    JOIN inference_names AS s ON s.user_id = p.user_id AND s.entity_id = p.subject_id
    JOIN inference_names AS o ON o.user_id = p.user_id AND o.entity_id = p.object_id
    WHERE len(p.premises) BETWEEN 1 AND getvariable('max_hops') AND len(list_distinct(p.premises)) = len(p.premises)
),
first AS (
    SELECT e.*, [x.edge] AS edges, x.effective_confidence AS support,
        [e.subject, CASE e.subject WHEN x.subject THEN x.object WHEN x.object THEN x.subject END] AS places
    FROM ends AS e
    JOIN inference_stated AS x ON x.edge_id = e.premises[1] AND x.is_premise
),
second AS (
    SELECT f.* EXCLUDE (edges, support, places), list_append(f.edges, y.edge) AS edges,
        round(f.support * y.effective_confidence, 12) AS support,
        list_append(f.places, CASE f.places[2] WHEN y.subject THEN y.object WHEN y.object THEN y.subject END) AS places
    FROM first AS f
    JOIN inference_stated AS y ON y.edge_id = f.premises[2] AND y.is_premise
),
third AS (
    SELECT s.* EXCLUDE (edges, support, places), list_append(s.edges, z.edge) AS edges,
        round(s.support * z.effective_confidence, 12) AS support,
        list_append(s.places, CASE s.places[3] WHEN z.subject THEN z.object WHEN z.object THEN z.subject END) AS places
    FROM second AS s
    JOIN inference_stated AS z ON z.edge_id = s.premises[3] AND z.is_premise
)
SELECT
    'model' AS rule_id, p.relation, p.subject, p.object, p.subject_type, p.object_type, p.support, p.edges AS premises,
    CAST(NULL AS VARCHAR) AS unless_relation, CAST(NULL AS INTEGER) AS unless_subject,
    CAST(NULL AS INTEGER) AS unless_object
FROM (FROM first UNION ALL FROM second UNION ALL FROM third) AS p
ANTI JOIN inference_facts AS f ON f.relation = p.relation AND f.subject = p.subject AND f.object = p.object
WHERE len(p.edges) = len(p.premises) AND p.places[-1] = p.object
    AND len(list_distinct(p.places)) = len(p.places)
