-- Keys are hashes: short enough to be indexed whatever an id is, and of one user by construction.
CREATE OR REPLACE TEMP MACRO id_part(part) AS coalesce(strlen(part) || ':' || part, '-');
CREATE OR REPLACE TEMP MACRO key_of(kind, user_id, a, b) AS
    kind || '_' || left(sha256(concat_ws(chr(31), kind, id_part(user_id), id_part(a), id_part(b))), 20);
CREATE OR REPLACE TEMP MACRO entity_key(user_id, entity_id) AS key_of('entity', user_id, entity_id, NULL);
CREATE OR REPLACE TEMP MACRO value_key(user_id, kind, text) AS key_of('value', user_id, kind, text);
CREATE OR REPLACE TEMP MACRO user_key(user_id) AS key_of('user', user_id, NULL, NULL);
-- 62 bits: a positive integer of Cypher, whose sums over two billion rows are still ones if halves are summed.
CREATE OR REPLACE TEMP MACRO digest_of(content) AS
    CAST(md5_number_lower(CAST(to_json(content) AS VARCHAR)) % 4611686018427387904 AS BIGINT);
-- Text of one length, so that it sorts as the instants do; every Bolt server takes text.
CREATE OR REPLACE TEMP MACRO instant(moment) AS strftime(moment, '%Y-%m-%dT%H:%M:%S.%fZ');
