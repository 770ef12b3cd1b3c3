-- `content_id` of ids.py, for SQL: equal parts give equal ids in both.
CREATE OR REPLACE TEMP MACRO id_part(part) AS coalesce(strlen(part) || ':' || part, '-');
CREATE OR REPLACE TEMP MACRO edge_hash(user_id, subject_id, relation, object_key, attribute, polarity, spell) AS
    'edge_' || left(sha256(concat_ws(
        chr(31), 'edge', id_part(user_id), id_part(subject_id), id_part(relation), id_part(object_key),
        id_part(attribute), id_part(CAST(polarity AS VARCHAR)), id_part(CAST(spell AS VARCHAR))
    )), 20);
CREATE OR REPLACE TEMP MACRO unverified_mark(requires_verification) AS
    CASE WHEN requires_verification THEN ' (unverified)' ELSE '' END;
CREATE OR REPLACE TEMP MACRO op_hash(edge_id, operation, claim_id) AS
    'op_' || left(sha256(concat_ws(chr(31), 'op', id_part(edge_id), id_part(operation), id_part(claim_id))), 20);
-- What an operation changes of an edge, as an auditor reads it.
CREATE OR REPLACE TEMP MACRO standing(status, valid_from, valid_to, spell, reinforcement_count) AS
    CAST(to_json({
        'status': status, 'valid_from': valid_from, 'valid_to': valid_to, 'spell': spell,
        'reinforcement_count': reinforcement_count
    }) AS VARCHAR);
