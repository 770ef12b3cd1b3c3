-- The id of an entity is the hash of its user and of a name that it goes by. What tells namesakes apart is part of the
-- id, and not of the row: those are left out.
WITH named AS (
    SELECT entity_id, user_id, unnest(list_append(alias_keys, name_key)) AS name_key
    FROM entities
    WHERE len(qualifiers) = 0 AND len(distinct_from) = 0
)
SELECT entity_id AS row_id
FROM named
GROUP BY entity_id
HAVING NOT bool_or(entity_id = 'ent_' || left(sha256(concat_ws(
    chr(31), 'ent', id_part(user_id), id_part(name_key), id_part('')
)), 20))
