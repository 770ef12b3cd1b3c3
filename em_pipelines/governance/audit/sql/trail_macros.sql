CREATE OR REPLACE TEMP MACRO audit_hash(event_type, source_id, occasion) AS
    'audit_' || left(sha256(concat_ws(
        chr(31), 'audit', id_part(event_type), id_part(source_id), id_part(occasion)
    )), 20);
