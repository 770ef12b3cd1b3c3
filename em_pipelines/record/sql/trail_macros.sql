-- How an effective confidence may be used: plainly, with hedging, with care, as background.
CREATE OR REPLACE TEMP MACRO band(confidence) AS
    CASE WHEN confidence >= 0.85 THEN 'plain' WHEN confidence >= 0.60 THEN 'hedged'
        WHEN confidence >= 0.40 THEN 'careful' ELSE 'background' END;
CREATE OR REPLACE TEMP MACRO audit_hash(event_type, source_id, occasion) AS
    'audit_' || left(sha256(concat_ws(
        chr(31), 'audit', id_part(event_type), id_part(source_id), id_part(occasion)
    )), 20);
