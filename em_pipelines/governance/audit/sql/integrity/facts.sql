-- Facts with the users of their ends, and the things that these are: names of one thing point at one entity.
CREATE OR REPLACE TEMP VIEW facts AS
SELECT
    e.*,
    s.user_id AS subject_user, coalesce(s.merged_into, e.subject_id) AS subject_thing,
    o.user_id AS object_user, coalesce(o.merged_into, e.object_key) AS object_thing
FROM edges AS e
LEFT JOIN entities AS s ON s.entity_id = e.subject_id
LEFT JOIN entities AS o ON o.entity_id = e.object_id
