SELECT edge_id AS row_id FROM edges WHERE coalesce(len(provenance), 0) = 0
