-- The state at the end of the day `as_of`: ends as names are read, confidence after decay, then expiry, then archival.
-- What one conversation alone has said, and one in which somebody else's words were pasted, is never quite sure.
WITH named AS (
    SELECT
        e.* REPLACE (
            coalesce(s.canonical_id, e.subject_id) AS subject_id,
            coalesce(o.canonical_id, e.object_id) AS object_id,
            coalesce(o.canonical_id, e.object_key) AS object_key
        ),
        s.canonical_id IS NOT NULL OR o.canonical_id IS NOT NULL AS may_repeat,
        date_diff('day', CAST(e.last_reinforced AS DATE), getvariable('as_of')) AS unreferenced_days
    FROM edges_standing AS e
    LEFT JOIN clustered AS s ON s.entity_id = e.subject_id
    LEFT JOIN clustered AS o ON o.entity_id = e.object_id
    WHERE NOT is_purged(e.status, e.confidence, e.last_reinforced, e.temporal_type)
),
-- Facts on several names of one thing: few, so that only they are grouped.
repeated AS (
    SELECT
        edge_id,
        first_value(edge_id) OVER (
            PARTITION BY user_id, subject_id, relation, object_key, attribute, polarity, requires_verification
            ORDER BY confidence DESC, last_reinforced DESC, edge_id
        ) AS kept_id
    FROM named
    WHERE may_repeat AND status IN ('active', 'contradicted')
),
faded_edges AS (
    SELECT
        n.* EXCLUDE (may_repeat, unreferenced_days) REPLACE (
            CASE WHEN r.kept_id <> n.edge_id THEN 'superseded' ELSE n.status END AS status,
            CASE WHEN r.kept_id <> n.edge_id THEN r.kept_id ELSE n.superseded_by END AS superseded_by
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
