-- `content_id` of schema/ids.py, for SQL: equal parts give equal ids in both.
CREATE OR REPLACE TEMP MACRO id_part(part) AS coalesce(strlen(part) || ':' || part, '-');
CREATE OR REPLACE TEMP MACRO probe_hash(user_id, kind, cause) AS
    'probe_' || left(sha256(concat_ws(chr(31), 'probe', id_part(user_id), id_part(kind), id_part(cause))), 20);
CREATE OR REPLACE TEMP MACRO message_hash(user_id, session_id, turn_number) AS
    'cor_' || left(sha256(concat_ws(
        chr(31), 'cor', id_part(user_id), id_part(session_id), id_part(CAST(turn_number AS VARCHAR))
    )), 20);
-- One of a list by the last digit of an id, always the same.
CREATE OR REPLACE TEMP MACRO chosen(list, id) AS
    list[(strpos('0123456789abcdef', right(id, 1)) - 1) % len(list) + 1];
-- Full within 7 days, falling evenly to 0.3 at 90, as in the context block.
CREATE OR REPLACE TEMP MACRO recency(spoken_at) AS
    1.0 - 0.7 * greatest(0, least(83, date_diff('day', CAST(spoken_at AS DATE), getvariable('as_of')) - 7)) / 83;
CREATE OR REPLACE TEMP MACRO loss_of(temporal_type) AS CASE temporal_type
    WHEN 'trait' THEN getvariable('rates').trait.loss_per_day
    WHEN 'state' THEN getvariable('rates').state.loss_per_day
END;
CREATE OR REPLACE TEMP MACRO half_life_of(temporal_type) AS CASE temporal_type
    WHEN 'trait' THEN getvariable('rates').trait.half_life_days
    WHEN 'state' THEN getvariable('rates').state.half_life_days
END;
-- Whole days without a mention after which a confidence is below a bound for the first time; null: never. The closed
-- form says it up to rounding, so that the days around are asked, too.
CREATE OR REPLACE TEMP MACRO about_days_until(confidence, temporal_type, bound) AS
    CASE WHEN getvariable('is_linear')
        THEN (confidence - bound) / nullif(loss_of(temporal_type), 0)
        ELSE half_life_of(temporal_type) * log2(confidence / bound)
    END;
CREATE OR REPLACE TEMP MACRO days_until_below(confidence, temporal_type, bound) AS
    list_min(list_filter(
        [
            greatest(0, CAST(floor(about_days_until(confidence, temporal_type, bound)) AS BIGINT) - 1),
            greatest(0, CAST(floor(about_days_until(confidence, temporal_type, bound)) AS BIGINT)),
            greatest(0, CAST(floor(about_days_until(confidence, temporal_type, bound)) AS BIGINT) + 1)
        ],
        lambda n: faded(confidence, n, temporal_type) < bound
    ));
