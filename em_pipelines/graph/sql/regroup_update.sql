UPDATE live SET
    status = r.status, superseded_by = r.superseded_by, unlearned_at = r.unlearned_at, valid_to = r.valid_to
FROM regrouping AS r
WHERE r.edge_id = live.edge_id
