-- A corrected fact and what took its place point at each other.
CREATE OR REPLACE TEMP TABLE linked AS
SELECT o.edge_id AS old_id, min(n.edge_id) AS new_id
FROM changes AS o
JOIN changes AS n ON n.claim_id = o.pair_id AND n.kind IN ('INSERT', 'REVISE', 'REINFORCE', 'CONTRADICT_NEW')
WHERE o.kind = 'REPLACE' AND n.edge_id <> o.edge_id
GROUP BY ALL;
UPDATE live SET superseded_by = k.new_id FROM linked AS k WHERE k.old_id = live.edge_id AND live.status = 'superseded';
UPDATE live SET supersedes = coalesce(live.supersedes, k.old_id)
FROM (SELECT new_id, min(old_id) AS old_id FROM linked GROUP BY ALL) AS k
WHERE k.new_id = live.edge_id;
-- Of facts of which a retraction may mean any, each points at the next older one.
UPDATE live SET contradicts = coalesce(live.contradicts, o.edge_id)
FROM changes AS n
JOIN changes AS o ON o.claim_id = n.pair_id AND o.kind = 'DOUBT'
WHERE n.kind = 'DOUBT' AND n.edge_id = live.edge_id AND o.edge_id <> n.edge_id;
