-- What between two days has left its band of confidence, or is no longer in force.
SELECT
    edge_id, a.user_id, a.subject_id, a.source_mechanism, a.provenance,
    a.status AS old_status, b.status AS new_status,
    a.effective_confidence AS confidence_before, b.effective_confidence AS confidence_after
FROM earlier AS a
JOIN later AS b USING (edge_id)
WHERE a.status IN ('active', 'contradicted')
  AND (a.status <> b.status OR band(a.effective_confidence) <> band(b.effective_confidence))
