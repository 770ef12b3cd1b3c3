-- The state at the end of the day `as_of`: confidence after decay, then expiry, then archival. Rows stay in the order in
-- which they are read: each is only joined with what is few.
WITH faded_edges AS (
    SELECT
        n.* EXCLUDE (may_repeat) REPLACE (
            CASE WHEN r.kept_id IS NOT NULL THEN 'superseded' ELSE n.status END AS status,
            coalesce(r.kept_id, n.superseded_by) AS superseded_by
        ),
        left_on(
            n.as_of, n.confidence, n.last_reinforced, n.temporal_type, n.has_pasted_source, n.source_mechanism,
            n.provenance
        ) AS effective_confidence,
        expiry(n.temporal_type, n.last_reinforced, n.relation, n.value, n.valid_from, n.valid_precision) AS expires_on
    FROM named AS n
    LEFT JOIN repeated AS r USING (as_of, edge_id)
)
SELECT
    * EXCLUDE (expires_on) REPLACE (status_on(as_of, status, expires_on, effective_confidence) AS status)
FROM faded_edges
