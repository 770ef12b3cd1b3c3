-- Rules of one edge, on what was stated or on what chains of `hops` facts gave; never on each other's conclusions.
CREATE OR REPLACE TEMP TABLE inference_concluded AS
SELECT
    r.rule_id, r.conclusion AS relation,
    CASE WHEN r.subject_place = CAST(r.is_reversed_1 AS INTEGER) THEN f.subject ELSE f.object END AS subject,
    CASE WHEN r.subject_place = CAST(r.is_reversed_1 AS INTEGER) THEN f.object ELSE f.subject END AS object,
    CASE WHEN r.subject_place = CAST(r.is_reversed_1 AS INTEGER) THEN f.subject_type ELSE f.object_type END
        AS subject_type,
    CASE WHEN r.subject_place = CAST(r.is_reversed_1 AS INTEGER) THEN f.object_type ELSE f.subject_type END
        AS object_type,
    f.support, f.premises, r.unless_relation,
    CASE WHEN r.unless_subject_place = CAST(r.is_reversed_1 AS INTEGER) THEN f.subject ELSE f.object END
        AS unless_subject,
    CASE WHEN r.unless_subject_place = CAST(r.is_reversed_1 AS INTEGER) THEN f.object ELSE f.subject END
        AS unless_object
FROM rule_paths AS r
JOIN inference_facts AS f ON f.relation = r.relation_1
WHERE r.n_edges = 1 AND f.hops = getvariable('hops') AND f.origin IN ('stated', 'chain')
    AND (NOT r.is_stated_only OR f.origin = 'stated')
    AND (r.types_0 IS NULL OR list_contains(r.types_0, CASE WHEN r.is_reversed_1 THEN f.object_type ELSE f.subject_type END))
    AND (r.types_1 IS NULL OR list_contains(r.types_1, CASE WHEN r.is_reversed_1 THEN f.subject_type ELSE f.object_type END))
