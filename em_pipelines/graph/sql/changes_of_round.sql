-- What the round will do, and how the edges stood before: an edge is in at most one row a round.
CREATE OR REPLACE TEMP TABLE changing AS
SELECT claim_id, edge_id, 'REINFORCE' AS operation, is_repeat, effective AS confidence_before
FROM meeting WHERE same_id IS NOT NULL
UNION ALL BY NAME
SELECT claim_id, unnest(rival_ids) AS edge_id, 'SUPERSEDE' AS operation FROM meeting WHERE same_id IS NULL
UNION ALL BY NAME
SELECT claim_id, edge_id, CASE WHEN rival_ids IS NULL THEN 'INSERT' ELSE 'REVISE' END AS operation
FROM meeting WHERE same_id IS NULL;

INSERT INTO changes BY NAME
SELECT
    c.*,
    l.confidence AS stored_confidence,
    CASE WHEN l.edge_id IS NOT NULL
        THEN standing(l.status, l.valid_from, l.valid_to, l.spell, l.reinforcement_count) END AS before
FROM changing AS c
LEFT JOIN live AS l USING (edge_id);
