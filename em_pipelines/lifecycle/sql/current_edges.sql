-- The state at the end of the day `as_of`: confidence after decay, then expiry, then archival. Rows stay in the order in
-- which they are read: each is only joined with what is few.
-- What one conversation alone has said, and one in which somebody else's words were pasted, is never quite sure.
WITH faded_edges AS (
    SELECT
        n.* EXCLUDE (may_repeat, unreferenced_days) REPLACE (
            CASE WHEN r.kept_id IS NOT NULL THEN 'superseded' ELSE n.status END AS status,
            coalesce(r.kept_id, n.superseded_by) AS superseded_by
        ),
        least(
            faded(n.confidence, n.unreferenced_days, n.temporal_type),
            CASE
                WHEN n.has_pasted_source AND n.source_mechanism <> 'user_correction'
                    AND len(list_distinct(list_transform(n.provenance, lambda p: p.session_id))) = 1
                    THEN CAST(getvariable('max_unsupported_confidence') AS DOUBLE)
                ELSE 1.0
            END
        ) AS effective_confidence,
        CASE
            WHEN n.temporal_type = 'wish'
                THEN CAST(n.last_reinforced AS DATE) + CAST(getvariable('wish_expiry_days') AS INTEGER)
            WHEN n.relation = 'scheduled_for'
                THEN try_cast(n.value AS DATE) + CAST(getvariable('event_expiry_days') AS INTEGER)
            WHEN n.temporal_type = 'plan'
                THEN n.valid_from + CAST(getvariable('event_expiry_days') AS INTEGER)
        END AS expires_on
    FROM named AS n
    LEFT JOIN repeated AS r USING (edge_id)
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
FROM faded_edges
