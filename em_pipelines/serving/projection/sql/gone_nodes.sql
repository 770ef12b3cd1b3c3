-- Nodes of one label of which there is nothing to tell any more.
SELECT h.key
FROM held_nodes AS h
WHERE h.label = getvariable('label') AND h.key NOT IN (SELECT key FROM wanted_nodes)
ORDER BY h.key
