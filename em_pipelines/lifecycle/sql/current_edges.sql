-- The state at the end of the day `as_of`: confidence after decay, then expiry, then archival.
-- What one conversation alone has said, and one in which somebody else's words were pasted, is never quite sure.
WITH decayed_edges AS (
    SELECT
        e.*,
        least(
            decayed(
                e.confidence,
                date_diff('day', CAST(e.last_reinforced AS DATE), getvariable('as_of')),
                r.loss_per_day,
                r.half_life_days
            ),
            CASE
                WHEN e.has_pasted_source AND e.source_mechanism <> 'user_correction'
                    AND len(list_distinct(list_transform(e.provenance, lambda p: p.session_id))) = 1
                    THEN CAST(getvariable('max_unsupported_confidence') AS DOUBLE)
                ELSE 1.0
            END
        ) AS effective_confidence,
        CASE
            WHEN e.temporal_type = 'wish'
                THEN CAST(e.last_reinforced AS DATE) + CAST(getvariable('wish_expiry_days') AS INTEGER)
            WHEN e.relation = 'scheduled_for'
                THEN try_cast(e.value AS DATE) + CAST(getvariable('event_expiry_days') AS INTEGER)
            WHEN e.temporal_type = 'plan'
                THEN e.valid_from + CAST(getvariable('event_expiry_days') AS INTEGER)
        END AS expires_on
    FROM edges AS e
    JOIN decay_rates AS r ON r.temporal_type = e.temporal_type
)
SELECT
    * EXCLUDE (expires_on) REPLACE (
        CASE
            WHEN status NOT IN ('active', 'contradicted') THEN status
            WHEN expires_on <= getvariable('as_of') THEN 'expired'
            WHEN effective_confidence < getvariable('archive_below_confidence') THEN 'archived'
            ELSE status
        END AS status
    ),
    getvariable('as_of') AS as_of
FROM decayed_edges
