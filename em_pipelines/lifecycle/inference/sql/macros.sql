-- `content_id` of ids.py, for SQL: equal parts give equal ids in both.
CREATE OR REPLACE TEMP MACRO inferred_part(part) AS strlen(part) || ':' || part;
CREATE OR REPLACE TEMP MACRO inferred_hash(user_id, subject_id, relation, object_id) AS
    'inferred_' || left(sha256(concat_ws(
        chr(31), 'inferred', inferred_part(user_id), inferred_part(subject_id), inferred_part(relation),
        inferred_part(object_id)
    )), 20);
