-- The day's operations, as an auditor reads them. Both sides of a revision are a REVISE.
SELECT
    op_hash(c.edge_id, c.operation, c.claim_id) AS op_id,
    i.user_id,
    CASE WHEN c.operation = 'SUPERSEDE' THEN 'REVISE' ELSE c.operation END AS operation,
    c.edge_id, c.claim_id, i.timestamp,
    CASE
        WHEN c.is_repeat THEN 'repeated in the same session'
        WHEN c.operation = 'REINFORCE' THEN 'said again in another session'
        WHEN c.operation = 'REVISE' THEN 'takes the place of what cannot hold beside it'
        WHEN c.operation = 'INSERT' AND e.spell > 1 THEN 'holds again'
        WHEN c.operation = 'INSERT' THEN 'not known before'
        WHEN e.object_key = i.object_key THEN 'the opposite was said later'
        ELSE 'another value of a functional relation was said later'
    END AS reason,
    c.before, c.after,
    CASE WHEN c.operation = 'REINFORCE' THEN c.confidence_before ELSE c.stored_confidence END AS confidence_before,
    c.confidence_after, i.source_mechanism, i.session_id, i.turn_number, i.correlation_id
FROM changes AS c
JOIN incoming AS i USING (claim_id)
JOIN live AS e USING (edge_id)
