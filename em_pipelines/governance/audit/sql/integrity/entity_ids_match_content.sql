-- The id of an entity is the hash of its user, its name and what tells it from namesakes.
SELECT entity_id AS row_id
FROM entities
WHERE entity_id <> 'ent_' || left(sha256(concat_ws(
    chr(31), 'ent', id_part(user_id), id_part(name_key), id_part(discriminator)
)), 20)
