-- Relationships that have to go: of no fact, between other things than their fact, or there more than once.
CREATE OR REPLACE TEMP TABLE stale_edges AS
SELECT
    h.relation,
    h.target,
    h.source_key,
    h.target_key,
    h.edge_id
FROM held_edges AS h
LEFT JOIN wanted_edges AS w USING (relation, target, source_key, target_key, edge_id)
GROUP BY ALL
HAVING count(*) > 1 OR count(w.edge_id) = 0
