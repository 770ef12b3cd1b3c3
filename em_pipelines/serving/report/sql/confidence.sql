-- How sure memory is of what stands, in tenths.
SELECT least(floor(effective_confidence * 10) / 10, 0.9) AS least, count(*) AS n_facts
FROM current_edges
WHERE status IN ('active', 'contradicted')
GROUP BY ALL
ORDER BY least
