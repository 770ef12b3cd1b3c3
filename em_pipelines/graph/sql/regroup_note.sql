INSERT INTO changes BY NAME
SELECT
    r.claim_id, r.edge_id, r.kind, r.user_id, r.timestamp, r.reason, r.source_mechanism, r.session_id, r.turn_number,
    r.correlation_id, l.confidence AS confidence_before,
    standing(l.status, l.valid_from, l.valid_to, l.spell, l.reinforcement_count) AS before,
    standing(r.status, l.valid_from, r.valid_to, l.spell, l.reinforcement_count) AS after,
    l.confidence AS confidence_after
FROM regrouping AS r
JOIN live AS l USING (edge_id)
