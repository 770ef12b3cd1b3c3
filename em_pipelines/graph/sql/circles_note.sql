-- The claim that touched the edge last is the one that closed the circle; names that were joined may have, too.
INSERT INTO changes BY NAME
WITH last_change AS (
    SELECT * FROM changes SEMI JOIN closing USING (edge_id)
    QUALIFY row_number() OVER (PARTITION BY edge_id ORDER BY timestamp DESC, claim_id DESC) = 1
)
SELECT
    coalesce(c.claim_id, l.edge_id) AS claim_id, l.edge_id, 'CIRCLE' AS kind, l.user_id,
    coalesce(c.timestamp, l.last_reinforced) AS timestamp, 'would make a thing part of, or above, itself' AS reason,
    l.source_mechanism, coalesce(c.session_id, l.provenance[-1].session_id) AS session_id,
    coalesce(c.turn_number, l.provenance[-1].turn_number) AS turn_number,
    coalesce(c.correlation_id, l.edge_id) AS correlation_id, l.confidence AS confidence_before,
    standing(l.status, l.valid_from, l.valid_to, l.spell, l.reinforcement_count) AS before,
    standing('contradicted', l.valid_from, l.valid_to, l.spell, l.reinforcement_count) AS after,
    l.confidence AS confidence_after
FROM live AS l
SEMI JOIN closing USING (edge_id)
LEFT JOIN last_change AS c USING (edge_id)
