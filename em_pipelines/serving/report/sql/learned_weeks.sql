-- Of which relations most was learned, by week.
WITH learned AS (
    SELECT
        date_trunc('week', o.timestamp AT TIME ZONE 'UTC')::DATE AS week,
        e.relation,
        count(*) AS n_learned
    FROM graph_ops AS o
    INNER JOIN edges AS e USING (edge_id)
    ANTI JOIN observations AS n ON n.observation_id = o.edge_id
    WHERE o.operation = 'INSERT'
    GROUP BY ALL
)

SELECT week, relation, n_learned
FROM learned
QUALIFY row_number() OVER (PARTITION BY week ORDER BY n_learned DESC, relation) <= 8
ORDER BY week DESC, n_learned DESC, relation
