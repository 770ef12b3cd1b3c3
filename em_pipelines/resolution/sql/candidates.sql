-- The entities that carry one of today's names as their own or as an alias. Two joins rather than an OR, which could
-- not be hashed.
WITH aliased AS (
    SELECT r.entity_id, r.user_id, unnest(r.alias_keys) AS name_key FROM registry AS r WHERE len(r.alias_keys) > 0
),
found AS (
    SELECT r.entity_id FROM registry AS r SEMI JOIN wanted AS w USING (user_id, name_key)
    UNION
    SELECT a.entity_id FROM aliased AS a SEMI JOIN wanted AS w USING (user_id, name_key)
)
SELECT r.* FROM registry AS r SEMI JOIN found AS f USING (entity_id) ORDER BY r.entity_id
