-- Facts in force yesterday, and whether the day's fold left them as they were: only then does the day itself fade them.
SELECT
    b.*,
    e.edge_id IS NULL
        OR (e.status, e.confidence, e.last_reinforced, e.valid_from, len(e.provenance))
            IS DISTINCT FROM (b.status, b.confidence, b.last_reinforced, b.valid_from, len(b.provenance)) AS is_touched
FROM state_edges AS b
LEFT JOIN edges AS e USING (edge_id)
WHERE b.status IN ('active', 'contradicted')
