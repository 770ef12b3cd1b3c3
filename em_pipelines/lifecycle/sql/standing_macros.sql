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
-- The last day that a date can mean: of a month or a year its end.
CREATE OR REPLACE TEMP MACRO end_of(first_day, said_to) AS
    CASE said_to
        WHEN 'month' THEN last_day(first_day)
        WHEN 'year' THEN make_date(year(first_day), 12, 31)
        ELSE first_day
    END;
CREATE OR REPLACE TEMP MACRO end_of_value(value) AS
    CASE length(value)
        WHEN 7 THEN last_day(try_cast(value || '-01' AS DATE))
        WHEN 4 THEN try_cast(value || '-12-31' AS DATE)
        ELSE try_cast(value AS DATE)
    END;
-- A wish for a day that was still ahead when it was voiced goes with that day, however lately it was voiced.
CREATE OR REPLACE TEMP MACRO expiry(temporal_type, last_reinforced, relation, value, valid_from, valid_precision) AS
    CASE
        WHEN temporal_type = 'wish' THEN least(
            CAST(last_reinforced AS DATE) + CAST(getvariable('wish_expiry_days') AS INTEGER),
            CASE
                WHEN valid_from IS NOT NULL AND end_of(valid_from, valid_precision) >= CAST(last_reinforced AS DATE)
                    THEN end_of(valid_from, valid_precision) + CAST(getvariable('event_expiry_days') AS INTEGER)
            END
        )
        WHEN relation = 'scheduled_for' THEN end_of_value(value) + CAST(getvariable('event_expiry_days') AS INTEGER)
        WHEN temporal_type = 'plan'
            THEN end_of(valid_from, valid_precision) + CAST(getvariable('event_expiry_days') AS INTEGER)
    END;
CREATE OR REPLACE TEMP MACRO status_on(on_day, status, expires_on, effective_confidence) AS
    CASE
        WHEN status NOT IN ('active', 'contradicted') THEN status
        WHEN expires_on <= on_day THEN 'expired'
        WHEN effective_confidence < getvariable('archive_below_confidence') THEN 'archived'
        ELSE status
    END;
