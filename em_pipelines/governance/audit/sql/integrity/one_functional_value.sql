-- One active value a subject, as it was named, and attribute. Contradicted facts may stand side by side until somebody
-- decides, and what is not verified takes nobody's place.
SELECT edge_id AS row_id
FROM facts
WHERE status = 'active' AND polarity = 1 AND NOT requires_verification
  AND relation IN (SELECT relation FROM functional_relations)
WINDOW slot AS (PARTITION BY user_id, subject_id, relation, coalesce(attribute, ''))
QUALIFY min(object_thing) OVER slot <> max(object_thing) OVER slot
