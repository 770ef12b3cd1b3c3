-- The state at the end of the day: what was touched as it now stands, everything else as it stood.
SELECT e.* FROM edges AS e ANTI JOIN live AS l USING (edge_id)
UNION ALL BY NAME
SELECT * EXCLUDE (slot) FROM live
