-- What may stand of what was concluded: of facts nothing was said about, and of one value nothing else, the surest.
CREATE OR REPLACE TEMP TABLE inference_found AS
WITH sound AS (
    SELECT c.*
    FROM inference_concluded AS c
    ANTI JOIN inference_spoken AS s ON s.relation = c.relation AND s.subject = c.subject AND s.object = c.object
    ANTI JOIN inference_held AS h
        ON h.relation = c.unless_relation AND h.subject = c.unless_subject AND h.object = c.unless_object
    ANTI JOIN inference_taken AS t ON t.relation = c.relation AND t.subject = c.subject
    WHERE c.subject <> c.object AND c.support * getvariable('factor') >= getvariable('min_confidence')
),
surest AS (
    SELECT
        relation, subject, object, any_value(subject_type) AS subject_type, any_value(object_type) AS object_type,
        min((-support, rule_id, premises)) AS best
    FROM sound
    GROUP BY relation, subject, object
),
one_value AS (
    SELECT s.*
    FROM surest AS s
    JOIN relation_traits AS t ON t.relation = s.relation AND t.is_functional
    ANTI JOIN inference_facts AS f
        ON f.origin <> 'stated' AND f.relation = s.relation AND f.subject = s.subject AND f.object <> s.object
    QUALIFY row_number() OVER (PARTITION BY s.relation, s.subject ORDER BY s.best) = 1
),
many_values AS (
    SELECT s.* FROM surest AS s JOIN relation_traits AS t ON t.relation = s.relation AND NOT t.is_functional
)
SELECT
    CAST(getvariable('hops') AS INTEGER) AS hops, CAST(getvariable('origin') AS VARCHAR) AS origin,
    k.best[2] AS rule_id, k.relation, k.subject, k.object, k.subject_type, k.object_type, -k.best[1] AS support,
    k.best[3] AS premises
FROM (FROM one_value UNION ALL FROM many_values) AS k
ANTI JOIN inference_facts AS f
    ON f.hops = getvariable('hops') AND f.relation = k.relation AND f.subject = k.subject AND f.object = k.object
