-- REVISE, the older side: rivals end on the day on which the new fact begins.
UPDATE live SET
    status = 'superseded',
    valid_to = coalesce(i.valid_from, CAST(i.timestamp AS DATE)),
    unlearned_at = i.timestamp,
    superseded_by = m.edge_id
FROM (SELECT claim_id, edge_id, unnest(rival_ids) AS rival_id FROM meeting WHERE same_id IS NULL) AS m
JOIN incoming AS i USING (claim_id)
WHERE m.rival_id = live.edge_id;
