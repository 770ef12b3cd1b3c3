-- The id of a fact is the hash of what it says. What is not verified yet has ids of its own.
SELECT edge_id AS row_id
FROM edges
WHERE edge_id <> edge_hash(
        user_id, subject_id, relation, concat(object_key, unverified_mark(requires_verification)),
        attribute, polarity, spell
    )
   OR (object_id IS NULL) = (value IS NULL)
   OR object_key <> coalesce(object_id, lower(trim(value)))
