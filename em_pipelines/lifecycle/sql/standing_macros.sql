-- How a fact stands at the end of a day, by what it was given when it was last said.
-- What one conversation alone has said, and one in which somebody else's words were pasted, is never quite sure.
CREATE OR REPLACE TEMP MACRO left_on(
    on_day, confidence, last_reinforced, temporal_type, has_pasted_source, source_mechanism, provenance
) AS least(
    faded(confidence, date_diff('day', CAST(last_reinforced AS DATE), on_day), temporal_type),
    CASE
        WHEN has_pasted_source AND source_mechanism <> 'user_correction'
            AND len(list_distinct(list_transform(provenance, lambda p: p.session_id))) = 1
            THEN CAST(getvariable('max_unsupported_confidence') AS DOUBLE)
        ELSE 1.0
    END
);
CREATE OR REPLACE TEMP MACRO expiry(temporal_type, last_reinforced, relation, value, valid_from) AS
    CASE
        WHEN temporal_type = 'wish'
            THEN CAST(last_reinforced AS DATE) + CAST(getvariable('wish_expiry_days') AS INTEGER)
        WHEN relation = 'scheduled_for'
            THEN try_cast(value AS DATE) + CAST(getvariable('event_expiry_days') AS INTEGER)
        WHEN temporal_type = 'plan' THEN valid_from + CAST(getvariable('event_expiry_days') AS INTEGER)
    END;
CREATE OR REPLACE TEMP MACRO status_on(on_day, status, expires_on, effective_confidence) AS
    CASE
        WHEN status NOT IN ('active', 'contradicted') THEN status
        WHEN expires_on <= on_day THEN 'expired'
        WHEN effective_confidence < getvariable('archive_below_confidence') THEN 'archived'
        ELSE status
    END;
