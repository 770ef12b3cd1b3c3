-- What was said between things, by number: ends are the entities that names are read by, so no user meets another's.
CREATE OR REPLACE TEMP TABLE inference_nodes AS
SELECT
    CAST(row_number() OVER () AS INTEGER) AS node, user_id, entity_id, entity_type,
    privacy_level <> 'L4' AND NOT requires_verification AS is_open
FROM known_entities
WHERE merged_into IS NULL;

CREATE OR REPLACE TEMP TABLE inference_names AS
SELECT
    n.user_id, n.entity_id, r.node, r.entity_type,
    r.is_open AND n.privacy_level <> 'L4' AND NOT n.requires_verification AS is_open
FROM known_entities AS n
JOIN inference_nodes AS r ON r.user_id = n.user_id AND r.entity_id = coalesce(n.merged_into, n.entity_id);

CREATE OR REPLACE TEMP TABLE inference_stated AS
SELECT
    CAST(row_number() OVER (ORDER BY e.edge_id) AS INTEGER) AS edge,
    e.edge_id, e.relation, s.node AS subject, o.node AS object, s.entity_type AS subject_type,
    o.entity_type AS object_type, e.polarity, e.status, e.effective_confidence, e.learned_at, e.privacy_level,
    e.status = 'active' AND e.polarity = 1 AND e.effective_confidence >= getvariable('min_premise_confidence')
        AND NOT list_contains(e.flags, 'hypothetical') AND e.temporal_type NOT IN ('wish', 'plan')
        AND e.privacy_level <> 'L4' AND NOT e.requires_verification AND s.is_open AND o.is_open
        AND coalesce(e.valid_from, e.as_of) <= e.as_of AND (e.valid_to IS NULL OR e.valid_to > e.as_of)
        AND s.node <> o.node AS is_premise
FROM known_edges AS e
JOIN relation_traits AS t ON t.relation = e.relation AND t.is_concerned
JOIN inference_names AS s ON s.user_id = e.user_id AND s.entity_id = e.subject_id
JOIN inference_names AS o ON o.user_id = e.user_id AND o.entity_id = e.object_id;

-- What was said and stands, read both ways; what it makes cycles with and what `unless` looks at.
CREATE OR REPLACE TEMP TABLE inference_held AS
WITH said AS (
    SELECT DISTINCT relation, subject, object FROM inference_stated
    WHERE polarity = 1 AND status IN ('active', 'contradicted')
)
SELECT relation, subject, object FROM said
UNION
SELECT t.other_way, s.object, s.subject FROM said AS s JOIN relation_traits AS t USING (relation)
WHERE t.other_way IS NOT NULL;

-- Of what was said, inference has no say, whatever became of it; nor of the other reading of what does not stand.
CREATE OR REPLACE TEMP TABLE inference_spoken AS
SELECT DISTINCT relation, subject, object FROM inference_stated
UNION
SELECT t.other_way, s.object, s.subject
FROM (
    SELECT relation, subject, object FROM inference_stated
    GROUP BY ALL HAVING NOT bool_or(polarity = 1 AND status = 'active')
) AS s
JOIN relation_traits AS t USING (relation)
WHERE t.other_way IS NOT NULL;

-- Relations of one value whose value was said, and neither revised nor taken back.
CREATE OR REPLACE TEMP TABLE inference_taken AS
SELECT DISTINCT s.relation, s.subject
FROM inference_stated AS s
JOIN relation_traits AS t ON t.relation = s.relation AND t.is_functional
WHERE s.polarity = 1 AND s.status NOT IN ('superseded', 'retracted');

-- Facts by length of their chain; of names of one thing that say the same, the surest does.
CREATE OR REPLACE TEMP TABLE inference_facts AS
SELECT
    1 AS hops, 'stated' AS origin, CAST(NULL AS VARCHAR) AS rule_id, relation, subject, object,
    any_value(subject_type) AS subject_type, any_value(object_type) AS object_type,
    max(effective_confidence) AS support,
    [arg_min(edge, (-effective_confidence, edge))] AS premises
FROM inference_stated
WHERE is_premise
GROUP BY relation, subject, object;
