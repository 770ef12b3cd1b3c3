SELECT edge_id AS row_id FROM edges WHERE NOT coalesce(confidence BETWEEN 0 AND 1, false)
