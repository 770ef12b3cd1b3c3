-- What was learned, said again, changed and taken back, by day, in the last ninety.
SELECT
    CAST(timestamp AS DATE) AS day,
    count(*) FILTER (WHERE operation = 'INSERT') AS n_learned,
    count(*) FILTER (WHERE operation IN ('REINFORCE', 'CONFIRM')) AS n_reinforced,
    count(*) FILTER (WHERE operation = 'REVISE') AS n_changed,
    count(*) FILTER (WHERE operation IN ('RETRACT', 'DELETE')) AS n_taken_back,
    count(*) FILTER (WHERE source_mechanism = 'user_correction') AS n_by_people
FROM graph_ops AS o
ANTI JOIN observations AS n ON n.observation_id = o.edge_id
GROUP BY ALL
ORDER BY day DESC
LIMIT 90
