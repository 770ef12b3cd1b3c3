-- What most of the facts that stand say.
SELECT relation, count(*) AS n_facts
FROM current_edges
WHERE status IN ('active', 'contradicted')
GROUP BY ALL
ORDER BY n_facts DESC, relation
LIMIT 12
